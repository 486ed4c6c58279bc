package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hubcli/hub"
	"hubcli/internal/identity"
)

// subAgent returns the sub-agent of an event; ok is false where the bridge of its main agent is
// not told who calls, so that the hub does not know it. It is a sub-agent of the agent given,
// whatever its name: that may also be the name of another session or agent.
func (r *run) subAgent(main hub.AgentID) (id hub.AgentID, ok bool) {
	if !r.calls && r.form().Tagged == "" || r.payload.SubName == "" {
		return "", false
	}
	return main.SubAgent(r.payload.SubName), true
}

// apart returns the agent that edits a file: the sub-agent of the event where the hub knows it,
// else the agent given. Where a program gives each sub-agent a session, which has a bridge, the
// sub-agent is the agent of that session.
func (r *run) apart(main hub.AgentID) hub.AgentID {
	if id, ok := r.subAgent(main); ok {
		return id
	}
	if f := r.harness.Facts(); !f.SubAgents && len(f.SessionMembers) > 0 {
		if saved, ok := r.sessions.Load(r.payload.SubName); ok {
			return saved.AgentID
		}
	}
	return main
}

// beforeCall answers the event that an agent is about to call a tool of the hub. It tells the
// bridge whether that is a sub-agent. Where it cannot, it refuses a sub-agent the tools that are
// for its main agent alone.
func (r *run) beforeCall() (string, error) {
	tool, ok := strings.CutPrefix(r.payload.Tool, r.harness.Facts().ToolPrefix)
	switch {
	case !ok || r.harness.Facts().ToolPrefix == "":
		return "", quiet("the tool is none of the hub's")
	case r.payload.SubAgent != (r.payload.SubName != ""), r.payload.Damaged && !r.payload.SubAgent:
		return "", quiet("the payload does not say who calls")
	}
	main, _, unknown := r.known()
	err := r.sessions.NoteCall(r.payload.Call, identity.Caller{SubAgent: r.payload.SubName})
	switch {
	case err == nil && r.form().Tagged != "":
		r.tag = r.payload.Call // without it the bridge would hear of no id
		return "the bridge is told who calls", nil
	case !r.payload.SubAgent:
		return "", quiet("the main agent calls")
	case err == nil && r.calls:
		return "", quiet("the bridge is told of the sub-agent")
	case !hub.OfMainAgent(called(tool, r.payload.Input)):
		return "", quiet("a sub-agent may call this tool as its main agent")
	case unknown != nil:
		main = "the agent that started you"
	}
	r.refuses = true
	return mainOnly(main, tool), nil
}

// called returns the tool that a call is for: hub_call_tool calls another one, whose name the
// bridge also takes with another prefix or without one.
func called(tool string, input json.RawMessage) string {
	if tool != "hub_call_tool" {
		return tool
	}
	given, _ := members(input)
	name := strings.ToLower(strings.TrimSpace(given.text("name")))
	if i := strings.LastIndex(name, "hub_"); i >= 0 {
		return name[i:]
	}
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+len("__"):]
	}
	return "hub_" + name
}

func mainOnly(main hub.AgentID, tool string) string {
	return fmt.Sprintf("You are a sub-agent of %s, and %s is for %s alone: it reads its messages, ends its tasks or changes who it is. "+
		"Go on without it, and report to %s with your answer.", main, tool, main, main)
}

// subAgentBegins tells a sub-agent what it is on the hub.
func (r *run) subAgentBegins() (string, error) {
	if r.payload.SubName == "" {
		return "", quiet("the payload does not name the sub-agent")
	}
	main, _, err := r.known()
	if err != nil {
		return "", err
	}
	if r.form().Tagged != "" { // its later events name its own session
		_ = r.sessions.Under(r.payload.SubName, r.payload.SessionID) // else it counts as its main agent
	}
	if !r.bridged {
		return "", quiet("the sub-agent has no tools of the hub")
	}
	text := fmt.Sprintf("You are a sub-agent of %s, which works with other agents through the hub. The messages and tasks of %s are for it alone: "+
		"report to it with your answer. Before you edit a file that others may edit call hub_lock.", main, main)
	if id, ok := r.subAgent(main); ok {
		text += fmt.Sprintf(" On the hub you are %s: your locks are your own, and end with you.", id)
	}
	return text, nil
}

// subAgentEnds lets go what a sub-agent holds, and ends its session with the hub. Messages to it
// go to its main agent from then on. An agent that has the id of a sub-agent and is none goes on.
func (r *run) subAgentEnds(ctx context.Context) error {
	main, saved, err := r.known()
	if err != nil {
		return err
	}
	id, ok := r.subAgent(main)
	if !ok {
		return quiet("the sub-agent acts as its main agent")
	}
	if err := r.connect(ctx, saved); err != nil {
		return err
	}
	live, err := hub.LiveAs(ctx, r.hub.Agents, id)
	switch {
	case err != nil:
		return err
	case live != nil && live.SubAgentOf() != main:
		return quiet("the agent that has the id of the sub-agent is another one")
	}
	if err = LetGo(ctx, r.hub, id); live == nil {
		return err
	}
	// Only its bridge can end its session. A session that takes its place can be ended here.
	return errors.Join(err, r.endLive(ctx, live, main))
}

// Holdings is the part of the hub that shows leases and ends them.
type Holdings interface {
	Claims(ctx context.Context, q hub.LeasesQuery) ([]hub.Claim, hub.Cursor, error)
	ReleaseClaim(ctx context.Context, in hub.ClaimHoldInput) (hub.Outcome[hub.Claim], error)
	Locks(ctx context.Context, q hub.LeasesQuery) ([]hub.Lock, hub.Cursor, error)
	ReleaseLock(ctx context.Context, in hub.LockHoldInput) (hub.Outcome[hub.Lock], error)
}

// LetGo releases the locks and the claims of an agent. It tries all of them. Of what it cannot
// release the time ends.
func LetGo(ctx context.Context, h Holdings, agent hub.AgentID) error {
	all := hub.LeasesQuery{Owner: agent, Viewer: agent, ActiveOnly: true, Limit: hub.MaxPageRows}
	locks, _, err := h.Locks(ctx, all)
	for i := range locks {
		_, e := h.ReleaseLock(ctx, hub.LockHoldInput{FilePath: locks[i].FilePath, AgentID: agent, Fence: locks[i].Fence})
		err = errors.Join(err, e)
	}
	claims, _, e := h.Claims(ctx, all)
	err = errors.Join(err, e)
	for i := range claims {
		_, e := h.ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: claims[i].ClaimKey, AgentID: agent, Fence: claims[i].Fence})
		err = errors.Join(err, e)
	}
	return err
}
