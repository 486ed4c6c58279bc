package relay

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// DefaultDir is where a spool lies unless it is named, relative to the folder in
// which the program was started (SPEC section 4.2).
const DefaultDir = ".hub-relay"

// The folders of a spool. Below each lies one folder per agent (Folder), and in
// it one file per request.
const (
	RequestsDir  = "requests"
	ResponsesDir = "responses"
	RejectedDir  = "rejected"
)

// Endings and beginnings of the names of files. A file that has neither ending is
// still being written.
const (
	DoneSuffix = ".json" // whole: a request to take, an answer to read
	WorkSuffix = ".work" // a request that a forwarder has taken
	TempPrefix = ".tmp-" // being written
)

// MaxRequestBytes is the size of the largest request file that is read: 32
// attachments of 256,000 characters fit, unless most of them are escaped.
const MaxRequestBytes = 32 << 20

// Statuses of answers that no hub gave.
const (
	StatusSpoolFailed    = 597 // the request could not be written to the spool
	StatusNoAnswer       = 598 // the wait ran out: nobody forwards, or the hub is slow
	StatusHubUnreachable = 599 // the forwarder could not reach the hub
)

// RequestID names a request in its agent's folder and is the idempotency key of
// the call: 1 to 128 of A-Z a-z 0-9 . _ -, the first a letter or digit.
type RequestID string

const maxRequestID = 128

// Valid reports whether id has the form.
func (id RequestID) Valid() bool {
	if id == "" || len(id) > maxRequestID || !isAlphanumeric(id[0]) {
		return false
	}
	for i := range len(id) {
		if !IsPlain(id[i]) {
			return false
		}
	}
	return true
}

// NewRequestID returns an id that no other has; later ids sort behind earlier
// ones of the same machine.
func NewRequestID() RequestID {
	var random [10]byte
	_, _ = rand.Read(random[:])                                               // never fails: it ends the program instead
	return RequestID(fmt.Sprintf("%012x-%x", time.Now().UnixMilli(), random)) // 12 digits last until the year 10889
}

// Request is the content of a request file (CONTRACT section 5).
type Request struct {
	RequestID RequestID       `json:"request_id"`
	AgentID   hub.AgentID     `json:"agent_id"`
	Method    string          `json:"method"`
	Path      string          `json:"path"`       // from /v1, with its query
	Body      json.RawMessage `json:"body"`       // an object, or null
	CreatedAt hub.Time        `json:"created_at"` // says when, decides nothing
}

// MakeSpool makes the folders of a spool, for their owner alone, where they are
// missing.
func MakeSpool(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{RequestsDir, ResponsesDir} {
		err := os.Mkdir(filepath.Join(dir, name), 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// Folder is the name of an agent's folders: its id with every run of characters
// outside A-Z a-z 0-9 . _ - as one _. Agents may share a folder so; request ids
// keep their files apart.
func Folder(agent hub.AgentID) string {
	var b strings.Builder
	gap := false
	for i := range len(agent) {
		if IsPlain(agent[i]) {
			b.WriteByte(agent[i])
			gap = false
			continue
		}
		if !gap {
			b.WriteByte('_')
		}
		gap = true
	}
	return b.String()
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// IsPlain reports whether c may stand in the names of a spool as it is.
func IsPlain(c byte) bool { return isAlphanumeric(c) || c == '.' || c == '_' || c == '-' }

// WriteWhole makes the file dir/name with this content: a reader that sees the
// name sees the whole content, also after a power cut. An existing file is
// replaced, a link is replaced and not followed. dir must exist below root.
func WriteWhole(root *os.Root, dir, name string, data []byte) error {
	folder, err := root.Stat(dir)
	if err != nil {
		return err
	}
	return osfile.Replace(osfile.In{Root: root}, path.Join(dir, name),
		osfile.Content{Write: osfile.Bytes(data), Prefix: TempPrefix, Mode: fileMode(folder.Mode())})
}

// fileMode is the access to a file in a folder: its owner's alone, unless the
// folder was opened to the group or to others. Then they get the file as well, as
// far as the umask lets them.
func fileMode(folder fs.FileMode) fs.FileMode { return 0o600 | folder.Perm()&0o066 }

// IgnoreMissing returns err, or nil where it says that a file is not there.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
