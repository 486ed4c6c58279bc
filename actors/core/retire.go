package core

import (
	"strconv"

	"hubcli/hub"
)

// The facts of retirement: 902 and 903.
const (
	factAgentRetired  FactType = 902
	factAgentReturned FactType = 903
)

// AgentRetired says that the operator takes the agent for gone. Its owner decides that alone;
// what the agent has is taken from it by the owners of that, also after a crash in between.
type AgentRetired struct {
	Agent hub.AgentID `json:"agent"`
}

// AgentReturned says that a retired agent has acted again.
type AgentReturned struct {
	Agent hub.AgentID `json:"agent"`
}

// FactType implements Fact.
func (*AgentRetired) FactType() FactType { return factAgentRetired }

// FactType implements Fact.
func (*AgentReturned) FactType() FactType { return factAgentReturned }

func retireFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factAgentRetired:  func() Fact { return &AgentRetired{} },
		factAgentReturned: func() Fact { return &AgentReturned{} },
	}
}

// Retire decides that the agent is gone, and ends its session as silence does: so the agent
// revives it with its next call. The messages go to those who wait for the agent. A retired
// agent stays so. The answer is the time of the retirement.
func (a *Agent) Retire(tell []MessageDraft, _ Now) Decision[hub.Time] {
	if at := a.row.Retired; at != 0 {
		return answering(at)
	}
	d := Decision[hub.Time]{Draft: Draft{Messages: tell}, Answer: func(at Position) hub.Time { return at.Now.Wall }}
	if a.row.Session.Active {
		d.Facts = append(d.Facts, &SessionEnded{Agent: a.id, Reason: EndedIdle})
	}
	d.Facts = append(d.Facts, &AgentRetired{Agent: a.id})
	return d
}

// setRetired notes since when the agent is retired; 0: it is back. The table of retired agents is
// what a start reads: it is small, and the agents are many.
func (a *Agent) setRetired(since hub.Time, rows RowSink) {
	if a.row.Retired == since {
		return
	}
	a.row.Retired = since
	rows.Put(TableRetired, []byte(a.id), RetiredMark(since))
}

// RetiredMark is the value of a row of TableRetired.
func RetiredMark(since hub.Time) []byte {
	if since == 0 {
		return nil
	}
	return strconv.AppendInt(nil, int64(since), 10)
}

// Leave decides that an agent has no seat in the room any more, or, with an id, not that one.
// Without such a seat nothing changes.
func (r *Room) Leave(agent hub.AgentID, id hub.SeatID) Decision[bool] {
	seat, sits := r.seats[agent]
	sits = sits && (id == "" || id == seat.SeatID)
	d := answering(sits)
	if sits {
		d.Facts = []Fact{&SeatFreed{Agent: agent, Seat: seat.SeatID}}
	}
	return d
}
