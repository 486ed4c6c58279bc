package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"hubcli/hub"
)

// Join accepts an invite and becomes the agent that it seats. The joined row is
// what the hub answered.
func (l *Link) Join(ctx context.Context, code string, in hub.AcceptInput, key string) (*hub.Joined, *Session, error) {
	if l.guest != nil {
		return l.joinAsGuest(ctx, code, in, key)
	}
	if err := l.change(ctx); err != nil {
		return nil, nil, err
	}
	defer l.changed()
	info, err := l.arrive(ctx, true)
	if err == nil {
		err = l.settleSlot()
	}
	if err != nil {
		return nil, nil, err
	}
	if key == "" {
		key = "join-" + rand.Text()
	}
	now, stays := l.Current(), ""
	if now != nil && now.Instance != info.InstanceID {
		now = nil // it is nobody here
	}
	if in.AgentID == "" && now != nil {
		in.AgentID, stays = l.joiner(ctx, now, code)
	}
	want := &Pending{Code: code, Input: in, Key: key}
	if err := l.intend(want); err != nil {
		return nil, nil, err
	}
	joined, s, err := l.accept(ctx, want, info)
	if err != nil {
		if !away(err) && ctx.Err() == nil {
			_ = l.intend(nil) // it is refused; a restart would only hear so again
		}
		return nil, nil, err
	}
	s.Remark = Sentence(s.Remark, stays, l.leaves(ctx, now, s))
	l.become(ctx, s)
	return joined, s, nil
}

// joiner returns the agent that joins if the call names none. The agent stays who
// it is: the invite's role belongs to the seat. Only an agent whose id nobody has
// chosen takes the id that the invite's maker has chosen ("": the invite decides).
func (l *Link) joiner(ctx context.Context, now *Session, code string) (agent hub.AgentID, stays string) {
	// If the code is bad, accepting it returns the better error.
	p, _ := l.Base().PreviewInvite(ctx, code)
	switch handle := p.Invite.Handle; {
	case handle == "" || handle == now.Agent:
		return now.Agent, ""
	case !l.chosen(now.Agent) && !now.joined:
		return "", ""
	default:
		return now.Agent, fmt.Sprintf("The invite suggests the id %s; you stay %s, as you were started.", handle, now.Agent)
	}
}

// leaves says what stays with the previous agent if s is another agent's
// session.
func (l *Link) leaves(ctx context.Context, was, s *Session) string {
	if was == nil || was.Agent == s.Agent {
		return ""
	}
	l.CatchUp(ctx, was)
	a, err := was.Client.Attention(ctx, hub.AttentionQuery{Agent: was.Agent})
	if err != nil || len(a.Directed)+len(a.Tasks)+len(a.Claims) == 0 {
		return ""
	}
	return fmt.Sprintf("New messages for %s come to you. %d unread ones, %d tasks and %d claims stay with %s; to go back, call hub_join with agent_id %s.",
		was.Agent, len(a.Directed), len(a.Tasks), len(a.Claims), was.Agent, was.Agent)
}

// TakeUp makes the bridge an agent that is not live.
func (l *Link) TakeUp(ctx context.Context, agent hub.AgentID) (*Session, error) {
	if l.guest != nil {
		return l.takeUpAsGuest(ctx, agent)
	}
	if err := l.change(ctx); err != nil {
		return nil, err
	}
	defer l.changed()
	if now := l.Current(); now != nil && now.Agent == agent {
		return now, nil
	}
	info, err := l.arrive(ctx, true)
	if err == nil {
		err = l.settleSlot()
	}
	if err != nil {
		return nil, err
	}
	out, err := l.enter(ctx, agent, false)
	if errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) {
		return nil, hub.Errorf(hub.CodeSessionConflict, "%s is another live agent", agent).With("agent_id", agent).
			WithFix("join as another agent; a name is free again when its agent has ended or been silent for two minutes")
	}
	if err != nil {
		return nil, err
	}
	s := l.sit(out, info)
	s.joined = true
	l.keep(s)
	s.Remark = Sentence(s.Remark, l.leaves(ctx, l.Current(), s))
	l.become(ctx, s)
	l.takeSeat(ctx, s)
	return s, nil
}

// accept sends a join. What it makes is kept before it is used.
func (l *Link) accept(ctx context.Context, want *Pending, info hub.Info) (*hub.Joined, *Session, error) {
	now, c := l.Current(), l.Base()
	if now != nil && now.Instance == info.InstanceID && want.Input.AgentID == now.Agent {
		c = now.Client // it proves who asks
	}
	ctx = hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: want.Key}})
	out, err := c.AcceptInvite(ctx, want.Code, want.Input)
	if c != l.Base() && (errors.Is(err, &hub.Error{Code: hub.CodeSessionInvalid}) || errors.Is(err, &hub.Error{Code: hub.CodeSessionReplaced})) {
		out, err = l.Base().AcceptInvite(ctx, want.Code, want.Input) // it is that agent no more
	}
	if err != nil {
		return nil, nil, err
	}
	j := &out.Row
	if j.Live || j.ResumeKey == "" {
		return nil, nil, hub.Errorf(hub.CodeSessionConflict, "%s is live already in another process", j.Seat.AgentID).
			With("agent_id", j.Seat.AgentID).WithFix("join with another agent_id, or without one")
	}
	s := l.sit(hub.Registered{Session: j.Session, ResumeKey: j.ResumeKey}, info)
	s.joined = true
	l.Homes.join(s.Agent, j.Room.RoomID)
	return j, l.keep(s), nil
}

// finishJoin asks again for the answer to a join that a crash interrupted. It
// returns nil if the join failed.
func (l *Link) finishJoin(ctx context.Context, kept *slotContent, info hub.Info) (*Session, error) {
	if kept.InstanceID != info.InstanceID {
		return nil, nil
	}
	_, s, err := l.accept(ctx, kept.Pending, info)
	if err != nil && (away(err) || ctx.Err() != nil) {
		return nil, err
	}
	return s, nil
}

// intend stores a pending join in the slot; nil removes it.
func (l *Link) intend(want *Pending) error {
	if l.slot == nil {
		return nil
	}
	kept, err := l.slot.Load()
	if err != nil || kept == nil {
		return err
	}
	kept.Pending = want
	if err := l.slot.Store(kept); err != nil {
		return hub.Errorf(hub.CodeInvalid, "the slot %s cannot be written: %v", l.slot.name, err).
			WithFix("free space on its disk, then join again")
	}
	return nil
}

// become makes s the session that calls act in, and ends the one before. The hub
// sends messages for the old name to the new one.
func (l *Link) become(ctx context.Context, s *Session) {
	l.mu.Lock()
	before := l.now
	l.now, l.last, l.ended = s, nil, nil
	l.mu.Unlock()
	l.Homes.Bind("", time.Time{}) // the agent may have a seat elsewhere
	l.announce(s)
	if before != nil && before.ID != s.ID {
		// The hub ends a silent session by itself.
		successor := hub.AgentID("")
		if before.Agent != s.Agent && before.Instance == s.Instance {
			successor = s.Agent
		}
		_, _ = before.Client.CloseSession(context.WithoutCancel(ctx), before.ID, successor)
	}
}
