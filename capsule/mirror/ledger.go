package mirror

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"

	"hubcli/hub"
)

// The folder of a mirror in a work tree, and the name of its ledger there.
const (
	Folder     = ".hub/mirror"
	LedgerName = ".mirror.json"
)

// MaxLedger is the size of the largest ledger that is read, in bytes.
const MaxLedger = 64 << 20

const (
	tool   = "hubcli"
	schema = 1
)

// A Ledger lists the files of a mirror by their paths, with slashes, from its folder. Hashes
// are SHA-256 in lower case hexadecimal digits.
type Ledger struct {
	Tool   string            `json:"tool"`
	Schema int               `json:"schema"`
	Files  map[string]string `json:"files"`
	// Pending has the hashes that a run is about to write. After a crash a file has either
	// its hash of Files or that of Pending, and is the mirror's own in both cases.
	Pending map[string]string `json:"pending,omitempty"`
}

// NewLedger returns the ledger of a folder without a mirror.
func NewLedger() Ledger { return Ledger{Tool: tool, Schema: schema, Files: map[string]string{}} }

// ParseLedger reads a ledger. A ledger is as trustworthy as the work tree: paths that no
// mirror has are refused. Errors: invalid.
func ParseLedger(data []byte) (Ledger, error) {
	l := Ledger{}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&l); err != nil || d.More() {
		return l, badLedger("it is not JSON that a mirror has written")
	}
	switch {
	case l.Tool != tool:
		return l, badLedger("another tool has written it")
	case l.Schema != schema:
		return l, badLedger("another version of hubcli has written it")
	}
	for _, paths := range []map[string]string{l.Files, l.Pending} {
		for path, sha := range paths {
			if !validPath(path) || len(sha) != 64 || strings.Trim(sha, "0123456789abcdef") != "" {
				return l, badLedger("it names a file that no mirror has")
			}
		}
	}
	if l.Files == nil {
		l.Files = map[string]string{}
	}
	return l, nil
}

func badLedger(why string) error {
	return hub.Invalid("mirror", "the ledger "+Folder+"/"+LedgerName+" cannot be used: "+why).
		WithFix("move " + Folder + " away, or get its ledger back, and export again")
}

func validPath(path string) bool {
	return fs.ValidPath(path) && path != "." && path != LedgerName && !strings.ContainsAny(path, "\\:")
}

// JSON returns the text of the ledger's file: indented, with sorted paths.
func (l *Ledger) JSON() []byte {
	text, _ := json.MarshalIndent(l, "", "  ") // maps of strings always have a JSON form
	return append(text, '\n')
}

// own reports whether a file with this hash is what the mirror has written there.
func (l *Ledger) own(path, sha string) bool {
	return sha != "" && (l.Files[path] == sha || l.Pending[path] == sha)
}
