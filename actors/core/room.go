package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"hubcli/hub"
)

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
	titles   int // bytes of all titles in versions
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
func (r *Room) RestoreTitle(title string, latest int64) {
	if _, known := r.versions[title]; !known {
		r.titles += len(title)
	}
	r.versions[title] = latest
}

// Weight implements Weighed.
func (r *Room) Weight() int {
	const seat, invite, version = 512, 768, 64 // bytes of each besides a title
	return seat*len(r.seats) + invite*len(r.invites) + version*len(r.versions) + r.titles
}

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
		r.sit(f.seat(r.id, at), at, rows)
	case *SeatMoved:
		r.move(f, at, rows)
	case *SeatFreed:
		r.free(f, at, rows)
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

// sit adds a seat to the state and writes its rows. The list of an agent's
// rooms holds those that it has joined, not those in which it only acts.
func (r *Room) sit(s StoredSeat, at Position, rows RowSink) {
	r.noteEnd(s.AgentID, s.SeatID, at, rows)
	r.seats[s.AgentID] = s
	rows.Put(TableSeat, SeatKey(r.id, s.AgentID), mustJSON(s))
	if s.Acting() {
		return
	}
	rows.Put(TableSeatByAgent, SeatByAgentKey(s.AgentID, s.SeatID), []byte(r.id))
}

// noteEnd writes the row of a seat that an agent has no longer, if it has one other than
// next. The row says what the room was like before.
func (r *Room) noteEnd(agent hub.AgentID, next hub.SeatID, at Position, rows RowSink) {
	if was, ok := r.seats[agent]; ok && was.SeatID != next {
		rows.Put(TableSeatEnded, SeatEndedKey(r.id, at.Seq, agent), mustJSON(was))
	}
}

// move applies SeatMoved.
func (r *Room) move(f *SeatMoved, at Position, rows RowSink) {
	r.noteEnd(f.From, "", at, rows)
	delete(r.seats, f.From)
	rows.Put(TableSeat, SeatKey(r.id, f.From), nil)
	rows.Put(TableSeatByAgent, SeatByAgentKey(f.From, f.Seat.SeatID), nil)
	r.sit(f.Seat, at, rows)
}

// free applies SeatFreed.
func (r *Room) free(f *SeatFreed, at Position, rows RowSink) {
	seat := r.seats[f.Agent]
	if seat.SeatID != f.Seat || !seat.Acting() {
		rows.Put(TableSeatByAgent, SeatByAgentKey(f.Agent, f.Seat), nil)
	}
	if seat.SeatID == f.Seat {
		r.noteEnd(f.Agent, "", at, rows)
		delete(r.seats, f.Agent)
		rows.Put(TableSeat, SeatKey(r.id, f.Agent), nil)
	}
}

// invited applies InviteCreated.
func (r *Room) invited(f *InviteCreated, at Position, rows RowSink) {
	i := f.invite(r.id, at)
	r.putInvite(i, rows)
	rows.Put(TableInviteCode, f.CodeHash, InviteKey(r.id, i.InviteID))
	rows.Put(TableInviteRoom, SeqKey(at.Seq), []byte(r.id))
}

// use applies InviteUsed.
func (r *Room) use(f *InviteUsed, rows RowSink) {
	i, ok := r.invites[f.Invite]
	if !ok {
		return // applied before
	}
	if i.Uses = f.Uses; i.Uses >= i.MaxUses {
		i.State = hub.InviteExhausted
	}
	r.putInvite(i, rows)
}

// end applies InviteEnded.
func (r *Room) end(f *InviteEnded, rows RowSink) {
	i, ok := r.invites[f.Invite]
	if !ok {
		return // applied before
	}
	i.State = f.State
	r.putInvite(i, rows)
}

// putInvite keeps an invite while it is active and writes its row. It also
// writes the list of active invites if that changes. Loading a room reads that
// list, so the cost does not grow with the number of past invites.
func (r *Room) putInvite(i StoredInvite, rows RowSink) {
	_, was := r.invites[i.InviteID]
	is := i.State == hub.InviteActive
	if is {
		r.invites[i.InviteID] = i
	} else {
		delete(r.invites, i.InviteID)
	}
	rows.Put(TableInvite, InviteKey(r.id, i.InviteID), mustJSON(i))
	if was != is && rows != nil {
		rows.Put(TableInvitesActive, []byte(r.id), mustJSON(slices.Sorted(maps.Keys(r.invites))))
	}
}

// addArtifact applies ArtifactAdded.
func (r *Room) addArtifact(f *ArtifactAdded, at Position, rows RowSink) {
	row, seq := f.row(r.id, at), SeqKey(at.Seq)
	r.RestoreTitle(f.Title, f.Version)
	rows.Put(TableArtifact, seq, mustJSON(row))
	rows.Put(TableArtifactByRoom, OwnedKey(r.id, seq), nil)
	rows.Put(TableArtifactTitle, OwnedKey(r.id, []byte(f.Title)), mustJSON(LatestArtifact{f.Version, row.ArtifactID}))
}
