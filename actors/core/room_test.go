package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// roomRig is a room, its stored rows and its time.
type roomRig struct {
	t    *rapid.T
	room *core.Room
	rows map[string][]byte // table and key → value
	at   core.Position
}

const rigRoom hub.RoomID = "r_1"

func (r *roomRig) now() core.Now { return r.at.Now }

// commit numbers a draft and applies its facts as the journal gives them back.
func (r *roomRig) commit(d core.Draft) core.Position {
	r.at.Seq++
	at := r.at
	for _, f := range d.Facts {
		decoded, err := core.DecodeFact(core.EncodeFact(f))
		require.NoError(r.t, err)
		r.room.Apply(decoded, at, func(row core.Row) {
			r.rows[fmt.Sprintf("%02d/%s", row.Table, row.Key)] = row.Value
		})
	}
	for i := range d.Messages {
		if m := d.Messages[i]; m.Numbered != nil {
			m.Numbered(&m, at)
			if !json.Valid(m.Metadata) {
				r.t.Fatalf("metadata %s", m.Metadata)
			}
		}
	}
	return at
}

// loaded is the state made of the stored rows.
func (r *roomRig) loaded() *core.Room {
	room := core.NewRoom(rigRoom)
	decode := func(value []byte, into any) {
		require.NoError(r.t, json.Unmarshal(value, into))
	}
	for key, value := range r.rows {
		table, rest := key[:2], strings.TrimPrefix(key[3:], string(rigRoom)+"\x00")
		switch {
		case len(value) == 0:
		case table == fmt.Sprint(core.TableSeat):
			var s core.StoredSeat
			decode(value, &s)
			room.RestoreSeat(s)
		case table == fmt.Sprint(core.TableInvitesActive):
			var active []hub.InviteID
			decode(value, &active)
			for _, id := range active {
				var i core.StoredInvite
				decode(r.rows[fmt.Sprintf("%02d/%s", core.TableInvite, core.InviteKey(rigRoom, id))], &i)
				if i.State != hub.InviteActive {
					r.t.Fatalf("invite %s stands among the active ones", id)
				}
				room.RestoreInvite(i)
			}
		case table == fmt.Sprint(core.TableArtifactTitle):
			var l core.LatestArtifact
			decode(value, &l)
			room.RestoreTitle(rest, l.Version)
		}
	}
	return room
}

// TestRoomIsItsRows: whatever was decided, the state that is loaded from the
// rows is the state that was live, and an invite never gives more seats than it
// may, none after its end.
func TestRoomIsItsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &roomRig{t: t, room: core.NewRoom(rigRoom), rows: map[string][]byte{}}
		agents := []hub.AgentID{"a", "b", "c", "a-2"}
		var invites []core.StoredInvite
		given := map[hub.InviteID]int{}
		over := map[hub.InviteID]bool{}
		pick := func() core.StoredInvite { return rapid.SampledFrom(invites).Draw(t, "invite") }
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if got := r.loaded(); !reflect.DeepEqual(got, r.room) {
					t.Fatalf("loaded %+v\nlive   %+v", got, r.room)
				}
			},
			"wait": func(t *rapid.T) { r.at.Now.HubMS += rapid.Int64Range(0, 1500).Draw(t, "ms") },
			"invite": func(t *rapid.T) {
				n := len(invites)
				d, err := r.room.Invite(core.InviteCommand{
					In:    hub.InviteInput{MaxUses: rapid.IntRange(1, 3).Draw(t, "uses"), TTLSec: rapid.IntRange(1, 3).Draw(t, "ttl")},
					Nonce: fmt.Sprint(n), CodeHash: []byte(fmt.Sprint("h", n)), Proved: n%2 == 0,
				}, r.now())
				require.NoError(t, err)
				invites = append(invites, d.Answer(r.commit(d.Draft)))
			},
			"accept": func(t *rapid.T) {
				if len(invites) == 0 {
					t.Skip()
				}
				i, asked := pick(), rapid.SampledFrom(append(slices.Clone(agents), "")).Draw(t, "asked")
				taken := rapid.SampledFrom(agents).Draw(t, "taken")
				d, err := r.room.Accept(core.AcceptCommand{
					Invite: i.InviteID, Agent: asked, Wanted: "guest", Known: rapid.Bool().Draw(t, "known"),
					Taken: func(id hub.AgentID) bool { return id == taken }, Standing: proved,
				}, r.now())
				expired := r.now().HubMS >= i.DeadlineMS
				if refuse := expired || over[i.InviteID] || given[i.InviteID] == i.MaxUses; refuse != (err != nil) {
					t.Fatalf("accepted %v at %d with %d of %d given, deadline %d: %v", err == nil, r.now().HubMS, given[i.InviteID], i.MaxUses, i.DeadlineMS, err)
				}
				if err != nil {
					return
				}
				if !d.Empty() {
					given[i.InviteID]++
				}
				if got := d.Answer(r.commit(d.Draft)); !d.Empty() && got.Seat.AgentID == taken {
					t.Fatalf("%s got a name that is taken", got.Seat.AgentID)
				}
			},
			"revoke": func(t *rapid.T) {
				if len(invites) == 0 {
					t.Skip()
				}
				i := pick()
				d, err := r.room.Revoke(i.InviteID, r.now())
				if err != nil && !errors.Is(err, core.ErrNotLive) {
					t.Fatal(err)
				}
				over[i.InviteID] = true
				if err == nil {
					r.commit(d.Draft)
				}
			},
			"expire": func(*rapid.T) { r.commit(r.room.Expire(r.now())) },
			"move": func(t *rapid.T) {
				from := rapid.SampledFrom(agents).Draw(t, "from")
				seat, ok := r.rows[fmt.Sprintf("%02d/%s", core.TableSeat, core.SeatKey(rigRoom, from))]
				if !ok || len(seat) == 0 {
					t.Skip()
				}
				var s core.StoredSeat
				require.NoError(t, json.Unmarshal(seat, &s))
				d, err := r.room.Move(s.SeatID, from, from, func(id hub.AgentID) bool { return id == from })
				require.NoError(t, err)
				r.commit(d.Draft)
			},
			"artifact": func(t *rapid.T) {
				d, err := r.room.AddArtifact(core.ArtifactCommand{Title: rapid.SampledFrom([]string{"x", "x y"}).Draw(t, "title"), Content: []byte{}}, core.TaskActor{})
				require.NoError(t, err)
				r.commit(d.Draft)
			},
			"decision": func(*rapid.T) { r.commit(r.room.AddDecision(hub.DecisionInput{Title: "t"}, core.TaskActor{}).Draft) },
		})
	})
}

// TestRoomFactsTwice: a fact that is applied again, as after a crash in the
// middle of a rebuild, changes nothing more.
func TestRoomFactsTwice(t *testing.T) {
	room := core.NewRoom(rigRoom)
	at := core.Position{Seq: 9}
	facts := []core.Fact{
		&core.InviteCreated{Nonce: "n", CodeHash: []byte("h"), MaxUses: 2, TTLSec: 9, DeadlineMS: 9000},
		&core.InviteUsed{Invite: "i_9", Uses: 1},
		&core.SeatTaken{Agent: "a", Invite: "i_9"},
		&core.SeatMoved{From: "a", Seat: core.StoredSeat{SeatID: "seat_9", RoomID: rigRoom, AgentID: "b"}},
		&core.SeatFreed{Agent: "b", Seat: "seat_9"},
		&core.ArtifactAdded{Title: "t", Version: 1},
		&core.InviteEnded{Invite: "i_9", State: hub.InviteRevoked},
	}
	for _, f := range facts {
		room.Apply(f, at, nil)
		once := fmt.Sprintf("%+v", room)
		room.Apply(f, at, nil)
		if twice := fmt.Sprintf("%+v", room); once != twice {
			t.Errorf("%T once:  %s\ntwice: %s", f, once, twice)
		}
	}
}

// proved says of each agent that the hub knows it well.
func proved(hub.AgentID, bool) core.Standing { return core.StandingProved }

// TestFullRoomMakesRoom: an agent that joins gets the oldest seat of an agent
// that is gone. A new seat is not freed, and if no seat can be freed the room
// is full.
func TestFullRoomMakesRoom(t *testing.T) {
	room := core.NewRoom(rigRoom)
	at := core.Position{Seq: 1}
	room.Apply(&core.InviteCreated{MaxUses: 3, DeadlineMS: 1 << 40}, at, nil)
	for i := range hub.MaxRoomSeats {
		at.Seq, at.Now.Wall = at.Seq+1, hub.Time(i)
		room.Apply(&core.SeatTaken{Agent: hub.AgentID(fmt.Sprint("a", i)), Invite: "i_1"}, at, nil)
	}
	command := core.AcceptCommand{
		Invite: "i_1", Agent: "new", Known: true, Taken: func(hub.AgentID) bool { return false },
		Gone: func(id hub.AgentID) bool { return id == "a7" || id == "a500" }, Standing: proved,
	}
	now := core.Now{Wall: 59_000}
	for _, want := range []struct {
		gone hub.AgentID
		wall hub.Time
	}{{"", 60_006}, {"a7", 60_500}, {"a500", 60_500}, {"", 1 << 40}} {
		now.Wall = want.wall
		command.Agent = "new-" + want.gone
		d, err := room.Accept(command, now)
		if want.gone == "" {
			if !errors.Is(err, &hub.Error{Code: hub.CodeRoomFull}) {
				t.Errorf("at %d: %v", now.Wall, err)
			}
			continue
		}
		require.NoError(t, err)
		freed, ok := d.Draft.Facts[1].(*core.SeatFreed)
		if !ok || freed.Agent != want.gone || !strings.Contains(d.Draft.Messages[0].Body, string(want.gone)+", who is gone, has made room") {
			t.Errorf("at %d: %+v, %q", now.Wall, d.Draft.Facts[1], d.Draft.Messages[0].Body)
		}
		at.Seq, at.Now = at.Seq+1, now
		for _, f := range d.Draft.Facts {
			room.Apply(f, at, nil)
		}
	}
}
