package hook

import (
	"fmt"

	"hubcli/hub"
)

const maxPauseWords = 600 // characters of the operator's words in a text

// pausedText says that the operator has paused the agent.
func pausedText(p *hub.Pause) string {
	return fmt.Sprintf("The human operator has paused %s since %s: %s. "+
		"The hub refuses your posts, claims and new tasks meanwhile. Release what others need, end your turn and tell your user; you get a message when you are resumed.",
		p.Target(), p.Since, quote(p.Words, maxPauseWords))
}

// paused answers an event within a turn of a paused agent, once for each pause and kind of
// event: after a tool it ends the turn if the harness allows that. Nothing else is told
// meanwhile, so that the messages are news when the agent is resumed. A person who then goes
// on with the session is not stopped again.
func (r *run) paused(p *hub.Pause) (string, error) {
	if !once(r.sessions, r.payload.SessionID, fmt.Sprintf("paused-%d-%s", int64(p.Since), r.event), true) {
		return "", quiet("the operator has paused the agent, which was told")
	}
	r.ends = r.event == Tool && r.form().End.Heard()
	return pausedText(p), nil
}
