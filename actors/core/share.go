package core

import (
	"cmp"
	"slices"

	"hubcli/hub"
)

// Standing says how well the hub knows the agent that asks for a place. A name on loopback
// is free, so a caller can invent any number of names: what counts is how long a name has
// been there, and whether the call proves its session. No record holds a standing.
type Standing uint8

// The standings, the least first.
const (
	// StandingUnknown: the call names no agent, or one that never registered, or one that
	// is new and whose session it does not prove.
	StandingUnknown Standing = iota
	// StandingKnown: the agent registered some time ago, or the call proves its session.
	StandingKnown
	// StandingProved: both.
	StandingProved
	// StandingOperator: the operator, or the hub itself.
	StandingOperator
)

// KnownAfter is how long ago an agent must have registered first, in milliseconds, to be
// no longer new. A flood of invented names takes seconds.
const KnownAfter = hub.Time(10 * 60 * 1000)

// Share is the limit of one kind of places, and how creators share it. The last places are
// kept for those that the hub knows better. The operator has no limit but one of memory.
type Share struct {
	What string   // the places, in the plural: "projects"
	Code hub.Code // of a refusal
	All  int      // places of all creators together
	Most int      // places that the operator's calls may fill; 0: any number
	Each [3]int   // places of one creator, by its standing; 0: a tenth, a fifth and a third of All
	Free string   // how a place becomes free, for the advice of a refusal
}

// Holding is what is taken before a place is given.
type Holding struct {
	Creator hub.AgentID // that asks for the place; empty: the call names no agent
	Own     int         // places that the creator has
	All     int         // places that all have
	Adds    int         // places that are asked for; 0: one
	// Holders returns how many places each creator has. It is called for a refusal only.
	// nil: others are not told of it.
	Holders func() map[hub.AgentID]int
}

// reach returns how many places of all may be taken after a creator of this standing has
// got one. The last tenth is for proved agents that have few.
func (s *Share) reach(by Standing, own int) int {
	switch {
	case by == StandingUnknown:
		return s.All / 2
	case by == StandingKnown:
		return s.All * 3 / 4
	case own > max(1, s.All/100):
		return s.All * 9 / 10
	}
	return s.All
}

// each returns how many places a creator of this standing may have.
func (s *Share) each(by Standing) int {
	return cmp.Or(s.Each[by], max(1, s.All/[3]int{10, 5, 3}[by]))
}

// Refuse returns the error for a creator that may not have the places that it asks for, or
// nil.
func (s *Share) Refuse(by Standing, h Holding) error {
	adds := max(h.Adds, 1)
	own, all := h.Own+adds, h.All+adds
	if by == StandingOperator {
		if s.Most == 0 || all <= s.Most {
			return nil
		}
		return hub.Errorf(s.Code, "%d %s are taken, and the operator may fill %d", h.All, s.What, s.Most).
			With("limit", s.Most).With("what", s.What).With("taken", h.All).WithFix(s.Free)
	}
	var e *hub.Error
	switch each, reach := s.each(by), s.reach(by, own); {
	case own > each:
		who := "agent " + string(h.Creator) + " has"
		if h.Creator == "" {
			who = "calls that name no agent have"
		}
		e = hub.Errorf(s.Code, "%s %d %s, and %d is the most for one that is %s", who, h.Own, s.What, each, by).With("limit", each)
	case all > reach && reach < s.All:
		e = hub.Errorf(s.Code, "%d of %d %s are taken, and the last ones are kept from agents that are %s", h.All, s.All, s.What, by).With("limit", reach)
	case all > reach:
		e = hub.Errorf(s.Code, "all %d %s are taken", s.All, s.What).With("limit", s.All)
	default:
		return nil
	}
	e = e.With("what", s.What).With("own", h.Own).With("taken", h.All).With("places", s.All).With("standing", by.String())
	if h.Holders != nil {
		e = e.With("holders", largest(h.Holders()))
	}
	return e.WithFix(s.Free + by.better())
}

// String says what the hub knows of an agent, as a word behind "that is".
func (s Standing) String() string {
	switch s {
	case StandingUnknown:
		return "unknown to the hub"
	case StandingKnown:
		return "known to the hub"
	case StandingProved:
		return "known and proved"
	case StandingOperator:
	}
	return "the operator"
}

// better says how an agent comes to a better standing, as the end of an advice.
func (s Standing) better() string {
	switch s {
	case StandingUnknown:
		return "; or register, and prove the session: a registered agent may have more"
	case StandingKnown:
		return "; or prove the session of an agent that registered ten minutes ago or earlier: it may have more"
	case StandingProved, StandingOperator:
	}
	return ""
}

// mostHolders bounds how many creators a refusal names.
const mostHolders = 3

// PlaceHolder is a creator and how many places it has, in the detail of a refusal.
type PlaceHolder struct {
	AgentID hub.AgentID `json:"agent_id"` // empty: calls that name no agent
	Places  int         `json:"places"`
}

// largest lists the creators that have most, those with the most first.
func largest(holders map[hub.AgentID]int) []PlaceHolder {
	all := make([]PlaceHolder, 0, len(holders))
	for agent, n := range holders {
		all = append(all, PlaceHolder{agent, n})
	}
	slices.SortFunc(all, func(x, y PlaceHolder) int {
		return cmp.Or(cmp.Compare(y.Places, x.Places), cmp.Compare(x.AgentID, y.AgentID))
	})
	return all[:min(len(all), mostHolders)]
}

// holdingOf counts what is taken. each calls its argument with the creator of each place.
func holdingOf(creator hub.AgentID, each func(func(hub.AgentID))) Holding {
	return weightsOf(creator, func(count func(hub.AgentID, int)) { each(func(by hub.AgentID) { count(by, 1) }) })
}

// weightsOf is holdingOf for things that take several places each.
func weightsOf(creator hub.AgentID, each func(func(by hub.AgentID, places int))) Holding {
	h := Holding{Creator: creator}
	each(func(by hub.AgentID, places int) {
		if h.All += places; by == creator {
			h.Own += places
		}
	})
	h.Holders = func() map[hub.AgentID]int {
		holders := map[hub.AgentID]int{}
		each(func(by hub.AgentID, places int) { holders[by] += places })
		return holders
	}
	return h
}

// operators is how much memory things may take with those of the operator: a quarter more than
// all others may fill.
func operators(bytes int) int { return bytes + bytes/4 }

// The shares.
var (
	projectShare = Share{
		What: "projects", Code: hub.CodeLimitReached, All: hub.MaxProjects,
		Free: "use an existing one, or ask the operator to archive projects",
	}
	projectRoomShare = Share{
		What: "rooms of a project", Code: hub.CodeLimitReached, All: hub.MaxProjectRooms,
		Free: "use an existing one, or ask the operator to archive rooms of the project",
	}
	roomShare = Share{
		What: "rooms", Code: hub.CodeLimitReached, All: hub.MaxRooms,
		Free: "use an existing one, or ask the operator to archive rooms",
	}
	roomTextShare = Share{
		What: "bytes of rooms", Code: hub.CodeLimitReached, All: hub.MaxRoomBytes,
		Free: "give a shorter name, topic and reason, or ask the operator to archive rooms",
	}
	seatShare = Share{
		What: "seats of the room", Code: hub.CodeRoomFull, All: hub.MaxRoomSeats,
		Free: "use another room, or ask the operator to free seats of agents that are gone",
	}
	inviteShare = Share{
		What: "active invites of the room", Code: hub.CodeRoomFull, All: hub.MaxRoomInvites,
		Free: "use an existing one, or revoke invites that are not needed",
	}
	askShare = Share{
		What: "open questions to the operator", Code: hub.CodeLimitReached, All: hub.MaxOpenAsks,
		Each: [3]int{hub.MaxAgentAsks / 5, hub.MaxAgentAsks / 2, hub.MaxAgentAsks},
		Free: "wait for answers, or withdraw questions that need none any more",
	}
	taskShare = Share{
		What: "tasks that have not ended", Code: hub.CodeLimitReached, All: hub.MaxLiveTasks,
		Free: "complete or cancel tasks first; the list of tasks shows those that are active",
	}
	taskTextShare = Share{
		What: "bytes of tasks that have not ended", Code: hub.CodeLimitReached, All: hub.MaxTaskBytes, Most: operators(hub.MaxTaskBytes),
		Free: "give shorter titles and threads and fewer tasks to wait for, or end tasks first",
	}
	runShare = Share{
		What: "runs that have not ended", Code: hub.CodeLimitReached, All: hub.MaxLiveRuns,
		Free: "end the tasks of some runs; a run without tasks ends when you add one and end it; the list of runs shows those that are active",
	}
	// ChannelShare is that of the channels outside rooms.
	ChannelShare = Share{
		What: "channels", Code: hub.CodeLimitReached, All: hub.MaxChannels,
		Free: "use an existing one, or ask the operator to archive channels",
	}
	// LeaseShare and SessionShare are of bytes, because these things are kept in memory.
	LeaseShare = Share{
		What: "bytes of held claims and locks", Code: hub.CodeLimitReached, All: hub.MaxLeaseBytes, Most: operators(hub.MaxLeaseBytes),
		Free: "send less metadata, or release claims and locks that are not needed",
	}
	SessionShare = Share{
		What: "bytes of live sessions", Code: hub.CodeLimitReached, All: hub.MaxSessionBytes, Most: operators(hub.MaxSessionBytes),
		Free: "send less metadata and fewer capabilities, or close sessions that are not needed",
	}
)
