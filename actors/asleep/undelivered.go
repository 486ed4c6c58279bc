package asleep

import (
	"hubcli/actors/view"
	"hubcli/hub"
)

// Undelivered returns the mail of an agent that nobody is expected to read, or nil. Mail of an
// agent with a session is its own matter, and for its first day Agents shows that of one without.
func (s *Asleep) Undelivered(agent hub.AgentID) (*hub.Undelivered, error) {
	if _, _, imported := agent.Imported(); imported || agent.Reserved() || agent.Watcher() {
		return nil, nil // nobody can act under such an id
	}
	if _, _, live := s.view.Directory.Session(agent); live {
		return nil, nil
	}
	if next, err := s.view.Successor(agent); err != nil || next != agent {
		return nil, err // it goes on under another id
	}
	nobody, err := s.nobody(agent)
	if err != nil {
		return nil, err
	}
	got, err := s.mailOf(agent)
	if err != nil || got.unread == 0 {
		return nil, err
	}
	out := &hub.Undelivered{
		ToAgent: agent, State: hub.RecipientGone, From: got.from, Messages: got.unread, Since: got.first.TS, Near: []hub.AgentID{},
	}
	switch {
	case nobody:
		out.State = hub.RecipientNeverRegistered
		out.Near = append(out.Near, s.view.Near(agent)...)
	case s.view.Retired.Since(agent) == 0 && s.engine.Clock.Now().Wall-got.first.TS <= hub.Time(listedFor.Milliseconds()):
		return nil, nil
	}
	out.LatestID, err = s.view.Newest(view.InboxScope(agent), got.since, got.head, got.keeps)
	return out, err
}
