package hook

import (
	"context"
)

// speak finds what an event is about and returns the text of its answer.
func (r *run) speak(ctx context.Context) (string, error) {
	switch {
	case r.event == BeforeCommit:
		return r.beforeCommit(ctx)
	case r.event == BeforeEdit && !r.payload.Damaged: // a sub-agent may destroy the work of others too
		return r.beforeEdit(ctx)
	case r.event == Permission && !r.payload.Damaged: // so may a prompt of a sub-agent
		return r.permission(ctx)
	case r.event == OwnTool && !r.payload.Damaged:
		return r.ownTool()
	case r.event == Notice && !r.payload.Damaged:
		return "", r.notice(ctx)
	case r.event == BeforeCall:
		return r.beforeCall()
	case r.event == SubStart && !r.payload.Damaged:
		return r.subAgentBegins()
	case r.event == SubStop && !r.payload.Damaged:
		return "", r.subAgentEnds(ctx)
	case r.payload.SubAgent:
		return "", quiet("the event is a sub-agent's")
	case r.event == SessionStart && r.payload.Aborted:
		return "", quiet("the session was broken off")
	case r.event == SessionStart:
		return r.start(ctx)
	case r.payload.Damaged:
		return "", quiet("the payload is damaged, so that nobody knows whose event it is")
	case r.event == Compact:
		_ = r.sessions.Mark(r.payload.SessionID, compacted) // without it the text is not shown again
		return "", quiet("the next event shows the text of the session's beginning again")
	case r.event == Failure:
		return "", r.failure(ctx)
	case r.event == TaskCreated:
		return "", r.taskCreated(ctx)
	case r.event == TaskDone:
		return "", r.taskCompleted(ctx)
	case r.event == SessionEnd:
		return "", r.end(ctx)
	case r.payload.Aborted:
		r.turnEnded(ctx)
		return "", quiet("the turn was broken off")
	case !r.form().hears(r.event):
		return "", quiet("this harness does not show the agent an answer to this event")
	case r.event == Stop:
		r.turnProves(ctx)
		text, err := r.stop(ctx)
		if text == "" || r.form().HoldsOnce { // else nothing would tell of its end
			r.turnEnded(ctx)
		}
		return text, err
	}
	return r.interject(ctx)
}
