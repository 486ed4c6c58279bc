package hook

import (
	"context"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/peertext"
)

// permission answers the event that the harness asks a user whether a tool may run. Where
// the operator wants it, a rule or the operator's answer decides. Otherwise nothing is
// said, and the harness's own prompt goes on.
func (r *run) permission(ctx context.Context) (string, error) {
	if r.payload.Elsewhere {
		return "", quiet("the notification is not about a tool")
	}
	id, saved, err := r.known()
	if err != nil {
		return "", err
	}
	if err := r.connect(ctx, saved); err != nil {
		return "", err
	}
	if r.form().AsksFirst && !r.wouldAsk() {
		return "", quiet("this harness would not ask its user")
	}
	p := r.askHub(ctx, id, saved)
	if text, decided := r.decided(p); decided {
		return text, nil
	}
	if r.form().AsksFirst && (p.Verdict != hub.PermissionAsk || p.AskID == nil) {
		return "", quiet("nobody decides, and the harness goes by its own rules")
	}
	err = r.noteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnAtPrompt, Tool: r.payload.Tool})
	if p.Verdict != hub.PermissionAsk || p.AskID == nil {
		if err == nil {
			err = quiet("the hub knows that the agent's program asks its user")
		}
		return "", err
	}
	const grace = 2 * time.Second // for the hub, which ends the wait first
	ctx, cancel := r.Longer(time.Duration(p.WaitSec)*time.Second + grace)
	defer cancel()
	p, err = r.hub.AwaitPermission(ctx, *p.AskID, hub.PermissionWaitInput{AgentID: id, WaitSec: float64(p.WaitSec)})
	if err != nil {
		return "", err
	}
	text, decided := r.decided(p)
	if !decided {
		if r.form().AsksFirst { // it may ask its user now, which a notice tells
			_ = r.noteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnWorking})
		}
		return "", quiet("nobody has answered in time, and the harness asks its user")
	}
	_ = r.noteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnWorking}) // the next event says so too
	return text, nil
}

// noteTurn notes the turn of a session's main agent. What a sub-agent does is no sign of it.
func (r *run) noteTurn(ctx context.Context, in hub.TurnInput) error {
	if r.payload.SubAgent {
		return nil
	}
	_, err := r.hub.NoteTurn(ctx, in)
	return err
}

// askHub asks the hub for a decision. Without an answer nobody has decided.
func (r *run) askHub(ctx context.Context, id hub.AgentID, saved identity.Binding) hub.Permission {
	if !r.form().Allow.Heard() || !r.form().Deny.Heard() || r.Longer == nil || r.payload.Tool == "" {
		return hub.Permission{}
	}
	in := r.prompt(id)
	if saved.InstanceID == r.instance {
		in.RoomID = saved.RoomID
	}
	p, err := r.hub.RequestPermission(ctx, in)
	if err != nil {
		log(r.DataRoot, r.Now(), "%s: the hub decides nothing: %s", r.event, why(err))
		return hub.Permission{}
	}
	return p
}

// decided notes a decision and returns its text for the harness. Every other answer of
// the hub decides nothing.
func (r *run) decided(p hub.Permission) (text string, decided bool) {
	switch p.Verdict { //nolint:exhaustive // the others decide nothing
	case hub.PermissionAllow:
		text = "allowed"
	case hub.PermissionDeny:
		text = "The operator of the hub denies this"
		if p.By != "" {
			text += " (" + peertext.ModelLine(p.By) + ")"
		}
		if text += "."; p.Reason != "" {
			text += " " + peertext.ModelLine(p.Reason)
		}
	default:
		return "", false
	}
	r.verdict = p.Verdict
	return text, true
}

// ownTool answers the event that the harness asks whether a tool may run: it allows the tools of
// the hub, as the user has chosen with the permissions of the adapter. It makes no call of the hub.
func (r *run) ownTool() (string, error) {
	if !r.form().Allow.Heard() || !r.ofHub() {
		return "", quiet("the tool is none of the hub's")
	}
	r.verdict = hub.PermissionAllow
	return "allowed", nil
}

// ownServer begins the names of the hub's tools where Copilot CLI asks whether they may run.
const ownServer = "hub/hub_"

func (r *run) ofHub() bool { return strings.HasPrefix(r.payload.Tool, ownServer) }

// notice answers the event that the harness tells its user something. That it asks whether a tool
// may run, the hub learns.
func (r *run) notice(ctx context.Context) error {
	if r.payload.Elsewhere {
		return quiet("the notification is not about a tool")
	}
	id, saved, err := r.known()
	if err != nil {
		return err
	}
	if err := r.connect(ctx, saved); err != nil {
		return err
	}
	return r.noteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnAtPrompt, Tool: r.payload.Tool})
}
