package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"hubcli/hub"
)

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

// InviteCommand asks for an invite. Its input has been checked and has its
// defaults.
type InviteCommand struct {
	In       hub.InviteInput
	Project  hub.ProjectID
	Nonce    string
	CodeHash []byte
	By       Standing // of the agent that makes it
	Proved   bool     // the call proves the session of that agent, or is the operator's
}

// maxExpiries is how many invites one record may end.
const maxExpiries = 500

// Invite decides a new invite to the room. Error: room_full.
func (r *Room) Invite(c InviteCommand, now Now) (Decision[StoredInvite], error) {
	facts := r.expire(now)
	if err := r.placeForInvite(c.In.By, c.By, facts); err != nil {
		return Decision[StoredInvite]{}, err
	}
	fact := &InviteCreated{
		Nonce: c.Nonce, CodeHash: c.CodeHash, Project: c.Project,
		Role: c.In.Role, Handle: c.In.Handle, Harness: c.In.Harness, TTLSec: c.In.TTLSec, MaxUses: c.In.MaxUses,
		By: c.In.By, Proved: c.Proved, DeadlineMS: now.HubMS + int64(c.In.TTLSec)*1000,
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
	return answering(i, &InviteEnded{Invite: id, State: i.State}), nil
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
	// Standing returns what the hub knows of the agent that made the invite, and which it
	// proved then or not.
	Standing func(maker hub.AgentID, proved bool) Standing
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
	default:
		freed, err := r.placeForSeat(&invite, &c, now)
		if err != nil {
			return Decision[Accepted]{}, err
		}
		if freed != nil {
			facts = append(facts, &SeatFreed{Agent: freed.AgentID, Seat: freed.SeatID})
			if !freed.Acting() {
				left = fmt.Sprintf("; %s, who is gone, has made room", freed.AgentID)
			}
		}
	}
	fact := &SeatTaken{Agent: agent, Role: invite.Role, Harness: cmp.Or(c.Harness, invite.Harness), Invite: c.Invite, By: invite.By}
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
				return answering(s), nil
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
	d := answering(seat, &SeatMoved{From: from, Seat: seat})
	d.Messages = []MessageDraft{notice}
	return d, nil
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
