package actors

import (
	"testing"
	"time"

	"hubcli/hub"
)

// room makes a room in a project of its own.
func (r *rig) newRoom(name string) hub.Room {
	r.t.Helper()
	if _, err := r.view.FindProject("rooms"); err != nil {
		if _, err := r.CreateProject(r.t.Context(), hub.ProjectInput{Name: "Rooms"}); err != nil {
			r.t.Fatalf("create project: %v", err)
		}
	}
	out, err := r.CreateRoom(r.t.Context(), hub.RoomInput{Project: "rooms", Name: name, CreatedBy: "ann"})
	if err != nil {
		r.t.Fatalf("create room %s: %v", name, err)
	}
	return out.Row
}

// A room owns a channel from the moment it exists: it is listed, takes posts and
// marks them, and what comes of them, with the room.
func TestRoomOwnsItsChannel(t *testing.T) {
	r := start(t, newMemStore())
	before := r.Counts().Channels
	room := r.newRoom("Front end")
	if n := r.Counts().Channels; n != before+1 {
		t.Errorf("%d channels are counted, want %d", n, before+1)
	}
	channels, _, err := r.Channels(t.Context(), hub.ChannelsQuery{})
	if err != nil || len(channels) != 3 || channels[2].Name != room.Channel || *channels[2].RoomID != room.RoomID || channels[2].CreatedBy != "ann" {
		t.Fatalf("the channels are %+v, %v", channels, err)
	}
	post := func(in hub.PostInput) hub.Message {
		in.FromAgent, in.Body = "ann", "x"
		return r.post(in)
	}
	for name, m := range map[string]hub.Message{
		"public":         post(hub.PostInput{Channel: room.Channel}),
		"direct, label":  post(hub.PostInput{Channel: room.Channel, ToAgent: "bob"}),
		"a task":         post(hub.PostInput{Channel: room.Channel, Kind: hub.KindTask}),
		"a task request": post(hub.PostInput{Channel: room.Channel, ToAgent: "bob", Kind: hub.KindTaskRequest}),
	} {
		if m.RoomID == nil || *m.RoomID != room.RoomID {
			t.Errorf("%s: the room is %v", name, m.RoomID)
		}
		if m.Kind.OpensTask() {
			if task, err := r.Task(t.Context(), m.ID, "bob"); err != nil || task.RoomID == nil || *task.RoomID != room.RoomID {
				t.Errorf("%s: the task is %+v, %v", name, task, err)
			}
		}
	}
	for _, in := range []hub.PostInput{{}, {ToAgent: "bob"}, {ToAgent: "bob", Channel: "room-r_none"}} {
		if m := post(in); m.RoomID != nil {
			t.Errorf("%+v: the room is %s", in, *m.RoomID)
		}
	}
	_, err = r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", Body: "x", Channel: "room-r_none"})
	wantCode(t, err, hub.CodeChannelNotFound)
}

// room_id in a poll means the room's channel and the agent's direct messages.
func TestPollOfARoom(t *testing.T) {
	r := start(t, newMemStore())
	room, other := r.newRoom("One"), r.newRoom("Two")
	r.say("ann", other.Channel, "in the other room")
	in := r.say("ann", room.Channel, "in the room")
	direct := r.post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", Body: "to bob"})
	r.post(hub.PostInput{FromAgent: "ann", ToAgent: "carl", Channel: room.Channel, Body: "to carl"})
	r.say("ann", "", "in general")
	page, err := r.Events(t.Context(), hub.EventsQuery{Agent: "bob", RoomID: room.RoomID, Limit: 100})
	if got := decodeAll(t, page.Rows); err != nil || len(got) != 2 || got[0].ID != in.ID || got[1].ID != direct.ID {
		t.Fatalf("bob polls %+v, %v", got, err)
	}
	woken := async(func() (hub.Page, error) {
		return r.Events(t.Context(), hub.EventsQuery{Agent: "bob", RoomID: room.RoomID, Since: page.NextSinceID, Limit: 100, Wait: 5 * time.Second})
	})
	r.say("ann", other.Channel, "not for bob")
	m := r.say("ann", room.Channel, "for bob")
	if got := within(t, woken); got.err != nil || len(got.v.Rows) != 1 || decodeAll(t, got.v.Rows)[0].ID != m.ID {
		t.Errorf("the waiting poll got %+v", got)
	}
	_, err = r.Events(t.Context(), hub.EventsQuery{Agent: "bob", RoomID: "r_none", Limit: 1})
	wantCode(t, err, hub.CodeRoomNotFound)
}

// What a repeated call is answered is the row that the first one made.
func TestCreatingPlacesIsIdempotent(t *testing.T) {
	r := start(t, newMemStore())
	var project hub.Project
	var room hub.Room
	for i := range 3 {
		p, err := r.CreateProject(withKey(t.Context(), "p", "p"), hub.ProjectInput{Name: "P", CreatedBy: "ann"})
		if err != nil || p.Replayed != (i > 0) || i > 0 && p.Row != project {
			t.Fatalf("call %d: %+v, %v", i, p, err)
		}
		m, err := r.CreateRoom(withKey(t.Context(), "r", "r"), hub.RoomInput{Project: "p", Name: "R", CreatedBy: "ann"})
		if err != nil || m.Replayed != (i > 0) || i > 0 && m.Row.RoomID != room.RoomID {
			t.Fatalf("call %d: %+v, %v", i, m, err)
		}
		project, room = p.Row, m.Row
	}
}
