package identity

import (
	"path/filepath"

	"hubcli/hub"
)

// Proof is what the hooks of a harness session know of whether the model of its agent has read what they and
// others have told the agent.
type Proof struct {
	InstanceID hub.InstanceID `json:"instance_id,omitempty"` // of the hub whose messages these are
	Program    string         `json:"program,omitempty"`     // the process of the harness; empty: unknown
	Cut        bool           `json:"cut,omitempty"`         // that process has followed another one, and the hub has not heard of it

	Next   hub.MessageID `json:"next,omitempty"`   // told of up to this one before the model called a tool
	Last   hub.MessageID `json:"last,omitempty"`   // the same before it ended its turn
	Turn   hub.MessageID `json:"turn,omitempty"`   // told of up to this one when the last turn began
	Before hub.MessageID `json:"before,omitempty"` // and when the turn before that did
	Proved hub.MessageID `json:"proved,omitempty"` // the hub has heard that the model has read up to this one
	Again  hub.MessageID `json:"again,omitempty"`  // those up to this one may have been shown before the process ended
}

func (s Sessions) proofPath(session string) string { return filepath.Join(s.Dir, Key(session)+".told") }

// Proof returns the proof of a session; false if nothing is kept.
func (s Sessions) Proof(session string) (p Proof, ok bool) {
	if !s.keeps(session) || !read(s.Dir, s.proofPath(session), s.Tell, &p) {
		return Proof{}, false
	}
	return p, true
}

// KeepProof saves the proof of a session. What cannot be saved is told once more after the program of the
// session was cut off.
func (s Sessions) KeepProof(session string, p Proof) error {
	if !s.keeps(session) {
		return errNotKept
	}
	return replace(s.Dir, s.proofPath(session), p)
}
