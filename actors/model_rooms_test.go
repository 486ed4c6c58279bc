package actors

import (
	"context"
	"fmt"
	"slices"

	"hubcli/hub"
)

type modelRoom struct {
	id          hub.RoomID
	name, slug  string
	archived    bool
	withProject bool // it is archived because its project is
}

type modelTitle struct {
	room  hub.RoomID
	title string
}

type modelInvite struct {
	id       hub.InviteID
	code     string
	room     hub.RoomID
	deadline int64 // hub time, ms
	uses     int
	max      int
	state    hub.InviteState
}

// modelSeat is the place of an agent that has joined a room.
type modelSeat struct {
	room  hub.RoomID
	agent hub.AgentID
}

// closed reports whether a channel belongs to a room that is archived.
func (m *simpleHub) closed(channel hub.ChannelName) bool {
	return slices.ContainsFunc(m.rooms, func(r modelRoom) bool { return r.archived && r.id.Channel() == channel })
}

// shut is the answer to what would be kept in a room that is archived.
func (m *simpleHub) shut(room hub.RoomID) hub.Code {
	if m.closed(room.Channel()) {
		return hub.CodeArchived
	}
	return ""
}

// build makes a room. Beside a room of the same name it makes one only if the agent insists.
// added is the room of the answer.
func (m *simpleHub) build(name string, added modelRoom, insists bool) (code hub.Code, err error) {
	for _, r := range m.rooms {
		if r.name == name && !insists {
			code = hub.CodeSimilarRoomExists
		}
		if r.slug == added.slug {
			err = fmt.Errorf("rooms %s and %s have the slug %s", r.id, added.id, r.slug)
		}
	}
	switch {
	case m.archived:
		return hub.CodeArchived, nil
	case code != "":
		return code, nil
	}
	m.rooms = append(m.rooms, added)
	return "", err
}

// archive archives a room, or takes it back.
func (m *simpleHub) archive(id hub.RoomID, archived bool) (want modelRoom, code hub.Code) {
	i := slices.IndexFunc(m.rooms, func(r modelRoom) bool { return r.id == id })
	if m.archived && !archived {
		return want, hub.CodeArchived
	}
	m.rooms[i].archived, m.rooms[i].withProject = archived, false
	return m.rooms[i], ""
}

// archiveAll archives the project with its rooms, or takes them back. A room that was archived
// by itself stays so.
func (m *simpleHub) archiveAll(archived bool) {
	m.archived = archived
	for i, r := range m.rooms {
		if r.withProject || !r.archived {
			m.rooms[i].archived, m.rooms[i].withProject = archived, archived
		}
	}
}

// invite returns an invite, as of now.
func (m *simpleHub) invite(id hub.InviteID) *modelInvite {
	i := slices.IndexFunc(m.invites, func(in modelInvite) bool { return in.id == id })
	in := &m.invites[i]
	if in.state == hub.InviteActive && m.now >= in.deadline {
		in.state = hub.InviteExpired
	}
	return in
}

// accept seats an agent. An agent that has joined keeps its seat, and the invite its use.
func (m *simpleHub) accept(id hub.InviteID, a hub.AgentID) hub.Code {
	in := m.invite(id)
	seat := modelSeat{in.room, a}
	by, joined := m.seats[seat]
	if code := m.shut(in.room); code != "" {
		return code
	}
	switch in.state {
	case hub.InviteExhausted:
		if by != id {
			return hub.CodeInviteExhausted
		}
	case hub.InviteExpired:
		return hub.CodeInviteExpired
	case hub.InviteRevoked:
		return hub.CodeInviteRevoked
	case hub.InviteActive:
		if joined {
			break
		}
		m.seats[seat] = id
		if in.uses++; in.uses == in.max {
			in.state = hub.InviteExhausted
		}
	}
	return ""
}

func (m *simpleHub) allRooms() (all, listed map[hub.RoomID]modelRoom) {
	all, listed = map[hub.RoomID]modelRoom{}, map[hub.RoomID]modelRoom{}
	for _, r := range m.rooms {
		all[r.id] = r
		if !r.archived {
			listed[r.id] = r
		}
	}
	return all, listed
}

// said returns the messages in rooms.
func (m *simpleHub) said() map[hub.MessageID]modelMessage {
	all := map[hub.MessageID]modelMessage{}
	for _, message := range m.messages {
		if _, ofRoom := message.channel.Room(); ofRoom {
			all[message.id] = message
		}
	}
	return all
}

func (m *simpleHub) allInvites() map[hub.InviteID]modelInvite {
	all := map[hub.InviteID]modelInvite{}
	for _, in := range m.invites {
		in = *m.invite(in.id)
		in.code = "" // is not shown
		if in.state != hub.InviteActive {
			in.deadline = 0
		}
		all[in.id] = in
	}
	return all
}

func simpleRoom(r *hub.Room) modelRoom {
	return modelRoom{id: r.RoomID, name: r.Name, slug: r.Slug, archived: r.Archived, withProject: r.WithProject}
}

// rooms makes a room, archives a room or takes it back, or does so with the project of all rooms.
func (p *player) rooms(ctx context.Context, c call) judge {
	if c.Kind == "build" {
		in := hub.RoomInput{Project: "rooms", Name: []string{"Attic", "Barn", "Cellar"}[c.Which], CreatedBy: c.Agent, Force: c.N%3 == 0, ForceReason: "why not"}
		out, err := p.r.CreateRoom(ctx, in)
		return func(m *simpleHub) error {
			code, wrong := m.build(in.Name, simpleRoom(&out.Row), in.Force)
			if err := answered(err, code); err != nil {
				return err
			}
			return wrong
		}
	}
	room, _ := latest(p.m.rooms, c.Which)
	in := hub.ArchiveInput{Archived: c.Kind == "archive" || c.Kind == "close"}
	if c.Kind == "close" || c.Kind == "reopen" {
		_, err := p.r.ArchiveProject(asOperator(ctx), "rooms", in)
		return func(m *simpleHub) error {
			m.archiveAll(in.Archived)
			return answered(err, "")
		}
	}
	out, err := p.r.ArchiveRoom(asOperator(ctx), room.id, in)
	return func(m *simpleHub) error {
		want, code := m.archive(room.id, in.Archived)
		if err := answered(err, code); err != nil || code != "" {
			return err
		}
		if got := simpleRoom(&out.Row); got != want {
			return fmt.Errorf("the room is %+v, want %+v", got, want)
		}
		return nil
	}
}

// keep stores the next version of an artifact.
func (p *player) keep(ctx context.Context, c call) judge {
	room, _ := latest(p.m.rooms, c.N)
	text := fmt.Sprint(c.N)
	title := modelTitle{room.id, fmt.Sprint("title-", c.Which)}
	out, err := p.r.AddArtifact(ctx, hub.ArtifactInput{RoomID: room.id, Title: title.title, Kind: "note", By: c.Agent, Body: &text})
	return func(m *simpleHub) error {
		want := m.shut(room.id)
		if err := answered(err, want); err != nil || want != "" {
			return err
		}
		m.versions[title]++
		if got := out.Row.Version; got != m.versions[title] {
			return fmt.Errorf("%v got version %d, want %d", title, got, m.versions[title])
		}
		return nil
	}
}

// invites makes an invite, revokes or accepts one.
func (p *player) invites(ctx context.Context, c call) judge {
	if c.Kind == "invite" {
		room, _ := latest(p.m.rooms, c.Which)
		in := hub.InviteInput{Room: string(room.id), Role: "dev", TTLSec: c.N, MaxUses: 1 + c.N%2, By: c.Agent}
		out, err := p.r.CreateInvite(ctx, in)
		return func(m *simpleHub) error {
			if want := m.shut(room.id); want != "" {
				return answered(err, want)
			}
			m.invites = append(m.invites, modelInvite{
				id: out.Row.InviteID, code: out.Row.Code, room: room.id,
				deadline: m.now + int64(in.TTLSec)*1000, max: in.MaxUses, state: hub.InviteActive,
			})
			return answered(err, "")
		}
	}
	in, ok := latest(p.m.invites, c.Which)
	if !ok {
		return nil
	}
	if c.Kind == "revoke" {
		return p.revoke(ctx, in.id)
	}
	out, err := p.r.AcceptInvite(hub.WithCaller(ctx, &hub.Caller{Agent: c.Agent}), in.code, hub.AcceptInput{AgentID: c.Agent})
	return func(m *simpleHub) error {
		want := m.accept(in.id, c.Agent)
		if err := answered(err, want); err != nil || want != "" {
			return err
		}
		if got := out.Row; got.Seat.AgentID != c.Agent || got.Seat.RoomID != in.room || got.Session.Incarnation < m.incarnation[c.Agent] {
			return fmt.Errorf("%s has joined %s with %+v", c.Agent, in.room, got)
		}
		return nil
	}
}

func (p *player) revoke(ctx context.Context, id hub.InviteID) judge {
	out, err := p.r.RevokeInvite(ctx, string(id))
	return func(m *simpleHub) error {
		in := m.invite(id)
		if in.state == hub.InviteActive {
			in.state = hub.InviteRevoked
		}
		if err := answered(err, ""); err != nil {
			return err
		}
		if got := out.Row; got.State != in.state || got.Uses != in.uses {
			return fmt.Errorf("the invite is %+v, want %+v", got, *in)
		}
		return nil
	}
}

func (p *player) lookAtRooms(ctx context.Context, s *seen) error {
	project, err := p.r.Project(ctx, "rooms")
	if err != nil {
		return err
	}
	s.archived = project.Archived
	s.said = map[hub.MessageID]modelMessage{}
	s.rooms, s.listed = map[hub.RoomID]modelRoom{}, map[hub.RoomID]modelRoom{}
	s.versions, s.invites, s.seats = map[modelTitle]int64{}, map[hub.InviteID]modelInvite{}, map[modelSeat]hub.InviteID{}
	for r, err := range hub.Walk(ctx, p.r.Rooms, hub.RoomsQuery{Limit: hub.MaxPageRows}) {
		if err != nil {
			return err
		}
		s.listed[r.RoomID] = simpleRoom(&r)
	}
	for r, err := range hub.Walk(ctx, p.r.Rooms, hub.RoomsQuery{Archived: true, Limit: hub.MaxPageRows}) {
		if err != nil {
			return err
		}
		s.rooms[r.RoomID] = simpleRoom(&r)
		if err := p.lookInto(ctx, r.RoomID, s); err != nil {
			return err
		}
	}
	for in, err := range hub.Walk(ctx, p.r.Invites, hub.InvitesQuery{Limit: hub.MaxPageRows}) {
		if err != nil {
			return err
		}
		is := modelInvite{id: in.InviteID, room: in.RoomID, uses: in.Uses, max: in.MaxUses, state: in.State}
		if in.State == hub.InviteActive {
			is.deadline = p.hubTime(in.ExpiresAt)
		}
		s.invites[in.InviteID] = is
	}
	return nil
}

// lookInto reads what a room has: its messages, even if it is archived, its artifacts, and the seats of agents that have joined.
func (p *player) lookInto(ctx context.Context, room hub.RoomID, s *seen) error {
	for a, err := range hub.Walk(ctx, p.r.Artifacts, hub.ArtifactsQuery{RoomID: room, Latest: true, Limit: hub.MaxPageRows}) {
		if err != nil {
			return err
		}
		s.versions[modelTitle{room, a.Title}] = a.Version
	}
	page, err := p.r.Messages(ctx, hub.MessagesQuery{Channel: room.Channel(), Limit: 1000})
	if err != nil {
		return err
	}
	rows, err := chats(page.Rows)
	if err != nil {
		return err
	}
	for _, m := range rows {
		s.said[m.id] = m
	}
	seats, err := p.r.view.SeatsOf(room)
	for _, seat := range seats {
		if !seat.Acting() {
			s.seats[modelSeat{room, seat.AgentID}] = seat.InviteID
		}
	}
	return err
}
