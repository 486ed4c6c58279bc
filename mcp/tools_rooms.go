package mcp

import (
	"context"
	"fmt"
	"slices"

	"hubcli/hub"
)

// roomTools make, list and show rooms, and invite agents into them.
func roomTools() []tool {
	return []tool{
		define(tool{
			name: "hub_room_status", title: "See a room", reads: true, idempotent: true,
			description: "See a room: who else is working in it, tasks, runs, claims, locks and decisions.",
		}, roomStatus),
		define(tool{
			name: "hub_list_rooms", title: "List rooms", reads: true, idempotent: true,
			description: "List rooms and projects. Look here before you make one.",
		}, listRooms),
		define(tool{
			name: "hub_create_project", title: "Make a project",
			description: "Make a project, which groups rooms.",
		}, createProject),
		define(tool{
			name: "hub_create_room", title: "Make a room",
			description: "Make a room for a team. A room that looks like an existing one is refused.",
		}, createRoom),
		define(tool{
			name: "hub_create_invite", title: "Invite into a room",
			description: "Invite an agent into a room: returns a code for hub_join.",
		}, createInvite),
	}
}

// pageOfRoom is what goes on in a room. Counts are whole, lists may be cut.
type pageOfRoom struct {
	RoomID        hub.RoomID        `json:"room_id" lean:"-"`
	Name          string            `json:"name"`
	Topic         string            `json:"topic,omitempty"`
	Channel       hub.ChannelName   `json:"channel" lean:"-"`
	Project       string            `json:"project" lean:"-"`
	Seats         []shownSeat       `json:"seats"`
	SeatCount     int               `json:"seat_count" lean:"-"`
	GoneCount     int               `json:"gone_count,omitempty" lean:"-"` // agents that have been gone for more than ten minutes and are not shown
	OpenTasks     []shownTask       `json:"open_tasks" lean:"empty"`
	OpenTaskCount int               `json:"open_task_count" lean:"-"`
	Runs          []shownRun        `json:"runs" lean:"empty"`
	RunCount      int               `json:"run_count" lean:"-"`
	Claims        []heldLease       `json:"claims" lean:"empty"`
	ClaimCount    int               `json:"claim_count" lean:"-"`
	Locks         []heldLease       `json:"locks" lean:"empty"`
	LockCount     int               `json:"lock_count" lean:"-"`
	Decisions     []decisionInShort `json:"decisions" lean:"empty"`
	Unread        int               `json:"unread" lean:"-"`
	NotListening  []hub.AgentID     `json:"not_listening" lean:"-"`
	Truncated     bool              `json:"truncated" lean:"empty"`
}

type shownSeat struct {
	AgentID  hub.AgentID  `json:"agent_id"`
	Role     string       `json:"role,omitempty"`
	Harness  string       `json:"harness,omitempty" lean:"-"`
	At       string       `json:"at,omitempty"` // see placeOf
	Presence hub.Presence `json:"presence"`
	Activity hub.Activity `json:"activity"`
	For      string       `json:"for,omitempty"`         // how long it has done that
	AsksFor  string       `json:"prompt_tool,omitempty"` // the tool that its program asks a user about
	Listener hub.Listener `json:"listener" lean:"-"`
	TaskID   hub.TaskID   `json:"task_id,omitempty"`
	Unread   int          `json:"unread,omitempty"`
	Label    string       `json:"label,omitempty"`
}

type shownRun struct {
	RunID  hub.RunID     `json:"run_id"`
	Title  string        `json:"title"`
	Status hub.RunStatus `json:"status"`
	Counts hub.RunCounts `json:"counts" lean:"-"`
	Done   string        `json:"done"` // of all tasks
}

type heldLease struct {
	Key          string      `json:"key,omitempty"`
	Holder       hub.AgentID `json:"holder"`
	TaskID       hub.TaskID  `json:"task_id,omitempty"`
	ExpiresInSec int         `json:"expires_in_sec"`
}

type decisionInShort struct {
	DecisionID hub.DecisionID `json:"decision_id"`
	Title      string         `json:"title"`
	By         hub.AgentID    `json:"by,omitempty"`
}

type roomStatusIn struct {
	RoomID string `json:"room_id,omitempty" jsonschema:"id or project/room; default: your room"`
}

func roomStatus(ctx context.Context, c *call, in roomStatusIn) (*answer, error) {
	id, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	c.bridge.link.CatchUp(ctx, c.at)
	s, err := c.hub().RoomStatus(ctx, hub.StatusQuery{RoomID: id, Viewer: c.agent()})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.OpenTasks, func(a, b hub.Task) int {
		left, right := showTask(&a), showTask(&b)
		return c.urgency(&left) - c.urgency(&right)
	})
	return c.fit(func(room int) *answer {
		p := c.pageOf(&s, 50)
		for most := 25; size(p) > room && most > 0; most /= 2 {
			p = c.pageOf(&s, most)
		}
		line := fmt.Sprintf("%d seats, %d open tasks, %d unread for you.", p.SeatCount, p.OpenTaskCount, p.Unread)
		if p.Truncated {
			line += " Lists are cut; whole ones: hub_list_tasks, hub_list_decisions."
		}
		if p.Unread > 0 {
			line += " Read unread messages with hub_poll_messages."
		}
		return &answer{data: p, line: inRoom(line, id), untrusted: []string{
			"name", "topic", "project", "seats[].role", "seats[].at", "seats[].prompt_tool", "seats[].label", "open_tasks[].title", "runs[].title", "claims[].key", "locks[].key", "decisions[].title",
		}}
	})
}

// pageOf shows at most so many of each list.
func (c *call) pageOf(s *hub.RoomStatus, most int) pageOfRoom {
	p := pageOfRoom{
		RoomID: s.Room.RoomID, Name: brief(s.Room.Name, 200), Topic: brief(s.Room.Topic, 400), Channel: s.Room.Channel,
		Project: s.Project.Slug, SeatCount: s.SeatCount, GoneCount: s.GoneCount, OpenTaskCount: s.OpenTaskCount, RunCount: s.RunCount,
		ClaimCount: s.ClaimCount, LockCount: s.LockCount, Unread: s.Unread,
		Seats: []shownSeat{}, OpenTasks: []shownTask{}, Runs: []shownRun{}, Decisions: []decisionInShort{},
		Claims: held(s.Claims, most), Locks: held(s.Locks, most), NotListening: s.NotListening[:min(len(s.NotListening), most)],
	}
	for _, seat := range s.Seats[:min(len(s.Seats), most)] {
		p.Seats = append(p.Seats, shownSeat{
			AgentID: seat.AgentID, Role: brief(seat.Role, 60), Harness: brief(seat.Harness, 30), Presence: seat.Presence,
			At: placeOf(&seat), For: c.age(seat.ActivitySince),
			Activity: seat.Activity, Listener: seat.Listener, TaskID: hub.Value(seat.CurrentTaskID), Unread: seat.Unread,
			AsksFor: brief(seat.PromptTool, 60), Label: brief(seat.Label, 80),
		})
	}
	for i := range s.OpenTasks[:min(len(s.OpenTasks), most)] {
		p.OpenTasks = append(p.OpenTasks, showTask(&s.OpenTasks[i]))
	}
	for _, r := range s.Runs[:min(len(s.Runs), most)] {
		p.Runs = append(p.Runs, shownRun{r.RunID, brief(r.Title, 100), r.Status, r.Counts, fmt.Sprintf("%d of %d", r.Counts.Done, r.Counts.Total)})
	}
	for _, d := range s.Decisions[:min(len(s.Decisions), most)] {
		p.Decisions = append(p.Decisions, decisionInShort{d.DecisionID, brief(d.Title, 160), d.By})
	}
	p.Truncated = len(p.Seats) < s.SeatCount || len(p.OpenTasks) < s.OpenTaskCount || len(p.Runs) < len(s.Runs) ||
		len(p.Claims) < s.ClaimCount || len(p.Locks) < s.LockCount || len(p.Decisions) < len(s.Decisions) ||
		len(p.NotListening) < len(s.NotListening) || len(s.More) > 0
	return p
}

func held(rows []hub.HeldRow, most int) []heldLease {
	out := []heldLease{}
	for _, r := range rows[:min(len(rows), most)] {
		out = append(out, heldLease{brief(r.Key, 200), r.AgentID, hub.Value(r.TaskMessageID), int(r.ExpiresInSec)})
	}
	return out
}

type listRoomsIn struct {
	Project string `json:"project,omitempty" jsonschema:"id, slug or name; default: all"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"from the last answer"`
	Limit   int    `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

// shownRoom is a room, or a project without rooms.
type shownRoom struct {
	RoomID    hub.RoomID      `json:"room_id,omitempty"`
	Slug      string          `json:"slug,omitempty" lean:"-"`
	Name      string          `json:"name,omitempty"`
	Topic     string          `json:"topic,omitempty"`
	Channel   hub.ChannelName `json:"channel,omitempty" lean:"-"`
	ProjectID hub.ProjectID   `json:"project_id" lean:"-"`
	Project   string          `json:"project"` // slug
	Yours     bool            `json:"yours,omitempty"`
}

func listRooms(ctx context.Context, c *call, in listRoomsIn) (*answer, error) {
	projects, err := c.projects(ctx, in.Project)
	if err != nil {
		return nil, err
	}
	// The number of rooms is bounded, and the list is grouped by project, with
	// empty projects.
	rooms, err := hub.All(ctx, c.hub().Rooms, hub.RoomsQuery{Project: in.Project})
	if err != nil {
		return nil, err
	}
	home, err := c.home(ctx)
	if err != nil {
		return nil, err
	}
	all := []shownRoom{}
	for _, p := range projects {
		n := len(all)
		for _, r := range rooms {
			if r.ProjectID == p.ProjectID {
				all = append(all, shownRoom{
					r.RoomID, r.Slug, brief(r.Name, 200), brief(r.Topic, 200), r.Channel, p.ProjectID, p.Slug, r.RoomID == home,
				})
			}
		}
		if len(all) == n {
			all = append(all, shownRoom{ProjectID: p.ProjectID, Project: p.Slug})
		}
	}
	id := func(r *shownRoom) string {
		if r.RoomID == "" {
			return string(r.ProjectID)
		}
		return string(r.RoomID)
	}
	rest, err := behind(all, in.Cursor, id)
	if err != nil {
		return nil, err
	}
	return c.fit(func(room int) *answer {
		var l listing[shownRoom]
		l.Items, l.Truncated = take(rest, in.Limit, room-200)
		line := fmt.Sprintf("%s in %s. See one with hub_room_status; make one with hub_create_room.", counted(len(rooms), "room"), counted(len(projects), "project"))
		if l.Truncated {
			l.Cursor = hub.Cursor(id(&l.Items[len(l.Items)-1]))
			line = fmt.Sprintf("%d of %d rooms. More: hub_list_rooms with cursor %s.", len(l.Items), len(rooms), l.Cursor)
		}
		return &answer{data: l, line: line, untrusted: []string{"items[].name", "items[].topic"}}
	})
}

// projects are the one that ref names, or all.
func (c *call) projects(ctx context.Context, ref string) ([]hub.Project, error) {
	if ref == "" {
		return hub.All(ctx, c.hub().Projects, hub.ProjectsQuery{})
	}
	p, err := c.hub().Project(ctx, ref)
	return []hub.Project{p}, err
}

type createProjectIn struct {
	Name           string `json:"name" jsonschema:"for people" range:"300"`
	Slug           string `json:"slug,omitempty" jsonschema:"default: made of the name" range:"ProjectInput.slug"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func createProject(ctx context.Context, c *call, in createProjectIn) (*answer, error) {
	out, err := c.hub().CreateProject(c.key(ctx, in.IdempotencyKey), hub.ProjectInput{
		Name: in.Name, Slug: in.Slug, CreatedBy: c.agent(),
	})
	if err != nil {
		return nil, err
	}
	return &answer{
		data: out.Row, prose: true, untrusted: []string{"name"},
		line: fmt.Sprintf("Made project %s (%s). Next: hub_create_room with project %s.", word(out.Row.Slug), word(string(out.Row.ProjectID)), word(out.Row.Slug)),
	}, nil
}

type createRoomIn struct {
	Project        string `json:"project" jsonschema:"id, slug or name"`
	Name           string `json:"name" jsonschema:"for people" range:"300"`
	Topic          string `json:"topic,omitempty" jsonschema:"what it is for" range:"RoomInput.topic"`
	ForceReason    string `json:"force_reason,omitempty" jsonschema:"why, although a similar room exists" range:"RoomInput.force_reason"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func createRoom(ctx context.Context, c *call, in createRoomIn) (*answer, error) {
	out, err := c.hub().CreateRoom(c.key(ctx, in.IdempotencyKey), hub.RoomInput{
		Project: in.Project, Name: in.Name, Topic: in.Topic, CreatedBy: c.agent(),
		Force: in.ForceReason != "", ForceReason: in.ForceReason,
	})
	if err != nil {
		return nil, lookAlike(err)
	}
	r := out.Row
	return &answer{
		data: shownRoom{RoomID: r.RoomID, Slug: r.Slug, Name: r.Name, Topic: r.Topic, Channel: r.Channel, ProjectID: r.ProjectID, Project: in.Project}, prose: true,
		line: fmt.Sprintf("Made room %s, channel %s. %s Let others in: hub_create_invite, room_id %s.",
			word(string(r.RoomID)), word(string(r.Channel)), c.moveIn(ctx, &r), word(string(r.RoomID))),
		untrusted: []string{"name", "topic"},
	}, nil
}

// moveIn gives the maker of a room a seat in it if the maker is in no other
// room, and says which room the maker is in. A failure leaves the room in
// place.
func (c *call) moveIn(ctx context.Context, r *hub.Room) string {
	home, err := c.home(ctx)
	switch {
	case err == nil && home == r.RoomID:
		return "You are in it."
	case err == nil && home != "":
		return fmt.Sprintf("You stay in %s: to post, poll and give tasks in the new one name its room_id, or call hub_join with the code of an invite to it.", word(string(home)))
	}
	if c.by.SubAgent != "" {
		return "You are not in it: to post, poll and give tasks there name its room_id."
	}
	var out hub.Outcome[hub.Invite]
	if err == nil {
		out, err = c.hub().CreateInvite(c.key(ctx, ""), hub.InviteInput{
			Project: string(r.ProjectID), Room: string(r.RoomID), Handle: c.agent(), TTLSec: 60, MaxUses: 1, By: c.agent(),
		})
	}
	if err == nil {
		_, _, err = c.bridge.link.Join(ctx, out.Row.Code, hub.AcceptInput{AgentID: c.agent(), Harness: string(c.harness())}, "")
	}
	if err != nil {
		return "You are not in it: call hub_join with the code of an invite to it."
	}
	return "You are in it now: posts, polls and tasks without a room_id go there."
}

// lookAlike replaces the hub's argument names in an error by those of this
// tool.
func lookAlike(err error) error {
	e := asError(err)
	if e.Code == hub.CodeSimilarRoomExists {
		e = e.WithFix("use one of detail.candidates; or, if a sibling is needed, repeat with force_reason")
	}
	return e
}

type createInviteIn struct {
	RoomID         string      `json:"room_id,omitempty" jsonschema:"default: yours"`
	Role           string      `json:"role,omitempty" jsonschema:"such as reviewer" range:"InviteInput.role"`
	Handle         hub.AgentID `json:"handle,omitempty" jsonschema:"agent id to suggest"`
	Harness        string      `json:"harness,omitempty" jsonschema:"such as codex" range:"InviteInput.harness"`
	TTLSec         int         `json:"ttl_sec,omitempty" jsonschema:"default one day" range:"InviteInput.ttl_sec"`
	MaxUses        int         `json:"max_uses,omitempty" jsonschema:"default 1" range:"InviteInput.max_uses"`
	IdempotencyKey string      `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

// invited is an invite with its code, which is in no other answer.
type invited struct {
	Code      string       `json:"code"`
	InviteID  hub.InviteID `json:"invite_id" lean:"-"`
	RoomID    hub.RoomID   `json:"room_id" lean:"-"`
	Role      string       `json:"role,omitempty" lean:"-"`
	Handle    hub.AgentID  `json:"handle,omitempty" lean:"-"`
	MaxUses   int          `json:"max_uses" lean:"-"`
	ExpiresAt hub.Time     `json:"expires_at" lean:"-"`
}

func createInvite(ctx context.Context, c *call, in createInviteIn) (*answer, error) {
	id, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	room, err := c.hub().Room(ctx, hub.RoomRef{Room: string(id)})
	if err != nil {
		return nil, err
	}
	out, err := c.hub().CreateInvite(c.key(ctx, in.IdempotencyKey), hub.InviteInput{
		Project: string(room.ProjectID), Room: string(room.RoomID), Role: in.Role, Handle: in.Handle, Harness: in.Harness,
		TTLSec: in.TTLSec, MaxUses: in.MaxUses, By: c.agent(),
	})
	if err != nil {
		return nil, err
	}
	i := out.Row
	keeps := "The agent keeps its id."
	if i.Handle != "" {
		keeps = fmt.Sprintf("An agent whose id nobody chose becomes %s; any other keeps its id.", word(string(i.Handle)))
	}
	return &answer{
		data: invited{i.Code, i.InviteID, i.RoomID, i.Role, i.Handle, i.MaxUses, i.ExpiresAt}, untrusted: []string{"role"},
		line: inRoom(fmt.Sprintf("the code is %s, for %s until %s; it is not shown again. The agent calls hub_join with it. %s",
			i.Code, counted(i.MaxUses, "use"), i.ExpiresAt, keeps), i.RoomID),
	}, nil
}
