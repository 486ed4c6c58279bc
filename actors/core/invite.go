package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"hubcli/hub"
)

// StoredInvite is an invite as stored: its row without the code, and what the
// code is rendered from. State is active until an invite is used up, revoked or
// met after its deadline.
type StoredInvite struct {
	hub.Invite
	Nonce      string      `json:"nonce"`
	DeadlineMS int64       `json:"deadline_ms"` // hub time
	By         hub.AgentID `json:"by,omitempty"`
}

// InviteCreated says that an invite leads to the room. The code itself is nowhere:
// it is rendered from Nonce, and found by CodeHash.
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

// InviteUsed says that an invite has been accepted Uses times now.
type InviteUsed struct {
	Invite hub.InviteID `json:"invite"`
	Uses   int          `json:"uses"`
}

// InviteEnded says that an invite cannot be accepted any more: expired or
// revoked.
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

// Shown returns the row that is answered at a time. An invite whose deadline has
// passed is expired, whether a command has met it or not.
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

// InviteCommand asks for an invite; its input is checked and has its defaults.
type InviteCommand struct {
	In       hub.InviteInput
	Project  hub.ProjectID
	Nonce    string
	CodeHash []byte
}

// maxExpiries is how many invites one record may end.
const maxExpiries = 500

// Invite decides that an invite leads to the room. room_full.
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

// Revoke decides the end of an invite that is active. ErrNotLive if it is not:
// its stored row says what it is.
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

// AcceptCommand asks for a seat by an invite.
type AcceptCommand struct {
	Invite hub.InviteID
	Agent  hub.AgentID // the id that was asked for; empty: none, Wanted is a suggestion
	Wanted hub.AgentID // where Agent is empty
	// Known says that the call may take the seat that Agent has already.
	Known   bool
	Harness string // empty: the invite's
	// Taken says whether an id is somebody else's outside the room.
	Taken func(hub.AgentID) bool
	// Gone says whether an agent has no live session.
	Gone func(hub.AgentID) bool
}

// Accepted is the seat of an accepted invite.
type Accepted struct {
	Seat   StoredSeat  `json:"seat"`
	Wanted hub.AgentID `json:"wanted"` // the id that was asked for or suggested
}

// Accept decides a seat. The agent that has joined keeps its seat and uses nothing
// up; a seat that it has for what it does makes way for the one that it joins by. In a
// full room another makes room; see makesRoom. ErrNotLive if the invite is not active, invite_expired, room_full. The caller
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
		notice.Body += fmt.Sprintf(" as %q", fact.Role) // a stranger's text, which stays one line
	}
	notice.Body += left
	notice.Numbered = func(m *MessageDraft, at Position) { m.Metadata = naming("seat", IDAt(PrefixSeat, at.Seq)) }
	return Decision[Accepted]{
		Draft:  Draft{Facts: append(facts, fact), Messages: []MessageDraft{notice}},
		Answer: func(at Position) Accepted { return Accepted{Seat: fact.seat(r.id, at), Wanted: wanted} },
	}, nil
}

// Move decides another name for a seat whose name turned out to be somebody
// else's. A seat that has moved already stays. ErrNotLive if there is none.
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
	notice.Body = fmt.Sprintf("%s is the name of who joined as %s, which is another agent's", name, from)
	notice.Metadata = naming("seat", string(id))
	return Decision[StoredSeat]{
		Draft:  Draft{Facts: []Fact{&SeatMoved{From: from, Seat: seat}}, Messages: []MessageDraft{notice}},
		Answer: func(Position) StoredSeat { return seat },
	}, nil
}

// maxNames is how many names are tried.
const maxNames = 2 * hub.MaxRoomSeats

// freeName returns wanted, or wanted with the lowest number behind it that makes
// a name which no seat has and which is not taken. The seat of way makes way.
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

// RefuseInvite returns why an invite in this state cannot be accepted.
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

// invite returns what the fact makes at a position.
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

// putInvite keeps an invite while it is active and gives its row, and the list of
// those that are active where that changes: by it a room is loaded, however many
// invites it has had.
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
