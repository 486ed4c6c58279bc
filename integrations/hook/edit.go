package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
	"hubcli/internal/peertext"
)

// mostHeld bounds the files that one answer names.
const mostHeld = 5

// held is a file on which another agent holds the lock.
type held struct {
	path string
	lock hub.Lock
}

// beforeEdit answers the event that a tool is about to change files. If another
// agent holds the lock on one of them, it says so. Where the room wants it, the
// harness is told not to run the tool.
func (r *run) beforeEdit(ctx context.Context) (string, error) {
	if len(r.payload.Files) == 0 {
		return "", quiet("the payload names no file")
	}
	if !r.form().Warn.Heard() && !r.form().Refuse.Heard() {
		return "", quiet("this harness reads no answer to this event")
	}
	id, saved, err := r.known()
	if err != nil {
		return "", err
	}
	room, err := r.room(ctx, id, saved)
	if err != nil {
		return "", err
	}
	id = r.apart(id)
	r.refuses = r.form().Refuse.Heard() && r.wants(ctx, room) == hub.LocksRefuse
	look := r.heldByOthers
	if r.refuses {
		look = r.reserve
	}
	found, err := look(ctx, id)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", quiet("no other agent holds a lock on it")
	case r.refuses:
		return editText(found, refused, r.Now()), nil
	case !r.form().Warn.Heard():
		return "", quiet("this harness shows no warning before a tool")
	}
	return editText(found, allowed, r.Now()), nil
}

// reserved is how long, in seconds, a hook locks a file for one edit. After the edit it
// releases the lock, if the harness says which files the tool has changed.
const reserved = 15

// forEdit marks the locks that hooks take.
var forEdit = json.RawMessage(`{"for":"edit"}`)

// reserve locks the files for the agent, so that no other agent edits them between this
// answer and the edit. What the agent has locked itself stays as it is. If another agent
// holds one of the files, reserve returns these, and nothing is locked.
func (r *run) reserve(ctx context.Context, id hub.AgentID) (found []held, err error) {
	var taken []hub.Lock
	for _, given := range r.payload.Files {
		path := r.absolute(given)
		if path == "" {
			continue
		}
		rows, err := r.covering(ctx, path)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 && !slices.ContainsFunc(rows, func(l hub.Lock) bool { return l.AgentID != id }) {
			continue
		}
		got, err := r.hub.Lock(ctx, hub.LockInput{FilePath: path, AgentID: id, TTLSec: reserved, Metadata: forEdit})
		switch {
		case err != nil:
			return nil, err
		case got.Acquired:
			taken = append(taken, got.Row)
		default:
			found = append(found, held{given, got.Row})
		}
	}
	if len(found) > 0 {
		r.release(ctx, taken)
	}
	return found, nil
}

// release releases locks that a hook has taken. If that fails, their time ends them.
func (r *run) release(ctx context.Context, locks []hub.Lock) {
	for _, l := range locks {
		_, _ = r.hub.ReleaseLock(ctx, hub.LockHoldInput{FilePath: l.FilePath, AgentID: l.AgentID, Fence: l.Fence})
	}
}

// afterEdit releases the locks that a hook took for an edit. It returns the warning
// about files that a tool has changed, for a harness that shows none before the tool.
func (r *run) afterEdit(ctx context.Context, id hub.AgentID) string {
	if r.event != Tool || len(r.payload.Files) == 0 || !r.form().Refuse.Heard() {
		return ""
	}
	rows, err := r.locksOn(ctx)
	if err != nil {
		return ""
	}
	var found []held
	for _, h := range rows {
		switch {
		case h.lock.AgentID != id:
			found = append(found, h)
		case sameJSON(h.lock.Metadata, forEdit) && h.lock.FilePath == r.absolute(h.path):
			r.release(ctx, []hub.Lock{h.lock})
		}
	}
	if len(found) == 0 || r.form().Warn.Heard() {
		return ""
	}
	return editText(found, changed, r.Now())
}

// sameJSON reports whether two values in JSON are the same but for white space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// edit says what becomes of an edit.
type edit uint8

const (
	allowed edit = iota
	refused
	changed // it is made already
	committed
	uncommitted // the commit is refused
)

// wants returns what the room wants of locks. A saved session has no more than the
// room's id.
func (r *run) wants(ctx context.Context, room *hub.Room) hub.LockPolicy {
	if room != nil && room.Locks != "" {
		return room.Locks
	}
	if got, err := r.resolve(ctx); err == nil && got.Room != nil {
		return got.Room.Locks
	}
	return hub.LocksWarn
}

// heldByOthers returns the files that another agent has locked.
func (r *run) heldByOthers(ctx context.Context, id hub.AgentID) ([]held, error) {
	found, err := r.locksOn(ctx)
	return slices.DeleteFunc(found, func(h held) bool { return h.lock.AgentID == id }), err
}

// locksOn returns the files that any agent has locked.
func (r *run) locksOn(ctx context.Context) ([]held, error) {
	var found []held
	for _, given := range r.payload.Files {
		path := r.absolute(given)
		if path == "" {
			continue
		}
		rows, err := r.covering(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, l := range rows {
			found = append(found, held{given, l})
		}
	}
	return found, nil
}

// mostCovering is how many locks that cover one file are looked at.
const mostCovering = 20

// covering returns the locks that cover a file: its own, and those of folders and patterns.
func (r *run) covering(ctx context.Context, path string) ([]hub.Lock, error) {
	rows, _, err := r.hub.Locks(ctx, hub.LeasesQuery{Covering: path, ActiveOnly: true, Limit: mostCovering})
	return slices.DeleteFunc(rows, func(l hub.Lock) bool { return !hub.LockCovers(l.FilePath, path) }), err
}

// absolute returns the name under which a bridge locks a file; empty if it has none.
func (r *run) absolute(path string) string {
	dir := r.Dir
	if len(r.payload.Folders) > 0 {
		dir = r.payload.Folders[0]
	}
	path, err := osfile.LockPath(path, dir)
	if err != nil || hub.CheckName("file_path", path, hub.MaxFilePathChars) != nil {
		return ""
	}
	return path
}

// editText says who holds the lock on files that a tool changes, and what to do.
func editText(found []held, e edit, now time.Time) string {
	lines := make([]string, 0, mostHeld+1)
	for _, h := range found[:min(len(found), mostHeld)] {
		left := max(time.Duration(int64(h.lock.ExpiresAt)-now.UnixMilli())*time.Millisecond, time.Second)
		on := peertext.Excerpt(h.path, 200)
		if filepath.Base(h.lock.FilePath) != filepath.Base(h.path) { // of a folder or a pattern
			on = peertext.Excerpt(h.lock.FilePath, 200) + ", which covers " + on + ","
		}
		lines = append(lines, fmt.Sprintf("%s holds the lock on %s for at most %s more.", h.lock.AgentID, on, left.Round(time.Second)))
	}
	if more := len(found) - mostHeld; more > 0 {
		lines = append(lines, fmt.Sprintf("Of %d more files too.", more))
	}
	const way = " Wait for the lock with hub_lock and wait_seconds, and read the file again before you edit it; or ask the other agent with hub_dm."
	what := "Your edit may destroy the other agent's work." + way
	switch e {
	case allowed:
	case refused:
		what = "Your room refuses such an edit." + way
	case committed:
		what = "Your commit may undo the other agent's work. Ask it with hub_dm, and look at the file again before you push."
	case uncommitted:
		what = "Your room refuses such a commit. Commit the other files, or wait until the lock is released. If you are that agent, set HUB_AGENT to its id. To commit all the same: git commit --no-verify."
	case changed:
		what = "You have changed it all the same. Tell the other agent with hub_dm, and take the lock with hub_lock before your next edit."
	}
	return "Hub: " + strings.Join(lines, " ") + " " + what
}

// patchMarks begin the lines of a patch that name a file.
var patchMarks = []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "}

// input is what a tool is called with. Some versions of Copilot CLI write an object as a text.
func (f fields) input() json.RawMessage {
	for _, name := range []string{"tool_input", "toolInput", "toolArgs", "arguments"} {
		raw := f[name]
		var text string
		if json.Unmarshal(raw, &text) == nil && json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{") {
			return json.RawMessage(text)
		}
		if len(raw) > 0 {
			return raw
		}
	}
	return nil
}

// files lists the files that a tool is about to change: those that its input names,
// or a patch in it.
func (f fields) files() []string {
	input, _ := members(f.input())
	var list []string
	add := func(path string) {
		if path = strings.TrimSpace(path); path != "" && len(path) <= maxPathBytes && len(list) < maxEdited && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	add(input.text("file_path", "filePath", "absolute_path", "notebook_path", "path"))
	patches := texts(f.input()) // a tool for patches alone is called with a bare one
	for _, name := range []string{"patch", "patchText", "input", "command"} {
		patches = append(patches, texts(input[name])...)
	}
	for _, text := range patches {
		for line := range strings.Lines(text) {
			for _, mark := range patchMarks {
				if path, ok := strings.CutPrefix(line, mark); ok {
					add(path)
				}
			}
		}
	}
	return list
}

// texts returns a string, or the strings of a list.
func texts(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var list []string
	_ = json.Unmarshal(raw, &list) // something else: none
	return list
}
