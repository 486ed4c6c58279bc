package mcp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hubcli/hub"
)

// How long a bound folder's room, and that a folder is bound to none, is believed;
// and how long the bridge tries to be seen in its room.
const (
	boundFor   = time.Minute
	unboundFor = 5 * time.Second
	seatWait   = 5 * time.Second // for what shows the agent in its room
)

// homes remembers which room each agent of the bridge works in. The zero value is
// ready; it is safe for concurrent use.
type homes struct {
	mu     sync.Mutex
	joined map[hub.AgentID]hub.RoomID
	bound  hub.RoomID
	until  time.Time // when bound is to be asked for again
	// moved: the hub has another store than the environment was made for, whose
	// rooms have ids that other rooms had.
	moved bool
}

// join says that the agent has joined a room, which counts before the folder's.
func (h *homes) join(agent hub.AgentID, room hub.RoomID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.joined == nil {
		h.joined = map[hub.AgentID]hub.RoomID{}
	}
	h.joined[agent] = room
}

// of is the room that the agent has joined, or "".
func (h *homes) of(agent hub.AgentID) hub.RoomID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.joined[agent]
}

func (h *homes) known(agent hub.AgentID, now time.Time) (hub.RoomID, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if room, ok := h.joined[agent]; ok {
		return room, true
	}
	return h.bound, now.Before(h.until)
}

func (h *homes) bind(room hub.RoomID, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bound, h.until = room, until
}

// forget leaves all rooms: the hub has another store, in which their ids are nobody's
// or other rooms'.
func (h *homes) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.joined, h.bound, h.until, h.moved = nil, "", time.Time{}, true
}

// spawned is the room for which the environment says that the bridge was started,
// or "".
func (h *homes) spawned(getenv func(string) string) hub.RoomID {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.moved {
		return ""
	}
	return hub.RoomID(getenv("HUB_ROOM"))
}

// home is the room in which the agent works: the one it has joined, else the one
// it was spawned for, else the only one that it has joined, else the one that
// its project's folder is bound to, else none.
func (c *call) home(ctx context.Context) (hub.RoomID, error) {
	now := time.Now()
	if room, ok := c.bridge.homes.known(c.agent(), now); ok {
		return room, nil
	}
	if room := c.bridge.homes.spawned(c.bridge.Getenv); room != "" {
		return room, nil
	}
	room, err := joinedRoom(ctx, c.at)
	if err != nil {
		return "", err
	}
	if room != "" {
		c.bridge.homes.join(c.agent(), room)
		return room, nil
	}
	room, known, err := c.bridge.boundRoom(ctx, c.at)
	switch {
	case room != "":
		c.bridge.homes.bind(room, now.Add(boundFor))
	case known:
		c.bridge.homes.bind("", now.Add(unboundFor))
	}
	return room, err
}

// joinedRoom is the only room that the agent has joined, or "".
func joinedRoom(ctx context.Context, s *seat) (hub.RoomID, error) {
	a, err := s.client.Attention(ctx, hub.AttentionQuery{Agent: s.agent})
	if err != nil || len(a.Rooms) != 1 {
		return "", err
	}
	return a.Rooms[0], nil
}

// boundRoom is the room that the project's folder is bound to, or "". known: the hub
// has looked.
func (b *bridge) boundRoom(ctx context.Context, s *seat) (room hub.RoomID, known bool, err error) {
	dir := projectFolder(b.Getenv, os.Getwd)
	if dir == "" {
		return "", false, nil
	}
	got, err := s.client.Resolve(ctx, dir)
	if err != nil {
		if e := asError(err); e.Status == 0 || e.Status >= 500 {
			return "", false, err
		}
		return "", false, nil // a hub elsewhere knows nothing of this machine's folders
	}
	if got.Bound && got.RoomID != nil {
		return *got.RoomID, true, nil
	}
	return "", true, nil
}

// takeSeat lets the room in which the agent works show it, as far as that is known
// before the agent names one. The agent does not wait for it, and goes on without.
func (b *bridge) takeSeat(ctx context.Context, s *seat) {
	ctx, cancel := context.WithTimeout(ctx, seatWait)
	defer cancel()
	room := b.homes.of(s.agent)
	if room == "" {
		room = b.homes.spawned(b.Getenv)
	}
	var err error
	if room == "" {
		room, err = joinedRoom(ctx, s)
	}
	if room == "" && err == nil {
		room, _, err = b.boundRoom(ctx, s)
	}
	if room == "" || err != nil {
		return
	}
	if _, err := s.client.Sit(ctx, room, hub.SitInput{AgentID: s.agent}); err != nil {
		b.log.Warn("the room does not show the agent", "room", room, "error", err)
	}
}

// projectFolder is where the harness works, or "". A harness that names the folder
// in a variable is believed first: a bridge's own folder is often the user's home.
func projectFolder(getenv func(string) string, getwd func() (string, error)) string {
	for _, f := range hub.AllHarnessFacts() {
		if f.ProjectVariable == "" {
			continue
		}
		if dir := getenv(f.ProjectVariable); filepath.IsAbs(dir) {
			return dir
		}
	}
	dir, err := getwd()
	if err != nil {
		return ""
	}
	return dir
}

// room returns the room that a call is about: the one it names, by id or as
// project/room, else the agent's own. invalid where there is none.
func (c *call) room(ctx context.Context, given string) (hub.RoomID, error) {
	if project, name, ok := strings.Cut(given, "/"); ok {
		row, err := c.hub().Room(ctx, hub.RoomRef{Project: project, Room: name})
		return row.RoomID, err
	}
	if given != "" {
		return hub.RoomID(given), nil
	}
	room, err := c.home(ctx)
	if err != nil {
		return "", err
	}
	if room == "" {
		return "", hub.Invalid("room_id", "no room is named, and you are in none").
			WithFix("name one with room_id (hub_list_rooms), or join one with hub_join and the code of an invite")
	}
	return room, nil
}
