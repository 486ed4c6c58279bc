package capsules

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"maps"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/capsule"
	"hubcli/hub"
)

// A survey is what belongs to one capsule. It holds ids and counts, and no texts but those
// of the project and its rooms.
type survey struct {
	ctx  context.Context //nolint:containedctx // a survey lives as long as its call
	rows core.Rows
	req  Request
	numbers

	row     hub.Project
	chosen  []hub.Room                     // in the order of creation
	byName  map[hub.ChannelName]int        // place in chosen, by the room's channel
	public  []int64                        // messages of each room's channel
	directs map[hub.RoomID][]hub.MessageID // rising
	tasks   ranks[hub.TaskID]
	hidden  map[hub.TaskID]bool         // tasks of the rooms that are left out
	agents  map[hub.AgentID]hub.AgentID // their names in the capsule; filled by name
	leftOut map[string]int
	sums    hash.Hash // of what can change without a new message
	direct  int64     // direct messages in the capsule
}

// checkEvery is after how many rows a long walk looks whether its caller has gone.
const checkEvery = 1 << 10

// newSurvey finds everything that belongs to a capsule: of the messages, those with
// after < id <= upto.
func newSurvey(ctx context.Context, rows core.Rows, req Request, after, upto hub.MessageID) (*survey, error) {
	s := &survey{
		ctx: ctx, rows: rows, req: req, byName: map[hub.ChannelName]int{}, directs: map[hub.RoomID][]hub.MessageID{},
		hidden: map[hub.TaskID]bool{}, agents: map[hub.AgentID]hub.AgentID{}, leftOut: map[string]int{},
		sums: sha256.New(),
	}
	s.project = req.Project
	for _, step := range []func() error{req.Check, s.places, s.records, s.memoriesOf, s.work} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if req.messages() {
		if err := s.walk(after, upto); err != nil {
			return nil, err
		}
	}
	for _, id := range s.tasks {
		s.messages.add(id)
	}
	s.messages.settle()
	return s, nil
}

// places reads the project and the rooms that are wanted.
func (s *survey) places() (err error) {
	s.row, err = view.StoredRow[hub.Project](s.rows, core.TableProject, []byte(s.project))
	if errors.Is(err, core.ErrNotFound) {
		return hub.Errorf(hub.CodeProjectNotFound, "there is no project %s", s.project).With("project", s.project)
	}
	if err != nil {
		return err
	}
	err = view.ReadRows(s.rows, core.TableRoom, nil, nil, false, func(_ []byte, r core.StoredRoom) bool {
		if s.req.wants(&r.Room) {
			s.chosen = append(s.chosen, r.Room)
		}
		return true
	})
	slices.SortFunc(s.chosen, func(a, b hub.Room) int {
		return int(int64(view.SeqOf(core.PrefixRoom, a.RoomID)) - int64(view.SeqOf(core.PrefixRoom, b.RoomID)))
	})
	s.public = make([]int64, len(s.chosen))
	s.sum(s.row.Name, s.row.Archived)
	for i := range s.chosen {
		room := &s.chosen[i]
		s.sum(room.RoomID, room.Name, room.Locks, room.Archived, room.WithProject, room.GuardHops)
		s.rooms = append(s.rooms, view.SeqOf(core.PrefixRoom, room.RoomID))
		s.byName[room.RoomID.Channel()] = i
		s.agent(room.CreatedBy)
	}
	for _, id := range s.req.Rooms {
		if _, ok := s.byName[id.Channel()]; err == nil && !ok {
			return core.ErrRoomNotFound(string(id))
		}
	}
	return err
}

// agent notes an agent that a line names.
func (s *survey) agent(id hub.AgentID) {
	if id != "" {
		s.agents[id] = ""
	}
}

// seqs collects the sequence numbers of an index of things by room or project.
func (s *survey) seqs(t core.Table, owner string, into *ranks[hub.Seq]) error {
	return s.rows.RowsOf(t, core.OwnedKey(owner, nil), false, func(key, _ []byte) bool {
		*into = append(*into, hub.Seq(core.KeyEnd(key)))
		return true
	})
}

// records finds decisions and artifacts.
func (s *survey) records() error {
	for i := range s.chosen {
		room := string(s.chosen[i].RoomID)
		if err := errors.Join(s.seqs(core.TableDecisionByRoom, room, &s.decisions), s.seqs(core.TableArtifactByRoom, room, &s.artifacts), s.seqs(core.TableRunByRoom, room, &s.runs)); err != nil {
			return err
		}
	}
	s.decisions.settle()
	s.artifacts.settle()
	s.runs.settle()
	s.sum(s.decisions, s.artifacts)
	err := eachOf(s, core.TableDecision, s.decisions, func(_ int64, d hub.Decision) error {
		s.agent(d.By)
		return nil
	})
	if err == nil {
		err = eachOf(s, core.TableArtifact, s.artifacts, func(_ int64, a hub.Artifact) error {
			s.agent(a.By)
			return nil
		})
	}
	return err
}

// memoriesOf finds the memories of the rooms and, unless rooms were selected, those of the
// project.
func (s *survey) memoriesOf() error {
	var shared ranks[hub.Seq]
	if err := s.seqs(core.TableMemoryBy, string(s.project), &shared); err != nil {
		return err
	}
	if s.req.Scope == capsule.ScopeSelectedRooms {
		s.left(leftMemories, len(shared))
	} else {
		s.memories = shared
	}
	for i := range s.chosen {
		if err := s.seqs(core.TableMemoryBy, string(s.chosen[i].RoomID), &s.memories); err != nil {
			return err
		}
	}
	s.memories.settle()
	s.sum(s.memories)
	return eachOf(s, core.TableMemory, s.memories, func(_ int64, m core.StoredMemory) error {
		s.agent(m.By)
		return nil
	})
}

// work finds runs and tasks.
func (s *survey) work() error {
	for i := range s.chosen {
		err := s.rows.RowsOf(core.TableTaskByRoom, core.OwnedKey(s.chosen[i].RoomID, nil), false, func(key, _ []byte) bool {
			s.tasks = append(s.tasks, hub.TaskID(core.KeyEnd(key)))
			return true
		})
		if err != nil {
			return err
		}
	}
	s.tasks.settle()
	kept := s.tasks[:0]
	err := s.eachTask(func(t *core.StoredTask) error {
		if t.Direct && !s.req.direct() {
			s.hidden[t.Task.TaskID] = true
			return nil
		}
		kept = append(kept, t.Task.TaskID)
		s.sum(t.Task, t.Was)
		s.agent(t.Task.CreatedBy)
		s.agent(hub.Value(t.Task.Assignee))
		s.agent(t.Asked)
		return nil
	})
	s.tasks = kept
	s.left(leftTasks, len(s.hidden))
	if err == nil {
		err = eachOf(s, core.TableRun, s.runs, func(_ int64, r core.StoredRun) error {
			s.sum(r.Run.RunID, r.Run.Status, r.Run.EndedAt)
			s.agent(r.Run.CreatedBy)
			return nil
		})
	}
	return err
}

// eachTask calls fn with the tasks of the capsule by number.
func (s *survey) eachTask(fn func(*core.StoredTask) error) error {
	for i, id := range slices.Clone(s.tasks) {
		if err := s.alive(i); err != nil {
			return err
		}
		t, err := view.StoredRow[core.StoredTask](s.rows, core.TableTask, core.IDKey(id))
		if err == nil {
			err = fn(&t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachOf calls fn with the rows of a table by number, from 1.
func eachOf[T any](s *survey, t core.Table, seqs ranks[hub.Seq], fn func(n int64, row T) error) error {
	for i, seq := range seqs {
		if err := s.alive(i); err != nil {
			return err
		}
		row, err := view.StoredRow[T](s.rows, t, core.SeqKey(seq))
		if err == nil {
			err = fn(int64(i)+1, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walk finds the messages of the rooms among all messages of a range, in one pass.
func (s *survey) walk(after, upto hub.MessageID) error {
	n, failed := 0, error(nil)
	err := s.rows.Messages(core.Scope{Kind: core.ScopeAll}, after, upto, false, func(m *core.StoredMessage) bool {
		n++
		failed = errors.Join(s.alive(n), s.note(m))
		return failed == nil
	})
	return errors.Join(err, failed)
}

// note notes a message if it belongs to the capsule.
func (s *survey) note(m *core.StoredMessage) error {
	if m.To == "" {
		at, ok := s.byName[m.Channel]
		if !ok {
			return nil
		}
		s.public[at]++
	} else {
		room, err := roomOf(m)
		if _, ok := s.byName[room.Channel()]; err != nil || !ok {
			return err
		}
		if !s.req.direct() {
			s.left(leftDirect, 1)
			return nil
		}
		s.directs[room] = append(s.directs[room], m.ID)
		s.direct++
	}
	s.messages.add(m.ID)
	s.agent(m.From)
	s.agent(m.To)
	return nil
}

// roomOf returns the room of a direct message, or "".
func roomOf(m *core.StoredMessage) (hub.RoomID, error) {
	var row struct {
		RoomID hub.RoomID `json:"room_id"` // null leaves it empty
	}
	if json.Unmarshal(m.JSON, &row) != nil {
		return "", hub.NewError(hub.CodeCorruptRecord, "a stored message cannot be read").With("message_id", m.ID)
	}
	return row.RoomID, nil
}

// sum adds values of rows to the sum of the state.
func (s *survey) sum(values ...any) {
	for _, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			panic("capsules: a row is no JSON: " + err.Error())
		}
		_, _ = s.sums.Write(append(b, '\n'))
	}
}

// State sums up what can change in a project without a new message. Equal states give
// equal sums.
type State [sha256.Size]byte

func (s *survey) state() (out State) {
	copy(out[:], s.sums.Sum(nil))
	return out
}

// Changed reports whether a capsule of the same request would hold something else now than
// the one that was written with this result. Errors are those of Export.
func Changed(ctx context.Context, rows core.Snapshot, req Request, was *Result) (bool, error) {
	s, err := newSurvey(ctx, rows, req, was.Head.Message, rows.Head().Message)
	if err != nil {
		return false, err
	}
	return s.state() != was.State || s.posted(), nil
}

// posted reports whether the survey met a message of the capsule.
func (s *survey) posted() bool {
	return s.direct > 0 || slices.ContainsFunc(s.public, func(n int64) bool { return n > 0 })
}

// left counts things that the capsule leaves out.
func (s *survey) left(kind string, n int) {
	if n > 0 {
		s.leftOut[kind] += n
	}
}

// alive returns why the caller has gone, at every so many rows.
func (s *survey) alive(n int) error {
	if n%checkEvery != 0 {
		return nil
	}
	return context.Cause(s.ctx)
}

// total is how many rows an export writes.
func (s *survey) total() int64 {
	n := int64(len(s.chosen)+len(s.decisions)+len(s.artifacts)+len(s.memories)+len(s.runs)+len(s.tasks)) + s.direct
	for _, public := range s.public {
		n += public
	}
	return n
}

// sortedAgents lists the agents of the capsule by their names in the hub.
func (s *survey) sortedAgents() []hub.AgentID { return slices.Sorted(maps.Keys(s.agents)) }
