package actors

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/require"
)

// readAll reads as a bridge does: from where the hub says, page by page, and confirms each page
// with the next call.
func (r *rig) readAll(agent hub.AgentID, room hub.RoomID) (ids []hub.MessageID) {
	r.t.Helper()
	a, err := r.Attention(r.t.Context(), hub.AttentionQuery{Agent: agent, Room: room})
	require.NoError(r.t, err)
	for since := a.ReadFrom; ; {
		page, err := r.Events(r.t.Context(), hub.EventsQuery{Agent: agent, RoomID: room, Since: since, ExcludeSelf: true, Limit: 3})
		require.NoError(r.t, err)
		for _, m := range decodeAll(r.t, page.Rows) {
			ids = append(ids, m.ID)
		}
		if len(page.Rows) == 0 {
			return ids
		}
		since = page.NextSinceID
	}
}

// TestUnreadIsWhatTheNextReadGives: whatever a team does, the messages that the hub counts as
// unread come with the next read, once, and nothing is unread then. What was said in a room
// before an agent registered is no news to it; what was said to it alone is.
func TestUnreadIsWhatTheNextReadGives(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 35))
			store := newMemStore()
			r := start(t, store)
			rooms := []hub.Room{r.newRoom("one"), r.newRoom("two")}
			agents := names[hub.AgentID]("agent-", 4)
			home := map[hub.AgentID]hub.RoomID{}
			since := map[hub.AgentID]hub.MessageID{} // the head when it registered
			given := map[hub.AgentID]map[hub.MessageID]bool{}
			for range 60 {
				time.Sleep(2 * time.Millisecond)
				agent := agents[random.IntN(len(agents))]
				room := rooms[random.IntN(len(rooms))]
				_, known := home[agent]
				switch random.IntN(9) {
				case 0, 1:
					if !known {
						since[agent], home[agent], given[agent] = r.view.Ring.Visible(), room.RoomID, map[hub.MessageID]bool{}
						r.register(agent)
					}
				case 2, 3:
					r.say("talker", room.Channel, "news")
				case 4:
					r.post(hub.PostInput{FromAgent: "talker", ToAgent: agent, Body: "for you"})
				case 5:
					if head := r.view.Ring.Visible(); head > 0 && known {
						_, _ = r.tryPost(t.Context(), hub.PostInput{FromAgent: agent, Channel: room.Channel, ReplyTo: 1 + hub.MessageID(random.IntN(int(head))), Body: "reply"})
					}
				case 6:
					if random.IntN(3) == 0 {
						r = start(t, r.crash())
						continue
					}
				default:
					if known {
						compareReading(t, r, seed, agent, home[agent], since[agent], given[agent])
					}
				}
			}
			for agent, room := range home {
				compareReading(t, r, seed, agent, room, since[agent], given[agent])
			}
			r.stop()
		})
	}
}

// compareReading has an agent read its room, and compares that with what was unread.
func compareReading(t *testing.T, r *rig, seed uint64, agent hub.AgentID, room hub.RoomID, begun hub.MessageID, given map[hub.MessageID]bool) {
	t.Helper()
	u := r.view.UnreadOf(agent)
	var unread []hub.MessageID
	count, err := r.view.CountUnread(&u, room)
	require.NoError(t, err)
	for id := hub.MessageID(1); id <= u.Head; id++ {
		m, err := r.view.Message(id)
		require.NoError(t, err)
		if of, _ := m.Channel.Room(); u.Keeps(m) && (m.To != "" || of == room) {
			unread = append(unread, id)
			if m.To == "" && id <= begun {
				t.Errorf("seed %d: %s is told of %d, and registered at %d", seed, agent, id, begun)
			}
		}
	}
	if count != len(unread) {
		t.Errorf("seed %d: %s has %d unread, and the hub counts %d", seed, agent, len(unread), count)
	}
	read := map[hub.MessageID]bool{}
	for _, id := range r.readAll(agent, room) {
		if read[id] {
			t.Errorf("seed %d: %s reads %d twice", seed, agent, id)
		}
		read[id] = true
	}
	for _, id := range unread {
		if !read[id] {
			t.Errorf("seed %d: %s is told that %d is unread, and does not read it: %v", seed, agent, id, fmt.Sprint(read))
		}
		given[id] = true
	}
	if left, err := r.view.CountUnread(ptr(r.view.UnreadOf(agent)), room); err != nil || left != 0 {
		t.Errorf("seed %d: %s has read all, and %d are unread, %v", seed, agent, left, err)
	}
}

// TestReadingBeginsBeforeWhatIsNotLookedAt: where more messages lie behind an agent than one call
// looks at, it is never told to begin behind one that is unread.
func TestReadingBeginsBeforeWhatIsNotLookedAt(t *testing.T) {
	r := start(t, newMemStore(), ringOf(1<<10))
	r.register("ann")
	for range view.MaxExamined + 100 {
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "cleo", Body: "x"})
	}
	unread := r.say("ben", "general", "for all").ID
	for range 100 {
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "cleo", Body: "x"})
	}
	a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"})
	if err != nil || a.ReadFrom >= unread {
		t.Errorf("it begins behind %d, and %d is unread; %v", a.ReadFrom, unread, err)
	}
}

func ptr(u view.UnreadIn) *view.UnreadIn { return &u }
