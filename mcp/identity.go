package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
)

// Of choosing a name.
const (
	defaultAgent = hub.AgentID("mcp-client")
	mostNumbers  = 99
	maxAgentID   = 64
)

// choice is whom a bridge begins as that resumes nobody.
type choice struct {
	agent hub.AgentID
	// force displaces whoever is live under the name: the command line has it.
	force bool
	// yields takes a number rather than displace anybody. Else only another bridge
	// is yielded to: what is live otherwise is what a hook or a command has left.
	yields bool
	// made: nobody can have known the name before, so that nothing that was said
	// before is for the agent.
	made bool
}

// choose says whom the bridge is by its flags, its environment and its harness.
func (l *link) choose() choice {
	b := l.b
	if b.Agent != "" {
		return choice{agent: b.Agent, force: !l.held, yields: l.held}
	}
	if named := b.named(); named != "" {
		return choice{agent: named}
	}
	harness := b.harness()
	if harness == hub.HarnessGeneric {
		return choice{agent: defaultAgent, yields: true, made: true}
	}
	if session := b.session(); session != "" {
		mine := identity.Binding{AgentID: identity.AgentOf(harness, session), BaseURL: l.base.BaseURL()}
		// Whoever was first, a hook or a bridge, both go by it.
		if known, err := identity.SessionsOf(b.DataRoot).Claim(session, mine); err == nil && known.BaseURL == mine.BaseURL {
			mine = known
		}
		return choice{agent: mine.AgentID, made: true}
	}
	if note, ok := b.notes.OfHook(b.parent, harness); ok && note.BaseURL == l.base.BaseURL() {
		return choice{agent: note.AgentID, made: true}
	}
	return choice{agent: identity.AgentOf(harness, b.process()), made: true}
}

// slotFor returns the name of the slot that the bridge keeps its identity in, or
// "". Without --resume-key it has one where it can be told again after a crash: by
// the session of its harness, or the process.
func (l *link) slotFor() string {
	b := l.b
	switch {
	case b.ResumeKey != "":
		return "key-" + b.ResumeKey
	case b.DataRoot == "" || b.Agent != "" || b.harness() == hub.HarnessGeneric:
		return ""
	}
	// One process may run several harnesses one after the other, and in each of them
	// whoever the environment names.
	who := b.session()
	if who == "" {
		who = b.process()
	}
	return "auto-" + identity.Key(strings.Join([]string{string(b.harness()), string(b.named()), who}, "\x00"))
}

// begin makes the first session: that of the slot, or a chosen one.
func (l *link) begin(ctx context.Context, info hub.Info) (*seat, error) {
	if err := l.settleSlot(); err != nil {
		return nil, err
	}
	var remark string
	if l.held && l.b.ResumeKey != "" {
		remark = fmt.Sprintf("The slot %s is another bridge's that runs, so nothing is resumed or remembered here.", l.b.ResumeKey)
	}
	c, joined := l.choose(), false
	if l.slot != nil {
		kept, err := l.slot.load()
		if err != nil {
			return nil, err
		}
		if kept != nil && kept.BaseURL == l.base.BaseURL() && (kept.Joined || kept.Pending != nil || l.named(kept)) {
			s, err := l.resumeKept(ctx, kept, info)
			if s != nil || err != nil {
				return s, err
			}
			if kept.Joined {
				c, joined = choice{agent: kept.AgentID, yields: true}, true
				remark = fmt.Sprintf("The session that the slot remembers is good no more, so %s was registered anew.", kept.AgentID)
				if kept.InstanceID != info.InstanceID {
					l.moved()
				}
			}
		}
	}
	s, err := l.register(ctx, c, info)
	if err != nil {
		return nil, err
	}
	s.remark = sentence(remark, s.remark)
	s.joined = joined
	return l.keep(s), nil
}

// named reports whether what names the agent from outside, if anything does, is
// what did when the slot was written.
func (l *link) named(kept *slotContent) bool {
	if l.b.Agent != "" {
		return l.b.Agent == kept.AgentID
	}
	return l.b.named() == kept.Named
}

// settleSlot opens the slot, once.
func (l *link) settleSlot() error {
	name := l.slotFor()
	if l.slotted || name == "" {
		l.slotted = true
		return nil
	}
	s, err := openSlot(l.b.DataRoot, name)
	if errors.Is(err, errSlotHeld) {
		l.held, l.slotted = true, true
		return nil
	}
	if err != nil {
		if l.b.ResumeKey == "" {
			l.b.log.Warn("the bridge remembers nothing for a restart", "error", err)
			l.slotted = true
			return nil
		}
		return err
	}
	l.slot, l.slotted = s, true
	s.sweep(time.Now())
	return nil
}

// resumeKept goes on as the agent of the slot; nil, if the hub refuses.
func (l *link) resumeKept(ctx context.Context, kept *slotContent, info hub.Info) (*seat, error) {
	if kept.RoomID != "" && kept.InstanceID == info.InstanceID {
		l.b.homes.join(kept.AgentID, kept.RoomID)
	}
	if kept.Pending != nil {
		s, err := l.finishJoin(ctx, kept, info)
		if s != nil || err != nil {
			return s, err
		}
	}
	if kept.SessionID == "" || kept.InstanceID != info.InstanceID || !kept.Joined && !l.named(kept) {
		return nil, nil
	}
	s, err := l.resume(ctx, &seat{agent: kept.AgentID, id: kept.SessionID, key: kept.ResumeKey, joined: kept.Joined}, info)
	if errors.Is(err, &hub.Error{Code: hub.CodeResumeDenied}) {
		return nil, nil
	}
	return s, err
}

// resume trades a session for the next of the same agent. The new one is kept
// before it makes a call: until then the old key is good too, so that whenever the
// process ends, the slot holds one that is.
func (l *link) resume(ctx context.Context, prior *seat, info hub.Info) (*seat, error) {
	out, err := l.base.Resume(l.once(ctx), hub.ResumeInput{PriorSessionID: prior.id, ResumeKey: prior.key})
	if err != nil {
		return nil, err
	}
	l.key = ""
	s := l.sit(out.Row, info)
	s.joined, s.remark = prior.joined, prior.remark
	return l.keep(s), nil
}

// again finds out whether the last session is good in the hub that answers now.
func (l *link) again(ctx context.Context, last *seat, info hub.Info) (*seat, error) {
	err := look(ctx, last)
	switch {
	case err == nil:
		return last, nil
	case errors.Is(err, &hub.Error{Code: hub.CodeSessionReplaced}):
		return nil, replaced(last.agent)
	case !errors.Is(err, &hub.Error{Code: hub.CodeSessionInvalid}):
		return nil, err
	}
	if info.InstanceID == last.instance {
		s, err := l.resume(ctx, last, info)
		if errors.Is(err, &hub.Error{Code: hub.CodeResumeDenied}) {
			return nil, replaced(last.agent)
		}
		return s, err
	}
	s, err := l.register(ctx, choice{agent: last.agent, yields: true}, info)
	if err != nil {
		return nil, err
	}
	s.remark = sentence("The hub has another store than before, so you are registered anew.", s.remark)
	return l.keep(s), nil
}

// register makes a session as chosen, under a number if the name is another's.
func (l *link) register(ctx context.Context, c choice, info hub.Info) (*seat, error) {
	for n := 1; n <= mostNumbers; n++ {
		agent := numbered(c.agent, n)
		replace := c.force
		out, err := l.enter(ctx, agent, replace)
		if errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) && !c.yields && n == 1 && !l.bridgeLive(ctx, agent) {
			out, err = l.enter(ctx, agent, true)
		}
		if errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := l.sit(out, info)
		if n > 1 {
			s.remark = fmt.Sprintf("The name %s is that of another live agent, so you are %s.", c.agent, agent)
		}
		if c.made && out.Incarnation == 1 {
			// Everything before was said to others. Whether or not that is heard, the
			// agent can begin.
			_, _ = s.client.Bootstrap(ctx, agent)
		}
		return s, nil
	}
	return nil, hub.Errorf(hub.CodeSessionConflict, "%s and %d names like it are those of live agents", c.agent, mostNumbers-1).
		WithFix("name another with --agent, or end bridges that are not needed")
}

// enter registers one agent. An answer that was lost is asked for again with the
// same key, so that the bridge does not find itself in its way.
func (l *link) enter(ctx context.Context, agent hub.AgentID, replace bool) (hub.Registered, error) {
	meta, err := json.Marshal(map[string]any{"harness": l.b.harness(), "bridge": true})
	if err != nil {
		return hub.Registered{}, err
	}
	out, err := l.base.Register(l.once(ctx), hub.RegisterInput{AgentID: agent, Metadata: meta, Replace: &replace})
	var h *hub.Error
	if err == nil || errors.As(err, &h) && h.Status != 0 {
		l.key = "" // it is settled
	}
	return out.Row, err
}

// once returns ctx with the idempotency key of the write that begins a session.
func (l *link) once(ctx context.Context) context.Context {
	if l.key == "" {
		l.key = "bridge-" + rand.Text()
	}
	return hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: l.key}})
}

// bridgeLive reports whether the agent's live session is that of a bridge. When
// in doubt it is.
func (l *link) bridgeLive(ctx context.Context, agent hub.AgentID) bool {
	rows, _, err := l.base.Agents(ctx, hub.AgentsQuery{Prefix: string(agent), Limit: 1}) // it is the first of its prefix
	if err != nil {
		return true
	}
	for i := range rows {
		if rows[i].AgentID == agent {
			return rows[i].Bridged()
		}
	}
	return false
}

func (l *link) sit(r hub.Registered, info hub.Info) *seat {
	return &seat{
		agent: r.AgentID, id: r.SessionID, key: r.ResumeKey, instance: info.InstanceID,
		client: l.base.As(r.AgentID, r.SessionID),
	}
}

// keep writes a session into the slot before it is used. A slot that cannot be
// written is said and no reason to be nobody.
func (l *link) keep(s *seat) *seat {
	if l.slot == nil {
		return s
	}
	err := l.slot.store(&slotContent{
		BaseURL: l.base.BaseURL(), InstanceID: s.instance, AgentID: s.agent, SessionID: s.id, ResumeKey: s.key, Joined: s.joined,
		RoomID: l.b.homes.of(s.agent), Named: l.b.named(),
	})
	if err != nil {
		l.b.log.Warn("the slot cannot be written", "slot", l.slot.name, "error", err)
		s.remark = sentence(s.remark, "The slot cannot be written, so a restarted bridge will not be this agent: "+err.Error()+".")
	}
	return s
}

// numbered returns the n-th name like agent.
func numbered(agent hub.AgentID, n int) hub.AgentID {
	if n == 1 {
		return agent
	}
	tail := fmt.Sprintf("-%d", n)
	return agent[:min(len(agent), maxAgentID-len(tail))] + hub.AgentID(tail)
}

// sentence joins sentences, of which each may be empty.
func sentence(parts ...string) string { return strings.TrimSpace(strings.Join(parts, " ")) }
