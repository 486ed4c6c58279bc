package hook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/lazy"
	"hubcli/internal/pause"
)

// advised is the mark of a session that has been advised to start a watch.
const advised = "advised"

// stop answers the end of a turn. It holds the turn once for messages that ask
// something of the agent, and once a session if the agent has work and nothing
// would wake it. It never holds a turn while a watch is armed, because the
// watch will wake the agent.
func (r *run) stop(ctx context.Context) (string, error) {
	id, saved, err := r.known()
	if err != nil {
		return "", err
	}
	if watched(r.payload.Background, id) {
		return "", quiet("a watch runs in the background")
	}
	if r.Getenv(EnvDriven) != "" {
		return "", quiet("the driver of the session begins a turn for messages")
	}
	room, err := r.room(ctx, id, saved)
	if err != nil {
		return "", err
	}
	r.takeBack(ctx, id)
	a, err := r.attention(ctx, id, room)
	if err != nil {
		return "", err
	}
	if a.Paused != nil { // messages hold no turn meanwhile
		return "", quiet("the operator has paused the agent")
	}
	// What begins turns of Codex leaves the end of a turn to this hook.
	if a.Watching && !r.harness.Facts().Queues {
		return "", quiet("a watch is armed")
	}
	s := r.sceneOf(id, room, &a)
	fresh := untold(&a)
	if len(fresh) > 0 {
		fresh = r.unread(ctx, s, fresh)
		s.Bridged = r.hasBridge(ctx, id)
	}
	if len(fresh) > 0 && !r.mayHold() {
		return "", quiet("the turn was held often enough; the messages wait")
	}
	if len(fresh) > 0 {
		return r.tell(ctx, s, fresh)
	}
	if r.payload.Active {
		return "", quiet("the turn was held already, and nothing is new")
	}
	return r.advise(s)
}

// mostHolds bounds how often one turn is held in a row. Claude Code ends a turn that is held
// more than eight times, and shows its model nothing of what the last hook said.
const mostHolds = 6

// mayHold counts the times that the turn was held, and reports whether that may be done
// once more.
func (r *run) mayHold() bool {
	mark := func(n int) string { return identity.ShortLived(fmt.Sprintf("held-%d", n)) }
	if !r.payload.Active {
		for n := range mostHolds {
			r.sessions.Unmark(r.payload.SessionID, mark(n))
		}
	}
	for n := range mostHolds {
		if once(r.sessions, r.payload.SessionID, mark(n), true) {
			return true
		}
	}
	return false
}

// known returns the agent of the session and its saved binding. It registers no
// agent: a session that began without a hub continues without one.
func (r *run) known() (hub.AgentID, identity.Binding, error) {
	id, err := r.named()
	if err != nil {
		return "", identity.Binding{}, err
	}
	saved, ok := r.sessions.Load(r.payload.SessionID)
	if id == "" && !ok {
		return "", identity.Binding{}, quiet("neither " + EnvAgent + " nor a saved session says who this is")
	}
	if id == "" {
		id = saved.AgentID
	}
	return id, saved, nil
}

// room connects to the hub and returns the room in which the agent works, if it
// is known. A saved room is used only for the agent and the hub that it was
// saved for.
func (r *run) room(ctx context.Context, id hub.AgentID, saved identity.Binding) (*hub.Room, error) {
	if err := r.connect(ctx, saved); err != nil {
		return nil, err
	}
	if saved.AgentID == id && saved.InstanceID == r.instance {
		return roomOf(saved.RoomID), nil
	}
	if !r.bridged && r.Getenv(EnvAgent) == "" {
		return nil, quiet("the session was another hub's")
	}
	got, err := r.resolve(ctx)
	return got.Room, err
}

// roomOf returns a room with only its id and channel, or nil without an id.
func roomOf(id hub.RoomID) *hub.Room {
	if id == "" {
		return nil
	}
	return &hub.Room{RoomID: id, Channel: id.Channel()}
}

func roomID(room *hub.Room) hub.RoomID {
	if room == nil {
		return ""
	}
	return room.RoomID
}

// untold returns the directed rows that the agent has neither seen nor been
// notified of.
func untold(a *hub.Attention) []hub.UnreadRow {
	rows := slices.DeleteFunc(slices.Clone(a.Directed), func(row hub.UnreadRow) bool {
		return row.ID <= a.ToldID
	})
	slices.SortFunc(rows, func(x, y hub.UnreadRow) int { return int(x.ID - y.ID) })
	return rows
}

// given reports whether an answer to a poll of the agent has just held one of the
// rows, so that the agent may have read it. The hub learns that about a second
// later, when the harness can no longer cancel the call.
func given(a *hub.Attention, rows []hub.UnreadRow) bool {
	return len(rows) > 0 && rows[0].ID <= a.GivenID
}

const (
	settles   = 2 * time.Second // how long a row counts as given
	lookAgain = 100 * time.Millisecond
	speaks    = 400 * time.Millisecond // part of the time limit that is reserved for holding the turn
)

// unread returns the rows that are still unread once the hub has learned what
// the agent has read of the answers to its polls. The agent may end its turn
// before that. unread does not wait if no answer held one of the rows.
func (r *run) unread(ctx context.Context, s *scene, rows []hub.UnreadRow) []hub.UnreadRow {
	until := time.Now().Add(settles)
	if ends, ok := ctx.Deadline(); ok && ends.Add(-speaks).Before(until) {
		until = ends.Add(-speaks)
	}
	for given(s.Attention, rows) && time.Now().Before(until) {
		time.Sleep(min(lookAgain, time.Until(until)))
		a, err := r.hub.Attention(ctx, hub.AttentionQuery{Agent: s.Agent, Room: roomID(s.Room)})
		if err != nil {
			return rows
		}
		s.Attention, rows = &a, untold(&a)
	}
	return rows
}

// tell returns the text about rows if the hub confirms that this run moved the
// notified cursor. Rows of which the agent was told meanwhile are left out.
func (r *run) tell(ctx context.Context, s *scene, rows []hub.UnreadRow) (string, error) {
	told, err := r.confirm(ctx, hub.ToldInput{AgentID: s.Agent, ToldID: rows[len(rows)-1].ID})
	if err != nil {
		return "", err
	}
	if !told.Moved {
		return "", quiet("another run speaks for these messages")
	}
	r.given(told)
	return s.news(r.event, slices.DeleteFunc(slices.Clone(rows), func(row hub.UnreadRow) bool { return row.ID <= told.AfterID })), nil
}

const (
	repeatTell = 50 * time.Millisecond
	prints     = 200 * time.Millisecond // part of the time limit that is reserved for the answer
)

// confirm moves the notified cursor. A hub that was killed may have moved it and not
// answered. Then nobody else tells the agent of these rows, and one that is idle sleeps
// on. So the call is made again, with the key by which the hub knows it, until the hub
// answers. If its time ends before, the rows count as told: to be told twice is better
// than never. A hub that took no call has moved nothing.
func (r *run) confirm(ctx context.Context, in hub.ToldInput) (hub.Told, error) {
	if ends, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, ends.Add(-prints))
		defer cancel()
	}
	ctx = hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: rand.Text()}})
	taken := false // the hub may have moved the cursor
	for {
		told, err := r.hub.Tell(ctx, in)
		cut := errors.Is(err, &hub.Error{Code: hub.CodeBrokeOff}) || errors.Is(err, &hub.Error{Code: hub.CodeNoAnswer})
		taken = taken || cut
		if err == nil || !taken || !cut && !away(err) {
			return told, err
		}
		if !pause.For(ctx, repeatTell) {
			log(r.DataRoot, r.Now(), "%s: the hub did not answer whether it was told: %s", r.event, why(err))
			return hub.Told{AgentID: in.AgentID, ToldID: in.ToldID, Moved: true}, nil
		}
	}
}

// away reports whether a hub that ends, or is not there yet, refused a call.
func away(err error) bool {
	return errors.Is(err, &hub.Error{Code: hub.CodeUnreachable}) || errors.Is(err, &hub.Error{Code: hub.CodeStopping})
}

// advise holds the turn of an agent with work under way, once in a session and
// only where a watch would wake it.
func (r *run) advise(s *scene) (string, error) {
	text := s.advice()
	switch {
	case text == "":
		return "", quiet("nothing is new")
	case !Wakes(r.harness):
		return "", quiet("nothing is new, and a watch would not wake this harness")
	case !once(r.sessions, r.payload.SessionID, advised, false):
		return "", quiet("nothing is new, and advice was given before")
	}
	return text, nil
}

var (
	watchCommand = lazy.Regexp{Pattern: `(?:^|[\s;&|('"/\\])hubcli(?:\.exe)?['"]?\s+watch(?:\s|$)`}
	watchAgent   = lazy.Regexp{Pattern: `--agent(?:=|\s+)['"]?([A-Za-z0-9][A-Za-z0-9._@:+-]*)`}
)

// watched reports whether one of the commands is a watch of the agent. A watch
// whose agent is unknown, such as one given by a variable, counts as the
// agent's.
func watched(commands []string, id hub.AgentID) bool {
	return slices.ContainsFunc(commands, func(command string) bool {
		if !watchCommand.MatchString(command) {
			return false
		}
		agent := watchAgent.FindStringSubmatch(command)
		return agent == nil || hub.AgentID(agent[1]) == id
	})
}
