package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
)

// How long a bound folder's room, and that a folder is bound to none, is believed;
// and how long the bridge tries to be seen in its room.
const (
	boundFor   = time.Minute
	unboundFor = 5 * time.Second
	seatWait   = 5 * time.Second // for what shows the agent in its room
	seatAfter  = 3 * time.Second // how long a bridge whose agent calls no tool is not shown in a room
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

func (h *homes) Bind(room hub.RoomID, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bound, h.until = room, until
}

// Forget leaves all rooms. The hub has another store, in which their ids are
// free or belong to other rooms.
func (h *homes) Forget() {
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

// Home is the room in which the agent works: the one it has joined, else the one
// it was spawned for, else the only one that it has joined, else the one that
// its project's folder is bound to, else none.
func (l *Link) Home(ctx context.Context, s *Session) (hub.RoomID, error) {
	now := time.Now()
	if room, ok := l.Homes.known(s.Agent, now); ok {
		return room, nil
	}
	if room := l.Homes.spawned(l.Getenv); room != "" {
		return room, nil
	}
	room, err := joinedRoom(ctx, s)
	if err != nil {
		return "", err
	}
	if room != "" {
		l.Homes.join(s.Agent, room)
		return room, nil
	}
	room, known, err := l.boundRoom(ctx, s)
	switch {
	case room != "":
		l.Homes.Bind(room, now.Add(boundFor))
	case known:
		l.Homes.Bind("", now.Add(unboundFor))
	}
	return room, err
}

// joinedRoom is the only room that the agent has joined, or "".
func joinedRoom(ctx context.Context, s *Session) (hub.RoomID, error) {
	a, err := s.Client.Attention(ctx, hub.AttentionQuery{Agent: s.Agent})
	if err != nil || len(a.Rooms) != 1 {
		return "", err
	}
	return a.Rooms[0], nil
}

// boundRoom is the room that the project's folder is bound to, or "". known: the hub
// has looked.
func (l *Link) boundRoom(ctx context.Context, s *Session) (room hub.RoomID, known bool, err error) {
	dir := l.project()
	if dir == "" {
		return "", false, nil
	}
	got, err := s.Client.Resolve(ctx, dir)
	if err != nil {
		if e, ok := errors.AsType[*hub.Error](err); !ok || e.Status == 0 || e.Status >= 500 {
			return "", false, err
		}
		return "", false, nil // a hub elsewhere knows nothing of this machine's folders
	}
	if got.Bound && got.RoomID != nil {
		return *got.RoomID, true, nil
	}
	return "", true, nil
}

// settle shows the agent in its room, once it has called a tool or the bridge has lived for a
// while: harnesses start bridges to list their tools, or to see whether they answer, and end them.
func (l *Link) settle(ctx context.Context, s *Session) {
	t := time.NewTimer(l.Seats)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return
	case <-l.called:
	case <-t.C:
	}
	l.takeSeat(ctx, s)
}

// takeSeat shows the agent in its room, if the room is known before the agent
// names one. The agent does not wait for this, and a failure does not matter.
func (l *Link) takeSeat(ctx context.Context, s *Session) {
	if s.Agent.Trial() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, seatWait)
	defer cancel()
	room := l.Homes.of(s.Agent)
	if room == "" {
		room = l.Homes.spawned(l.Getenv)
	}
	var err error
	if room == "" {
		room, err = joinedRoom(ctx, s)
	}
	if room == "" && err == nil {
		room, _, err = l.boundRoom(ctx, s)
	}
	if room == "" || err != nil {
		return
	}
	if _, err := s.Client.Sit(ctx, room, hub.SitInput{AgentID: s.Agent}); err != nil {
		l.log.Warn("the room does not show the agent", "room", room, "error", err)
	}
}

// Folder is the folder from which relative paths lead, or "". It is the project's, and in a
// session that has moved into another work tree of Git, as its hooks tell, the same folder there.
func (l *Link) Folder() string {
	project := l.project()
	now := identity.SessionsOf(l.DataRoot).Placed(l.session())
	if project == "" || now == "" {
		return project
	}
	here, there := workTree(project), workTree(now)
	if there == "" || there == here {
		return project
	}
	if below, err := filepath.Rel(here, project); here != "" && err == nil {
		if same := filepath.Join(there, below); isFolder(same) {
			return same
		}
	}
	return there
}

// workTree returns the top of the work tree of Git that holds a folder, or "".
func workTree(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ProjectFolder is where the harness works, or "". A harness that names the folder
// in a variable is believed first: a bridge's own folder is often the user's home.
func ProjectFolder(getenv func(string) string, getwd func() (string, error)) string {
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
