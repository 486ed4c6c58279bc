package smoke

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hubcli/hub"
)

// hubInfo: the hub speaks version 1 of the protocol.
func (p *player) hubInfo(ctx context.Context) (string, error) {
	info, err := ask(ctx, p, "hub-info", p.hub.Info)
	if err != nil {
		return "", err
	}
	if info.ProtocolVersion != hub.ProtocolVersion {
		return "", wrong("protocol_version is %q, want %q", info.ProtocolVersion, hub.ProtocolVersion)
	}
	for _, kind := range hub.Kinds() {
		if !slices.Contains(info.MessageKinds, kind) {
			return "", wrong("message_kinds lacks %s", kind)
		}
	}
	if info.InstanceID == "" || info.DefaultChannel == "" {
		return "", wrong("instance_id is %q and default_channel %q", info.InstanceID, info.DefaultChannel)
	}
	p.features = info.Features
	return fmt.Sprintf("%s %s, protocol %s, %d features", info.Implementation, info.ImplementationVersion, info.ProtocolVersion, len(info.Features)), nil
}

// register: a registration takes the place of an earlier one of the same agent,
// and only with replace.
func (p *player) register(ctx context.Context) (string, error) {
	in := hub.RegisterInput{AgentID: p.me(), DisplayName: "smoke test", Capabilities: []string{"smoke"}}
	enter := func(ctx context.Context) (hub.Outcome[hub.Registered], error) { return p.anonymous.Register(ctx, in) }
	first, err := ask(ctx, p, "registering", enter)
	if err != nil {
		return "", err
	}
	_, err = ask(ctx, p, "registering without replace", func(ctx context.Context) (hub.Outcome[hub.Registered], error) {
		return p.anonymous.Register(ctx, hub.RegisterInput{AgentID: p.me(), Replace: new(bool)})
	})
	if err := refusedAs(err, hub.CodeSessionConflict, "registering without replace beside a live session"); err != nil {
		return "", err
	}
	second, err := ask(ctx, p, "registering again", enter)
	if err != nil {
		return "", err
	}
	p.session = second.Row.SessionID
	if second.Row.AgentID != p.me() || !second.Row.Active || second.Row.SessionID == first.Row.SessionID {
		return "", wrong("registering %s again gave session %s of %s, active %v", p.me(), second.Row.SessionID.Public(), second.Row.AgentID, second.Row.Active)
	}
	if err := p.displaced(ctx, first.Row.SessionID); err != nil {
		return "", err
	}
	if p.cfg.Sessions {
		p.hub = p.anonymous.As(p.me(), p.session)
	}
	boot, err := ask(ctx, p, "bootstrap", func(ctx context.Context) (hub.Bootstrap, error) { return p.hub.Bootstrap(ctx, p.me()) })
	if err != nil {
		return "", err
	}
	if boot.AgentID != p.me() || boot.Session == nil || boot.Session.SessionID.Public() != p.session.Public() {
		return "", wrong("bootstrap of %s does not show the session that it has just made", p.me())
	}
	p.begin, p.since, p.last = boot.LatestVisibleID, boot.LatestVisibleID, boot.LatestVisibleID
	freed, err := p.freeLeftovers(ctx)
	if err != nil {
		return "", err
	}
	return "displaced the session before" + freed, nil
}

// displaced: the session before is over, and says so where it is shown.
func (p *player) displaced(ctx context.Context, first hub.SessionID) error {
	if p.cfg.Sessions {
		_, err := ask(ctx, p, "listing agents", func(ctx context.Context) ([]hub.LiveAgent, error) {
			rows, _, err := p.anonymous.As(p.me(), first).Agents(ctx, hub.AgentsQuery{})
			return rows, err
		})
		if err := refusedAs(err, hub.CodeSessionReplaced, "a call with the displaced session"); err != nil {
			return err
		}
	}
	err := p.deregister(ctx, first)
	return refusedAs(err, hub.CodeSessionNotFound, "closing the displaced session")
}

// freeLeftovers releases what a run of this role that was killed still holds.
func (p *player) freeLeftovers(ctx context.Context) (string, error) {
	freed := ""
	err := p.release(ctx, 0)
	if err == nil {
		freed = ", released a claim of an earlier run"
	} else if err := refusedAs(err, hub.CodeNotHolder, "releasing a claim that is not held"); err != nil {
		return "", err
	}
	err = p.unlock(ctx)
	if err == nil {
		freed += ", released a lock of an earlier run"
	} else if err := refusedAs(err, hub.CodeNotHolder, "releasing a lock that is not held"); err != nil {
		return "", err
	}
	return freed, nil
}

// maxHeres bounds how often a role says again that it is here: two processes of
// one role would go on for ever.
const maxHeres = 30

// meet: the three find each other, whatever was said in the channel before. Each
// says who it is and whom it has heard, again whenever that has changed. The run
// begins where the latest words of all three name the same three processes; the
// order of messages is the same for all, so that all see it at the same message.
func (p *player) meet(ctx context.Context) (string, error) {
	made, err := p.makeChannel(ctx)
	if err != nil {
		return "", err
	}
	m := meeting{me: p.me(), nonce: p.nonce, heard: map[hub.AgentID]string{p.me(): p.nonce}, latest: map[hub.AgentID]map[hub.AgentID]string{}}
	read, said := 0, 0
	for saying := true; m.agreed == nil; {
		if saying && said < maxHeres {
			if _, err := p.say(ctx, note{Word: "here", Text: p.nonce, Heard: maps.Clone(m.heard)}); err != nil {
				return "", err
			}
			said++
		}
		saying = false
		known := len(p.heard)
		if err := p.until(ctx, m.lacking(), func() bool { return len(p.heard) > known || read < known }); err != nil {
			return "", err
		}
		for ; read < len(p.heard) && m.agreed == nil; read++ {
			saying = m.note(p.heard[read]) || saying
		}
	}
	p.run = m.name()
	return fmt.Sprintf("%s; run %s", made, p.run), nil
}

// makeChannel: making a channel that exists returns it.
func (p *player) makeChannel(ctx context.Context) (string, error) {
	in := hub.ChannelInput{Name: p.cfg.Channel, CreatedBy: p.me()}
	first, err := ask(ctx, p, "creating the channel", func(ctx context.Context) (hub.Outcome[hub.Channel], error) { return p.hub.CreateChannel(ctx, in) })
	if err != nil {
		return "", err
	}
	again, err := ask(ctx, p, "creating the channel again", func(ctx context.Context) (hub.Outcome[hub.Channel], error) { return p.hub.CreateChannel(ctx, in) })
	if err != nil {
		return "", err
	}
	if first.Row.Name != p.cfg.Channel || again.Created || again.Row.CreatedBy != first.Row.CreatedBy || again.Row.CreatedAt != first.Row.CreatedAt {
		return "", wrong("creating %s twice gave two rows: %+v and %+v", p.cfg.Channel, first.Row, again.Row)
	}
	if first.Created {
		return "made " + string(p.cfg.Channel), nil
	}
	return "found " + string(p.cfg.Channel), nil
}

// meeting is what a role knows of the others before the run has a name.
type meeting struct {
	me     hub.AgentID
	nonce  string
	heard  map[hub.AgentID]string                 // the nonce that each role said last
	latest map[hub.AgentID]map[hub.AgentID]string // the nonces that each role has heard, as it said last
	agreed map[hub.AgentID]string                 // what all three have said
	missed bool                                   // the others have met another process of this role
}

// note takes in one message and reports whether this role has to say again that
// it is here: it has heard somebody new, somebody has heard another of this role
// last, or another of this role speaks. What comes late from processes that are
// gone may look like any of these, even like a meeting of its own.
func (m *meeting) note(l line) bool {
	if l.note.Word != "here" || l.note.Run != "" || l.note.Heard[l.FromAgent] != l.note.Text {
		return false
	}
	m.latest[l.FromAgent] = l.note.Heard
	if m.agrees() {
		if l.note.Heard[m.me] == m.nonce {
			m.agreed = l.note.Heard
			return false
		}
		m.missed = true
	}
	if l.FromAgent == m.me {
		return l.note.Text != m.nonce
	}
	news := m.heard[l.FromAgent] != l.note.Text
	m.heard[l.FromAgent] = l.note.Text
	deaf := l.note.Heard[m.me] != "" && l.note.Heard[m.me] != m.nonce
	return news || deaf
}

// agrees reports whether the latest words of all roles name the same three.
func (m *meeting) agrees() bool {
	first := m.latest[RoleA]
	if len(first) != len(Roles()) {
		return false
	}
	for _, role := range Roles() {
		if !maps.Equal(m.latest[role], first) {
			return false
		}
	}
	return true
}

// lacking says whom this role waits for.
func (m *meeting) lacking() string {
	var missing []string
	for _, role := range Roles() {
		if m.heard[role] == "" {
			missing = append(missing, string(role))
		}
	}
	if len(missing) == 0 {
		if m.missed {
			return "the others, who have met another process that plays " + string(m.me) + ","
		}
		return "the others to hear each other"
	}
	return strings.Join(missing, " and ") + " to come"
}

// name is that of the run: the same for the three processes, and for no others.
func (m *meeting) name() string {
	h := sha256.New()
	for _, role := range Roles() {
		fmt.Fprintln(h, m.agreed[role])
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
