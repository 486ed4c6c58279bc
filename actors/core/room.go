package core

import (
	"encoding/json"
	"fmt"
	"strconv"

	"hubcli/hub"
)

// The facts of rooms: 600 to 699.
const (
	factDecisionAdded FactType = 600
	factArtifactAdded FactType = 601

	factInviteCreated FactType = 620
	factInviteUsed    FactType = 621
	factInviteEnded   FactType = 622

	factSeatTaken FactType = 640
	factSeatMoved FactType = 641
	factSeatFreed FactType = 642
)

func roomFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factDecisionAdded: func() Fact { return &DecisionAdded{} },
		factArtifactAdded: func() Fact { return &ArtifactAdded{} },
		factInviteCreated: func() Fact { return &InviteCreated{} },
		factInviteUsed:    func() Fact { return &InviteUsed{} },
		factInviteEnded:   func() Fact { return &InviteEnded{} },
		factSeatTaken:     func() Fact { return &SeatTaken{} },
		factSeatMoved:     func() Fact { return &SeatMoved{} },
		factSeatFreed:     func() Fact { return &SeatFreed{} },
	}
}

// Room decides about one room: its seats, invites, decisions and artifacts. The
// projects owner decides that the room exists.
//
// Invariants:
//  1. An invite in invites has uses < max_uses and was not revoked; one whose
//     deadline has passed stays until a command meets it.
//  2. versions holds the latest version of every title, which count from 1.
type Room struct {
	id       hub.RoomID
	seats    map[hub.AgentID]StoredSeat
	invites  map[hub.InviteID]StoredInvite
	versions map[string]int64
}

// NewRoom returns the state of a room that has nothing stored.
func NewRoom(id hub.RoomID) *Room {
	return &Room{
		id: id, seats: map[hub.AgentID]StoredSeat{}, invites: map[hub.InviteID]StoredInvite{},
		versions: map[string]int64{},
	}
}

// RestoreSeat adds a stored seat to a state that is being loaded.
func (r *Room) RestoreSeat(s StoredSeat) { r.seats[s.AgentID] = s }

// RestoreInvite adds a stored invite to a state that is being loaded. An ended
// invite is left out.
func (r *Room) RestoreInvite(i StoredInvite) {
	if i.State == hub.InviteActive {
		r.invites[i.InviteID] = i
	}
}

// RestoreTitle adds the latest version of a title to a state that is being
// loaded.
func (r *Room) RestoreTitle(title string, latest int64) { r.versions[title] = latest }

// Apply changes the state by one fact. Applying a fact twice has the same
// effect as once.
func (r *Room) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *DecisionAdded:
		seq := SeqKey(at.Seq)
		rows.Put(TableDecision, seq, mustJSON(f.row(r.id, at)))
		rows.Put(TableDecisionByRoom, OwnedKey(r.id, seq), nil)
	case *ArtifactAdded:
		r.addArtifact(f, at, rows)
	case *InviteCreated:
		r.invited(f, at, rows)
	case *InviteUsed:
		r.use(f, rows)
	case *InviteEnded:
		r.end(f, rows)
	case *SeatTaken:
		r.sit(f.seat(r.id, at), rows)
	case *SeatMoved:
		r.move(f, rows)
	case *SeatFreed:
		r.free(f, rows)
	default:
		panic(fmt.Sprintf("core: a room was given the fact %T", f))
	}
}

// tells returns a message in the room's channel from actor a, or from the hub
// if a names no agent.
func (r *Room) tells(a TaskActor, kind hub.Kind) MessageDraft {
	m := MessageDraft{
		From: a.Agent, Channel: r.id.Channel(), Kind: kind, Room: r.id,
		Authority: a.Authority, Assurance: a.Assurance,
	}
	if a.Agent == "" {
		m.From, m.Authority, m.Assurance = hub.AgentSystem, hub.AuthoritySystem, hub.AssuranceSession
	}
	return m
}

// naming returns metadata with one member, the id of a thing.
func naming(member, id string) json.RawMessage { return mustJSON(map[string]string{member: id}) }

func errRoomFull(what string, limit int) error {
	return hub.NewError(hub.CodeRoomFull, "the room has no place for more "+what).
		With("limit", limit).WithFix("use another room; " + strconv.Itoa(limit) + " is the most that one holds")
}
