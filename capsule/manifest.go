package capsule

import "hubcli/hub"

// The format of this version. A reader refuses another major; a higher minor only adds members.
const (
	Format   = "hubpack"
	Mimetype = "application/vnd.hub.capsule+zip"
	Major    = 1
	Minor    = 0
)

// A Scope says which parts of the project a capsule holds.
type Scope = hub.CapsuleScope

// The scopes of SPEC 4.2. Knowledge has no messages; selected rooms is complete for the
// rooms that were named.
const (
	ScopeKnowledge     = hub.CapsuleKnowledge
	ScopeComplete      = hub.CapsuleComplete
	ScopeSelectedRooms = hub.CapsuleSelectedRooms
)

// A Privacy says how texts were treated.
type Privacy = hub.CapsulePrivacy

// The levels of privacy of SPEC 4.2. ShareSafe texts are redacted, and direct messages and
// binary artifacts are left out.
const (
	ShareSafe   = hub.CapsuleShareSafe
	FullHistory = hub.CapsuleFullHistory
)

// Manifest is manifest.json.
type Manifest struct {
	Format         string        `json:"format"`
	Schema         Schema        `json:"schema"`
	ProductVersion string        `json:"product_version"`
	CreatedAt      hub.Time      `json:"created_at"`
	CapsuleID      string        `json:"capsule_id"` // random, 32 lower case hexadecimal digits
	Scope          Scope         `json:"scope"`
	Privacy        Privacy       `json:"privacy"`
	Project        ManifestNames `json:"project"`
	Counts         Counts        `json:"counts"`
	Redaction      Redaction     `json:"redaction"`
	Entries        []Entry       `json:"entries"`        // all but mimetype and manifest.json, sorted by path
	ContentDigest  string        `json:"content_digest"` // sha256: and hexadecimal; see Digest
}

// Schema is the version of the format.
type Schema struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
}

// ManifestNames are the names of the project.
type ManifestNames struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// Counts says how many lines of each kind there are.
type Counts struct {
	Rooms     int64 `json:"rooms"`
	Agents    int64 `json:"agents"`
	Decisions int64 `json:"decisions"`
	Artifacts int64 `json:"artifacts"`
	Memories  int64 `json:"memories"`
	Runs      int64 `json:"runs"`
	Tasks     int64 `json:"tasks"`
	Messages  int64 `json:"messages"`
	Direct    int64 `json:"direct"` // messages of these that are direct
	Blobs     int64 `json:"blobs"`
	BlobBytes int64 `json:"blob_bytes"`
}

// Redaction says what share_safe changed. It holds no replaced value.
type Redaction struct {
	Replaced map[string]int `json:"replaced"` // rule: places
	LeftOut  map[string]int `json:"left_out"` // kind: things, such as direct_messages, binary_artifacts, tasks
}

// Entry is one file of the archive.
type Entry struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows,omitempty"` // lines of an .ndjson
}
