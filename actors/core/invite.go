package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"hubcli/hub"
)

// StoredInvite is an invite as stored: its row without the code, and the nonce
// from which the code is computed. State is active until the invite is used up,
// is revoked, or a command meets it after its deadline.
type StoredInvite struct {
	hub.Invite
	Nonce      string      `json:"nonce"`
	DeadlineMS int64       `json:"deadline_ms"` // hub time
	By         hub.AgentID `json:"by,omitempty"`
}

// InviteCreated records a new invite to the room. The code itself is not
// stored: it is computed from Nonce and looked up by CodeHash.
type InviteCreated struct {
	Nonce      string        `json:"nonce"`
	CodeHash   []byte        `json:"code_hash"`
	Project    hub.ProjectID `json:"project"`
	Role       string        `json:"role,omitempty"`
	Handle     hub.AgentID   `json:"handle,omitempty"`
	Harness    string        `json:"harness,omitempty"`
	TTLSec     int           `json:"ttl_sec"`
	MaxUses    int           `json:"max_uses"`
	By         hub.AgentID   `json:"by,omitempty"`
	DeadlineMS int64         `json:"deadline_ms"` // hub time
}

// InviteUsed says that an invite has now been accepted Uses times.
type InviteUsed struct {
	Invite hub.InviteID `json:"invite"`
	Uses   int          `json:"uses"`
}

// InviteEnded says that an invite can no longer be accepted: it has expired or
// was revoked.
type InviteEnded struct {
	Invite hub.InviteID    `json:"invite"`
	State  hub.InviteState `json:"state"`
}

// FactType implements Fact.
func (*InviteCreated) FactType() FactType { return factInviteCreated }

// FactType implements Fact.
func (*InviteUsed) FactType() FactType { return factInviteUsed }

// FactType implements Fact.
func (*InviteEnded) FactType() FactType { return factInviteEnded }

// Shown returns the row as of now. An invite whose deadline has passed is shown
// as expired even if no command has met it yet.
func (i *StoredInvite) Shown(now Now) hub.Invite {
	row := i.Invite
	switch {
	case row.State != hub.InviteActive:
	case i.over(now):
		row.State = hub.InviteExpired
	default: // downtime does not count
		row.ExpiresAt = now.Wall + hub.Time(i.DeadlineMS-now.HubMS)
	}
	return row
}

func (i *StoredInvite) over(now Now) bool { return now.HubMS >= i.DeadlineMS }

// InviteKey is the key of an invite among those of its room.
func InviteKey(room hub.RoomID, id hub.InviteID) []byte {
	seq, _ := SeqOf(PrefixInvite, string(id))
	return OwnedKey(room, SeqKey(seq))
}

// InviteCommand asks for an invite. Its input has been checked and has its
// defaults.
type InviteCommand struct {
	In       hub.InviteInput
	Project  hub.ProjectID
	Nonce    string
	CodeHash []byte
}

// maxExpiries is how many invites one record may end.
const maxExpiries = 500

// Invite decides a new invite to the room. Error: room_full.
func (r *Room) Invite(c InviteCommand, now Now) (Decision[StoredInvite], error) {
	facts := r.expire(now)
	if len(r.invites)-len(facts) >= hub.MaxRoomInvites {
		return Decision[StoredInvite]{}, errRoomFull("invites that are active", hub.MaxRoomInvites)
	}
	fact := &InviteCreated{
		Nonce: c.Nonce, CodeHash: c.CodeHash, Project: c.Project,
		Role: c.In.Role, Handle: c.In.Handle, Harness: c.In.Harness, TTLSec: c.In.TTLSec, MaxUses: c.In.MaxUses,
		By: c.In.By, DeadlineMS: now.HubMS + int64(c.In.TTLSec)*1000,
	}
	return Decision[StoredInvite]{
		Draft:  Draft{Facts: append(facts, fact)},
		Answer: func(at Position) StoredInvite { return fact.invite(r.id, at) },
	}, nil
}

// Expire decides the end of the invites whose deadline has passed.
func (r *Room) Expire(now Now) Draft { return Draft{Facts: r.expire(now)} }

func (r *Room) expire(now Now) (facts []Fact) {
	var over []hub.InviteID
	for id, i := range r.invites {
		if i.over(now) {
			over = append(over, id)
		}
	}
	slices.Sort(over)
	for _, id := range over[:min(len(over), maxExpiries)] {
		facts = append(facts, &InviteEnded{Invite: id, State: hub.InviteExpired})
	}
	return facts
}

// Revoke decides the end of an active invite. Error: ErrNotLive if it is not
// active; the stored row has its state then.
func (r *Room) Revoke(id hub.InviteID, now Now) (Decision[StoredInvite], error) {
	i, ok := r.invites[id]
	if !ok {
		return Decision[StoredInvite]{}, ErrNotLive
	}
	i.State = hub.InviteRevoked
	if i.over(now) {
		i.State = hub.InviteExpired
	}
	return Decision[StoredInvite]{
		Draft:  Draft{Facts: []Fact{&InviteEnded{Invite: id, State: i.State}}},
		Answer: func(Position) StoredInvite { return i },
	}, nil
}

// AcceptCommand asks for a seat with an invite.
type AcceptCommand struct {
	Invite hub.InviteID
	Agent  hub.AgentID // the requested id; empty: none was requested, Wanted is a suggestion
	Wanted hub.AgentID // where Agent is empty
	// Known says that the call may use the seat that Agent already has.
	Known   bool
	Harness string // empty: the invite's
	// Taken reports whether an id outside the room belongs to another agent.
	Taken func(hub.AgentID) bool
	// Gone reports whether an agent has no live session.
	Gone func(hub.AgentID) bool
}

// Accepted is the seat of an accepted invite.
type Accepted struct {
	Seat   StoredSeat  `json:"seat"`
	Wanted hub.AgentID `json:"wanted"` // the requested or suggested id
}

// Accept decides a seat. An agent that has joined keeps its seat and uses up no
// use of the invite. A seat that it got by acting in the room is replaced by
// the new one. In a full room another seat is freed; see makesRoom. Errors:
// ErrNotLive if the invite is not active, invite_expired, room_full. The caller
// must have the end of an expired invite decided before it answers.
func (r *Room) Accept(c AcceptCommand, now Now) (Decision[Accepted], error) {
	invite, ok := r.invites[c.Invite]
	switch {
	case !ok:
		return Decision[Accepted]{}, ErrNotLive
	case invite.over(now):
		return Decision[Accepted]{}, RefuseInvite(hub.InviteExpired)
	}
	wanted := cmp.Or(c.Agent, c.Wanted)
	mine, seated := r.seats[c.Agent]
	acting := seated && mine.Acting()
	if seated && !acting && c.Known {
		return Decision[Accepted]{Answer: func(Position) Accepted { return Accepted{Seat: mine, Wanted: wanted} }}, nil
	}
	facts := []Fact{&InviteUsed{Invite: c.Invite, Uses: invite.Uses + 1}}
	way := hub.AgentID("")
	if acting {
		way = c.Agent
	}
	agent, err := r.freeName(wanted, way, c.Taken)
	if err != nil {
		return Decision[Accepted]{}, err
	}
	left := ""
	switch {
	case agent == way:
		facts = append(facts, &SeatFreed{Agent: mine.AgentID, Seat: mine.SeatID})
	case len(r.seats) >= hub.MaxRoomSeats:
		seat, ok := r.makesRoom(c.Gone, now)
		if !ok {
			return Decision[Accepted]{}, errRoomFull("seats", hub.MaxRoomSeats)
		}
		facts = append(facts, &SeatFreed{Agent: seat.AgentID, Seat: seat.SeatID})
		if !seat.Acting() {
			left = fmt.Sprintf("; %s, who is gone, has made room", seat.AgentID)
		}
	}
	fact := &SeatTaken{Agent: agent, Role: invite.Role, Harness: cmp.Or(c.Harness, invite.Harness), Invite: c.Invite}
	notice := r.tells(TaskActor{}, hub.KindNotice)
	notice.Body = string(agent) + " joined"
	if fact.Role != "" {
		notice.Body += fmt.Sprintf(" as %q", fact.Role) // text of another agent; quoting keeps it on one line
	}
	notice.Body += left
	notice.Numbered = func(m *MessageDraft, at Position) { m.Metadata = naming("seat", IDAt(PrefixSeat, at.Seq)) }
	return Decision[Accepted]{
		Draft:  Draft{Facts: append(facts, fact), Messages: []MessageDraft{notice}},
		Answer: func(at Position) Accepted { return Accepted{Seat: fact.seat(r.id, at), Wanted: wanted} },
	}, nil
}

// Move decides another name for a seat whose name turned out to belong to
// another agent. A seat that has already moved stays. Error: ErrNotLive if
// there is no such seat.
func (r *Room) Move(id hub.SeatID, from, wanted hub.AgentID, taken func(hub.AgentID) bool) (Decision[StoredSeat], error) {
	seat, ok := r.seats[from]
	if !ok || seat.SeatID != id {
		for _, s := range r.seats {
			if s.SeatID == id {
				return Decision[StoredSeat]{Answer: func(Position) StoredSeat { return s }}, nil
			}
		}
		return Decision[StoredSeat]{}, ErrNotLive
	}
	name, err := r.freeName(wanted, "", taken)
	if err != nil {
		return Decision[StoredSeat]{}, err
	}
	seat.AgentID = name
	notice := r.tells(TaskActor{}, hub.KindNotice)
	notice.Body = fmt.Sprintf("%s is the new name of the agent that joined as %s, which is the name of another agent", name, from)
	notice.Metadata = naming("seat", string(id))
	return Decision[StoredSeat]{
		Draft:  Draft{Facts: []Fact{&SeatMoved{From: from, Seat: seat}}, Messages: []MessageDraft{notice}},
		Answer: func(Position) StoredSeat { return seat },
	}, nil
}

// maxNames is how many names are tried.
const maxNames = 2 * hub.MaxRoomSeats

// freeName returns wanted, or wanted with the lowest suffix number that gives a
// name without a seat and not taken. The seat of agent way does not count.
func (r *Room) freeName(wanted, way hub.AgentID, taken func(hub.AgentID) bool) (hub.AgentID, error) {
	name := wanted
	for n := 2; n <= maxNames; n++ {
		if _, seated := r.seats[name]; (!seated || name == way) && !taken(name) {
			return name, nil
		}
		suffix := "-" + strconv.Itoa(n)
		name = wanted[:min(len(wanted), hub.MaxAgentIDBytes-len(suffix))] + hub.AgentID(suffix)
	}
	return "", hub.Errorf(hub.CodeInvalid, "%s and the names like it are taken", wanted).
		With("field", "agent_id").WithFix("join under another agent_id")
}

// RefuseInvite returns the error for an invite that cannot be accepted in this
// state.
func RefuseInvite(state hub.InviteState) error {
	const fix = "ask for a new invite"
	switch state {
	case hub.InviteExhausted:
		return hub.NewError(hub.CodeInviteExhausted, "the invite has been accepted as often as it may be").WithFix(fix)
	case hub.InviteRevoked:
		return hub.NewError(hub.CodeInviteRevoked, "the invite was revoked").WithFix(fix)
	case hub.InviteExpired, hub.InviteActive:
	}
	return hub.NewError(hub.CodeInviteExpired, "the invite has expired").WithFix(fix)
}

// invite returns the invite that the fact creates at a position.
func (f *InviteCreated) invite(room hub.RoomID, at Position) StoredInvite {
	return StoredInvite{
		Invite: hub.Invite{
			InviteID: hub.InviteID(IDAt(PrefixInvite, at.Seq)), ProjectID: f.Project, RoomID: room,
			Role: f.Role, Handle: f.Handle, Harness: f.Harness, TTLSec: f.TTLSec, MaxUses: f.MaxUses,
			State: hub.InviteActive, CreatedAt: at.Now.Wall, ExpiresAt: at.Now.Wall + hub.Time(f.TTLSec)*1000,
		},
		Nonce: f.Nonce, DeadlineMS: f.DeadlineMS, By: f.By,
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
