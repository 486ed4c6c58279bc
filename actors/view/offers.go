package view

import (
	"slices"
	"sync"

	"hubcli/hub"
	"hubcli/internal/bounded"
)

// How many offers are remembered.
const (
	offersAgents = 4096 // agents
	offersKept   = 8    // of each agent, the latest
)

// Offer says that an agent was handed its messages with From < id <= To.
type Offer struct {
	From, To hub.MessageID
	By       hub.OfferedBy
	Session  hub.SessionID // in its public form; empty: the agent had none
	At       hub.Time
}

// Offers remembers when messages were handed to agents, and how. It is for
// receipts only: what it forgets, or loses with the process, is shown as unknown.
type Offers struct {
	mu     sync.Mutex
	agents *bounded.Map[hub.AgentID, []Offer]
}

func newOffers() *Offers {
	return &Offers{agents: bounded.New[hub.AgentID, []Offer](offersAgents)}
}

// Note remembers an offer, unless it repeats the last one.
func (o *Offers) Note(agent hub.AgentID, offer Offer) {
	if offer.To <= offer.From {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, _ := o.agents.Get(agent)
	if n := len(kept); n > 0 && kept[n-1].From == offer.From && kept[n-1].To == offer.To {
		return
	}
	kept = append(kept, offer)
	o.agents.Put(agent, kept[max(0, len(kept)-offersKept):])
}

// Of returns the first remembered offer of a message to an agent.
func (o *Offers) Of(agent hub.AgentID, id hub.MessageID) (Offer, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, _ := o.agents.Get(agent)
	i := slices.IndexFunc(kept, func(f Offer) bool { return f.From < id && id <= f.To })
	if i < 0 {
		return Offer{}, false
	}
	return kept[i], true
}

// NoteOffer notes that an agent is handed its messages with from < id <= to.
func (v *View) NoteOffer(agent hub.AgentID, from, to hub.MessageID, by hub.OfferedBy, now hub.Time) {
	offer := Offer{From: from, To: to, By: by, At: now}
	if s, _, live := v.Directory.Session(agent); live {
		offer.Session = s.SessionID.Public()
	}
	v.Offers.Note(agent, offer)
}
