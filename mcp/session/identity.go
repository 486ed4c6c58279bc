package session

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
	"hubcli/internal/pause"
)

// slotGrace is how long the bridge before this one may take to end.
const slotGrace = time.Second

// Of choosing a name.
const (
	defaultAgent = hub.AgentID("mcp-client")
	mostNumbers  = 99
	maxAgentID   = 64
)

// choice is the agent that a bridge registers if it resumes none.
type choice struct {
	agent hub.AgentID
	// force displaces a live agent of the name, because the command line names
	// it.
	force bool
	// yields adds a number to the name rather than displace any live agent.
	// Otherwise the bridge yields only to another bridge: any other live
	// session was left by a hook or a command.
	yields bool
	// made: the name is new, so no earlier message can be for the agent.
	made bool
	// otherwise is the name to take if any agent has or had this one, whose messages are
	// not for this one; empty: only a live agent counts.
	otherwise hub.AgentID
}

// choose picks the agent by flags, environment and harness.
func (l *Link) choose() choice {
	if l.Agent != "" {
		return choice{agent: l.Agent, force: !l.held, yields: l.held}
	}
	if named := l.named(); named != "" {
		return choice{agent: named}
	}
	harness := l.Harness()
	if harness == hub.HarnessGeneric {
		return choice{agent: defaultAgent, yields: true, made: true, otherwise: identity.AgentOf(hub.Harness(defaultAgent), l.standing())}
	}
	if session := l.session(); session != "" {
		mine := identity.Binding{AgentID: identity.AgentOf(harness, session), BaseURL: l.Base().BaseURL()}
		// The first of hook and bridge chooses the agent; the other uses the
		// same one.
		if known, err := identity.SessionsOf(l.DataRoot).Claim(session, mine); err == nil && l.isHere(known.BaseURL, known.InstanceID) {
			mine = known
		}
		return choice{agent: mine.AgentID, made: true}
	}
	if note, ok := l.notes.OfHook(l.Starter, harness); ok && l.isHere(note.BaseURL, note.InstanceID) {
		return choice{agent: note.AgentID, made: true}
	}
	return choice{agent: identity.AgentOf(harness, l.standing()), made: true}
}

// slotFor returns the name of the slot that the bridge keeps its identity in, or "".
// Without --resume-key it has one where it can be told again after a crash: by
// the session of its harness, or by its window.
func (l *Link) slotFor() string {
	switch {
	case l.ResumeKey != "":
		return "key-" + l.ResumeKey
	case l.DataRoot == "" || l.Agent != "":
		return ""
	}
	// One process may run several harnesses one after the other, and each may
	// name another agent in its environment.
	who := l.session()
	if who == "" {
		who = l.window()
	}
	return "auto-" + identity.Key(strings.Join([]string{string(l.Harness()), string(l.named()), who}, "\x00"))
}

// begin makes the first session: that of the slot, or a chosen one.
func (l *Link) begin(ctx context.Context, info hub.Info) (*Session, error) {
	if err := l.settleSlot(); err != nil {
		return nil, err
	}
	var remark string
	if l.held && l.ResumeKey != "" {
		remark = fmt.Sprintf("Another running bridge uses the slot %s, so this bridge neither resumes an agent nor stores its own.", l.ResumeKey)
	}
	c, joined := l.choose(), false
	l.made = c.made
	if l.slot != nil {
		kept, err := l.slot.Load()
		if err != nil {
			return nil, err
		}
		if kept != nil && l.isHere(kept.BaseURL, kept.InstanceID) && (kept.Joined || kept.Pending != nil || l.namedAsIn(kept)) {
			s, err := l.resumeKept(ctx, kept, info)
			if s != nil || err != nil {
				l.made = l.made && s == nil
				return s, err
			}
			if kept.Joined {
				l.made = false
				c, joined = choice{agent: kept.AgentID, yields: true}, true
				remark = fmt.Sprintf("The session in the slot is no longer valid, so %s was registered anew.", kept.AgentID)
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
	s.Remark = Sentence(remark, s.Remark)
	s.joined = joined
	return l.keep(s), nil
}

// namedAsIn reports whether the agent named by flags and environment is the
// same as when the slot was written.
func (l *Link) namedAsIn(kept *slotContent) bool {
	if l.Agent != "" {
		return l.Agent == kept.AgentID
	}
	return l.named() == kept.Named
}

// settleSlot opens the slot, once.
func (l *Link) settleSlot() error {
	name := l.slotFor()
	if l.slotted || name == "" {
		l.slotted = true
		return nil
	}
	s, err := l.openSlot(name)
	if errors.Is(err, errSlotHeld) {
		l.held, l.slotted = true, true
		return nil
	}
	if err != nil {
		if l.ResumeKey == "" {
			l.log.Warn("the bridge remembers nothing for a restart", "error", err)
			l.slotted = true
			return nil
		}
		return err
	}
	l.slot, l.slotted = s, true
	s.sweep(time.Now())
	return nil
}

// openSlot takes a slot. That of a window waits a moment for a bridge that is about to end. If two
// bridges have one window, nothing tells them apart later: from then on none of them has the slot.
func (l *Link) openSlot(name string) (*slot, error) {
	s, err := OpenSlot(l.DataRoot, name)
	if l.ResumeKey != "" || l.session() != "" {
		return s, err
	}
	for until := time.Now().Add(slotGrace); errors.Is(err, errSlotHeld) && time.Now().Before(until) && pause.For(l.life, lookEvery); {
		s, err = OpenSlot(l.DataRoot, name)
	}
	switch {
	case errors.Is(err, errSlotHeld):
		if e := share(l.DataRoot, name); e != nil {
			l.log.Warn("another bridge of the same window is not noted", "error", e)
		}
	case err == nil && s.shared():
		s.Close()
		return nil, errSlotHeld
	}
	return s, err
}

// resumeKept resumes the agent of the slot. It returns nil if the hub refuses.
func (l *Link) resumeKept(ctx context.Context, kept *slotContent, info hub.Info) (*Session, error) {
	if kept.RoomID != "" && kept.InstanceID == info.InstanceID {
		l.Homes.join(kept.AgentID, kept.RoomID)
	}
	if kept.Pending != nil {
		s, err := l.finishJoin(ctx, kept, info)
		if s != nil || err != nil {
			return s, err
		}
	}
	if kept.SessionID == "" || kept.InstanceID != info.InstanceID || !kept.Joined && !l.namedAsIn(kept) {
		return nil, nil
	}
	s, err := l.resume(ctx, &Session{Agent: kept.AgentID, ID: kept.SessionID, key: kept.ResumeKey, joined: kept.Joined}, info)
	if errors.Is(err, &hub.Error{Code: hub.CodeResumeDenied}) {
		return nil, nil
	}
	return s, err
}

// resume trades a session for the next of the same agent. The new one is kept
// before it makes a call: until then the old key is good too, so that whenever the
// process ends, the slot holds one that is.
func (l *Link) resume(ctx context.Context, prior *Session, info hub.Info) (*Session, error) {
	out, err := l.Base().Resume(l.once(ctx), hub.ResumeInput{PriorSessionID: prior.ID, ResumeKey: prior.key})
	if err != nil {
		return nil, err
	}
	l.key = ""
	s := l.sit(out.Row, info)
	s.joined, s.Remark = prior.joined, prior.Remark
	return l.keep(s), nil
}

// again finds out whether the last session is still valid in the hub that
// answers now.
func (l *Link) again(ctx context.Context, last *Session, info hub.Info) (*Session, error) {
	err := look(ctx, last)
	switch {
	case err == nil:
		return last, nil
	case errors.Is(err, &hub.Error{Code: hub.CodeSessionReplaced}):
		return nil, replaced(last.Agent)
	case !errors.Is(err, &hub.Error{Code: hub.CodeSessionInvalid}):
		return nil, err
	}
	if info.InstanceID == last.Instance {
		s, err := l.resume(ctx, last, info)
		if errors.Is(err, &hub.Error{Code: hub.CodeResumeDenied}) {
			return nil, replaced(last.Agent)
		}
		return s, err
	}
	s, err := l.register(ctx, choice{agent: last.Agent, yields: true}, info)
	if err != nil {
		return nil, err
	}
	s.Remark = Sentence("The hub has another store than before, so you are registered anew.", s.Remark)
	return l.keep(s), nil
}

// register makes a session as chosen, under a number if the name is another's.
func (l *Link) register(ctx context.Context, c choice, info hub.Info) (*Session, error) {
	for n := 1; n <= mostNumbers; n++ {
		agent := numbered(c.agent, n)
		replace := c.force
		out, err := l.enter(ctx, agent, replace)
		if errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) && !c.yields && n == 1 && !l.bridgeLive(ctx, agent) {
			out, err = l.enter(ctx, agent, true)
		}
		if errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) {
			if c.otherwise != "" { // somebody has just taken the name
				return l.registerOther(ctx, c, info)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		s := l.sit(out, info)
		if c.otherwise != "" && out.Incarnation > 1 {
			_, _ = s.Client.CloseSession(ctx, s.ID, "") // the hub ends a silent session by itself
			return l.registerOther(ctx, c, info)
		}
		if n > 1 {
			s.Remark = fmt.Sprintf("Another live agent has the name %s, so you are %s.", c.agent, agent)
		}
		if c.made && out.Incarnation == 1 {
			// Earlier messages were for other agents, so the cursor begins at
			// the head. If this fails, the agent can still begin.
			_, _ = s.Client.Bootstrap(ctx, agent)
		}
		return s, nil
	}
	return nil, hub.Errorf(hub.CodeSessionConflict, "%s and %d names like it are those of live agents", c.agent, mostNumbers-1).
		WithFix("name another with --agent, or end bridges that are not needed")
}

// registerOther is register under the name to take otherwise.
func (l *Link) registerOther(ctx context.Context, c choice, info hub.Info) (*Session, error) {
	s, err := l.register(ctx, choice{agent: c.otherwise, yields: true, made: true}, info)
	if s != nil {
		s.Remark = Sentence(fmt.Sprintf("Another agent has or had the name %s, so you are %s.", c.agent, s.Agent), s.Remark)
	}
	return s, err
}

// enter registers one agent. If the answer is lost, it asks again with the same
// key, so that the bridge does not conflict with its own session.
func (l *Link) enter(ctx context.Context, agent hub.AgentID, replace bool) (hub.Registered, error) {
	told := map[string]any{"harness": l.Harness(), "bridge": true}
	if folder, branch := l.place(); folder != "" {
		told["folder"] = folder
		if branch != "" {
			told["branch"] = branch
		}
	}
	meta, err := json.Marshal(told)
	if err != nil {
		return hub.Registered{}, err
	}
	out, err := l.Base().Register(l.once(ctx), hub.RegisterInput{AgentID: agent, Metadata: meta, Replace: &replace})
	var h *hub.Error
	if err == nil || errors.As(err, &h) && h.Status != 0 {
		l.key = "" // it is settled
	}
	return out.Row, err
}

// once returns ctx with the idempotency key of the write that begins a session.
func (l *Link) once(ctx context.Context) context.Context {
	if l.key == "" {
		l.key = "bridge-" + rand.Text()
	}
	return hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: l.key}})
}

// bridgeLive reports whether the agent's live session is that of a bridge. When
// in doubt it is.
func (l *Link) bridgeLive(ctx context.Context, agent hub.AgentID) bool {
	live, err := hub.LiveAs(ctx, l.Base().Agents, agent)
	return err != nil || live != nil && live.Bridged()
}

func (l *Link) sit(r hub.Registered, info hub.Info) *Session {
	return &Session{
		Agent: r.AgentID, ID: r.SessionID, key: r.ResumeKey, Instance: info.InstanceID,
		Client: l.Base().As(r.AgentID, r.SessionID),
	}
}

// keep writes a session into the slot before the session is used. If the slot
// cannot be written, the session still works, and its remark says so.
func (l *Link) keep(s *Session) *Session {
	if l.slot == nil {
		return s
	}
	err := l.slot.Store(&slotContent{
		BaseURL: l.Base().BaseURL(), InstanceID: s.Instance, AgentID: s.Agent, SessionID: s.ID, ResumeKey: s.key, Joined: s.joined,
		RoomID: l.Homes.of(s.Agent), Named: l.named(),
	})
	if err != nil {
		l.log.Warn("the slot cannot be written", "slot", l.slot.name, "error", err)
		s.Remark = Sentence(s.Remark, "The slot cannot be written, so a restarted bridge will not be this agent: "+err.Error()+".")
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

// Sentence joins sentences, of which each may be empty.
func Sentence(parts ...string) string { return strings.TrimSpace(strings.Join(parts, " ")) }
