package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hubcli/internal/lazy"
	"hubcli/internal/osfile"
)

// wouldAsk reports whether Copilot CLI would ask its user about a tool, as far as anybody outside
// of it can tell. It asks its hooks before its own rules, so without this each of its tools would
// wait for the operator. A mistake costs little: where this says no, Copilot CLI goes by its own
// rules, and asks its user if they say so.
func (r *run) wouldAsk() bool {
	if r.ofHub() || r.allowsAll() {
		return false
	}
	input, _ := members(r.payload.Input)
	command, isCommand := commandOf(input)
	if isCommand && readsOnly(command) {
		return false
	}
	for _, a := range r.approvals() {
		switch {
		case a.all, a.Kind == "write" && r.payload.Tool == "edit":
			return false
		case a.Kind == "commands" && isCommand && slices.Contains(a.Commands, firstWord(command)):
			return false
		}
	}
	return true
}

// allowsAll reports whether the session was begun so that some tools run without a question. Of
// a program whose command line cannot be read, nobody knows, and it counts as one.
func (r *run) allowsAll() bool {
	if v := strings.ToLower(strings.TrimSpace(r.Getenv("COPILOT_ALLOW_ALL"))); v != "" && !slices.Contains([]string{"false", "0", "no", "off", "n"}, v) {
		return true
	}
	if r.Arguments == nil {
		return true
	}
	above := r.notes.Harness(r.PID)
	if len(above) == 0 {
		return true
	}
	args, ok := r.Arguments(above[len(above)-1].PID)
	return !ok || slices.ContainsFunc(args, func(a string) bool { return a == "--yolo" || strings.HasPrefix(a, "--allow-") })
}

// readers are commands that read. Copilot CLI runs them without a question.
var readers = []string{"cat", "cut", "date", "df", "du", "echo", "file", "grep", "head", "ls", "nl", "pwd", "stat", "tail", "tree", "uname", "wc", "which", "whoami"}

var plainCommand = lazy.Regexp{Pattern: `^[A-Za-z0-9 ._/@:,=+-]+$`}

func readsOnly(command string) bool {
	return plainCommand.MatchString(command) && slices.Contains(readers, firstWord(command))
}

func firstWord(command string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return word
}

// approval is something that the user of Copilot CLI has allowed for longer than once.
type approval struct {
	Kind     string   `json:"kind"` // write, commands, and others
	Commands []string `json:"commandIdentifiers"`
	all      bool     // everything
}

// maxEvents bounds what is read of the events of a session, in bytes, from their end.
const maxEvents = 16 << 20

// approvals lists what the user has allowed in this session, by the file of its events, and for
// the folder in which it works.
func (r *run) approvals() (list []approval) {
	home := r.Getenv("COPILOT_HOME")
	if home == "" {
		home = filepath.Join(r.Getenv("HOME"), ".copilot")
	}
	if !filepath.IsAbs(home) || !filepath.IsLocal(r.payload.SessionID) {
		return nil
	}
	var kept struct {
		Locations map[string]struct {
			Approvals []approval `json:"tool_approvals"`
		} `json:"locations"`
	}
	if b, err := osfile.ReadSmall(filepath.Join(home, "permissions-config.json"), maxEvents); err == nil && json.Unmarshal(b, &kept) == nil {
		for folder, at := range kept.Locations {
			if rel, err := filepath.Rel(folder, r.folder()); err == nil && filepath.IsLocal(rel) {
				list = append(list, at.Approvals...)
			}
		}
	}
	f, err := os.Open(filepath.Join(home, "session-state", r.payload.SessionID, "events.jsonl"))
	if err != nil {
		return list
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxEvents {
		_, _ = f.Seek(-maxEvents, io.SeekEnd) // else it is read from the beginning
	}
	return append(list, approvalsIn(f)...)
}

// approvalsIn reads the events of a session.
func approvalsIn(events io.Reader) (list []approval) {
	all := false
	lines := bufio.NewReaderSize(io.LimitReader(events, maxEvents), 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if bytes.Contains(line, []byte(`"session.permissions_changed"`)) || bytes.Contains(line, []byte(`"approved-for-`)) {
			var e struct {
				Type string `json:"type"`
				Data struct {
					All    bool   `json:"allowAllPermissions"`
					Mode   string `json:"mode"`
					Result struct {
						Kind     string   `json:"kind"`
						Approval approval `json:"approval"`
					} `json:"result"`
				} `json:"data"`
			}
			switch {
			case json.Unmarshal(line, &e) != nil:
			case e.Type == "session.permissions_changed":
				all = e.Data.All || e.Data.Mode != "" && e.Data.Mode != "manual"
			case e.Type == "permission.completed" && strings.HasPrefix(e.Data.Result.Kind, "approved-for-"):
				list = append(list, e.Data.Result.Approval)
			}
		}
		if err != nil {
			break
		}
	}
	return append(list, approval{all: all})
}
