package capsule

import (
	"strings"

	"hubcli/hub"
)

// The shortest lines, in bytes. They bound what a manifest can claim about numbers.
const (
	minWorkLine = 100 // of a message or task
	minLine     = 10
)

// maxRedactionNames bounds the rules and kinds that a manifest counts.
const maxRedactionNames = 1_000

// checkManifest compares the manifest with the directory and with itself.
func (c *Reader) checkManifest() error {
	m := &c.manifest
	for _, check := range []func(*Manifest) error{m.checkHead, c.listEntries, c.checkSections, c.checkCounts} {
		if err := check(m); err != nil {
			return err
		}
	}
	if got := Digest(m.Entries); got != m.ContentDigest {
		return invalid(nameManifest, "content_digest is not that of the entries")
	}
	return nil
}

func (m *Manifest) checkHead(*Manifest) error {
	bad := func(member string) error {
		return invalid(nameManifest, "the member %s has a value that is not allowed", member)
	}
	switch {
	case m.Scope != ScopeKnowledge && m.Scope != ScopeComplete && m.Scope != ScopeSelectedRooms:
		return bad("scope")
	case m.Privacy != ShareSafe && m.Privacy != FullHistory:
		return bad("privacy")
	case len(m.CapsuleID) != 32 || strings.Trim(m.CapsuleID, "0123456789abcdef") != "":
		return bad("capsule_id")
	case hub.CheckName("", m.ProductVersion, hub.MaxNameChars) != nil:
		return bad("product_version")
	}
	for _, counted := range []map[string]int{m.Redaction.Replaced, m.Redaction.LeftOut} {
		if len(counted) > maxRedactionNames {
			return bad("redaction")
		}
		for name, n := range counted {
			if n < 0 || hub.CheckName("", name, hub.MaxNameChars) != nil {
				return bad("redaction")
			}
		}
	}
	return nil
}

// listEntries compares the entries that the manifest lists with those of the archive.
func (c *Reader) listEntries(m *Manifest) error {
	for i := range m.Entries {
		e := &m.Entries[i]
		f := c.files[e.Path]
		switch {
		case i > 0 && m.Entries[i-1].Path >= e.Path:
			return invalid(nameManifest, "the entries are not sorted by path, or one stands twice")
		case e.Path == nameMimetype || e.Path == nameManifest:
			return invalid(nameManifest, "it lists %s, which no manifest does", e.Path)
		case f == nil:
			return invalid(e.Path, "the manifest lists the entry, and the archive does not have it")
		case e.Bytes != f.size:
			return invalid(e.Path, "the manifest and the archive give it different sizes")
		case !isHash(e.SHA256):
			return invalid(e.Path, "the manifest has no SHA-256 of it")
		case !lines(e.Path) && e.Rows != 0, e.Rows < 0, e.Rows > e.Bytes/minLine:
			return invalid(e.Path, "the manifest gives it a number of lines that it cannot have")
		}
		c.entries[e.Path] = e
	}
	for name := range c.files {
		if name != nameMimetype && name != nameManifest && c.entries[name] == nil {
			return invalid(name, "the archive has the entry, and the manifest does not list it")
		}
	}
	return nil
}

// checkSections refuses a capsule that lacks an entry, or has one that its scope and its
// rooms do not have.
func (c *Reader) checkSections(m *Manifest) error {
	wanted := append([]string{nameReadme, nameProject}, sections...)
	if m.Counts.Rooms < 0 || m.Counts.Rooms > hub.MaxProjectRooms {
		return invalid(nameManifest, "the number of rooms is not from 0 to %d", hub.MaxProjectRooms)
	}
	if m.Scope != ScopeKnowledge {
		for n := int64(1); n <= m.Counts.Rooms; n++ {
			wanted = append(wanted, MessagesPath(refOf('r', n)))
		}
	}
	known := map[string]bool{}
	for _, path := range wanted {
		known[path] = true
		if c.entries[path] == nil {
			return invalid(path, "the entry is missing")
		}
	}
	for path, e := range c.entries {
		sha, blob := blobOf(path)
		switch {
		case blob && sha != e.SHA256:
			return invalid(path, "its name is not the SHA-256 that the manifest gives")
		case blob && e.Bytes > hub.MaxArtifactBytes:
			return tooLarge("an artifact of the capsule is too large", hub.MaxArtifactBytes, e.Bytes).With("entry", path)
		case !blob && !known[path]:
			return invalid(path, "a capsule of this scope and these rooms has no such entry")
		case !blob && !lines(path) && e.Bytes > maxSmall:
			return tooLarge("an entry of the capsule is too large", maxSmall, e.Bytes).With("entry", path)
		}
	}
	return nil
}

// checkCounts compares the counts with the entries.
func (c *Reader) checkCounts(m *Manifest) error {
	n, have := m.Counts, Counts{Direct: m.Counts.Direct}
	for path, rows := range map[string]*int64{
		nameRooms: &have.Rooms, nameAgents: &have.Agents, nameDecisions: &have.Decisions, nameArtifacts: &have.Artifacts,
		nameMemories: &have.Memories, nameRuns: &have.Runs, nameTasks: &have.Tasks,
	} {
		if *rows = c.entries[path].Rows; *rows > c.limits.Things && path != nameTasks {
			return tooLarge("an entry of the capsule has too many lines", c.limits.Things, *rows).With("entry", path)
		}
	}
	work := c.entries[nameTasks].Bytes
	for path, e := range c.entries {
		if _, ok := messagesOf(path); ok {
			have.Messages += e.Rows
			work += e.Bytes
		}
		if _, ok := blobOf(path); ok {
			have.Blobs++
			have.BlobBytes += e.Bytes
		}
	}
	switch total := have.Messages + have.Tasks; {
	case n != have:
		return invalid(nameManifest, "the counts are not those of the entries")
	case total > work/minWorkLine:
		return invalid(nameManifest, "the entries are too short for so many messages and tasks")
	case total > c.limits.Messages:
		return tooLarge("the capsule has too many messages", c.limits.Messages, total)
	case n.Direct < 0 || n.Direct > n.Messages || n.Direct > 0 && m.Privacy == ShareSafe:
		return invalid(nameManifest, "the number of direct messages does not fit the others, or the privacy")
	}
	return nil
}
