package identity

import (
	"os"
	"path/filepath"
)

// Caller says who makes a call of a tool: the main agent of a harness session, or one of its
// sub-agents.
type Caller struct {
	SubAgent string `json:"sub_agent,omitempty"` // as the harness names it; empty: the main agent
}

// maxCallID bounds the id of a call and the name of a sub-agent, in bytes.
const maxCallID = 512

// callPath is where a note about a call lies. Sweep removes one that nobody takes after an hour.
func (s Sessions) callPath(call string) string {
	return filepath.Join(s.Dir, Key(call)+"-"+ShortLived("call"))
}

// NoteCall tells a bridge who makes a call, by the id that the harness gives to the call. Harnesses
// give no id twice.
func (s Sessions) NoteCall(call string, by Caller) error {
	if !s.keeps(call) || len(call) > maxCallID || len(by.SubAgent) > maxCallID {
		return errNotKept
	}
	return replace(s.Dir, s.callPath(call), by)
}

// TakeCall returns who makes a call, once; ok is false if nobody has noted it.
func (s Sessions) TakeCall(call string) (by Caller, ok bool) {
	if !s.keeps(call) || len(call) > maxCallID {
		return Caller{}, false
	}
	path := s.callPath(call)
	if _, err := os.Lstat(path); err != nil {
		return Caller{}, false // as a rule; then the folder need not be looked at
	}
	ok = read(s.Dir, path, s.Tell, &by) && len(by.SubAgent) <= maxCallID
	_ = os.Remove(path) // one that stays is swept
	if !ok {
		return Caller{}, false
	}
	return by, true
}
