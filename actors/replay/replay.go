package replay

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// The longest lists of a moment.
const (
	momentTasks  = 200
	momentEnded  = 50
	momentRuns   = 50
	momentLeases = 200
	momentRows   = 50 // of decisions, titles of artifacts and memories
)

// Options are what a Replay is made of.
type Options struct {
	View    *view.View
	Journal core.Journal
	Rows    core.Rows
	Log     *slog.Logger
	// Every is how many records may pass between two kept states. 0 means keptEvery.
	Every int
}

// Replay shows moments; see the package comment.
//
// Invariants after Begin, with mu held:
//
//   - begins never becomes false again. While it is false there is no history, and lastKept is 0.
//   - from and fromTS are set with begins, and never later. from is 0 where the journal has its first
//     record. Elsewhere it is the first moment for which a kept state can be used.
//   - lastKept is the latest state whose rows are stored. A state that could not be stored changes
//     nothing here, and the next checkpoint tries again.
//   - There are at most maxWalkers walkers, and each goes forward only. A moment before all of them
//     begins at a kept state. A walker that failed is dropped.
//
// mu is held while the store is read, and while a kept state is written. So a checkpoint waits for a
// moment that is being made; commands of agents do not.
type Replay struct {
	view    *view.View
	journal core.Journal
	rows    core.Rows
	log     *slog.Logger
	every   hub.Seq

	mu       sync.Mutex // guards what follows, and serializes moments
	begins   bool       // the history has begun
	from     hub.Seq    // the first moment of the history; 0: that of the hub
	fromTS   hub.Time   // when that was
	lastKept hub.Seq
	lastSize hub.Seq // bytes of the state that was kept last
	walkers  []*walker
	looked   time.Time // when dropIdle was called last
}

// New makes a Replay. Begin is called before anything else.
func New(o Options) *Replay {
	return &Replay{
		view: o.View, journal: o.Journal, rows: o.Rows, log: o.Log,
		every: hub.Seq(min(cmp.Or(o.Every, keptEvery), keptEvery)),
	}
}

// moment is what all lists of an answer have in common.
type moment struct {
	room hub.Room
	seq  hub.Seq  // its last record; with kept alone
	ts   hub.Time // of that record, or the time that was asked for
	kept bool
	sees view.Viewer
}

// has reports whether something that a record made was there at the moment.
func (m *moment) has(seq hub.Seq, at hub.Time) bool {
	if m.kept {
		return seq <= m.seq
	}
	return at <= m.ts
}

// Moment shows what a room was like; see hub.Replays.
func (r *Replay) Moment(ctx context.Context, q hub.MomentQuery) (hub.RoomMoment, error) {
	var out hub.RoomMoment
	room, err := r.view.Room(q.RoomID)
	if err != nil {
		return out, err
	}
	m := moment{room: room, sees: view.ViewerOf(ctx, q.Viewer)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil { // its client did not wait for those before it
		return out, err
	}
	if err := r.find(&m, &q, &out); err != nil {
		return out, err
	}
	if m.kept {
		err = r.showKept(&m, &out)
	} else {
		out.Seats, out.Tasks, out.EndedTasks = []hub.MomentSeat{}, []hub.Task{}, []hub.Task{}
		out.Runs, out.Claims, out.Locks, out.Pauses = []hub.Run{}, []hub.Claim{}, []hub.Lock{}, []hub.Pause{}
		out.LatestID, err = r.latestAt(&m)
	}
	for _, show := range []func(*moment, *hub.RoomMoment) error{r.showDecisions, r.showArtifacts, r.showMemories} {
		if err == nil {
			err = show(&m, &out)
		}
	}
	if err == nil {
		err = r.showMessages(ctx, &m, &q, &out)
	}
	return out, err
}

// find says which moment is meant, and what is known of it.
func (r *Replay) find(m *moment, q *hub.MomentQuery, out *hub.RoomMoment) error {
	head := r.view.ShownUpTo()
	if err := r.ends(m, head, out); err != nil {
		return err
	}
	out.RoomID = m.room.RoomID
	from := max(out.HistoryFromSeq, 1)
	switch {
	case q.Seq > head:
		return hub.Invalid("seq", "this moment has not come yet").With("last_seq", head).
			WithFix("name a record up to last_seq, or a time")
	case q.Seq != 0 && (q.Seq < from || !r.begins):
		return hub.Invalid("seq", "the hub does not keep what was before this room's history").
			With("history_from_seq", out.HistoryFromSeq).
			WithFix("name a record from history_from_seq on, or a time: messages and decisions are found by their times")
	case q.At != 0 && (q.At < out.HistoryFromTS || !r.begins):
		m.ts, out.TS = q.At, q.At
		return nil
	case !r.begins:
		m.ts, out.TS = out.LastTS, out.LastTS
		return nil
	}
	seq := cmp.Or(q.Seq, head)
	var err error
	if q.At != 0 && q.At < out.LastTS {
		seq, err = r.lastUpTo(q.At, from, head)
	}
	m.seq, m.kept, out.Kept = seq, true, true
	return err
}

// ends fills in what is about the whole history of a room.
func (r *Replay) ends(m *moment, head hub.Seq, out *hub.RoomMoment) error {
	out.LastSeq, out.FirstTS, out.LastTS = head, m.room.CreatedAt, hub.TimeOf(time.Now())
	made, _ := core.SeqOf(core.PrefixRoom, string(m.room.RoomID))
	out.HistoryFromSeq = max(r.from, made)
	for _, i := range r.view.Imports() {
		if !i.HasID(string(m.room.RoomID)) {
			continue
		}
		out.HistoryFromSeq = max(r.from, i.Revealed)
		err := r.rows.Messages(view.ChannelScope(m.room.Channel), 0, hub.MaxMessageID, false, func(first *core.StoredMessage) bool {
			out.FirstTS = min(out.FirstTS, first.TS)
			return false
		})
		if err != nil {
			return err
		}
	}
	if out.HistoryFromTS = r.fromTS; out.HistoryFromSeq == r.from || !r.begins {
		return nil
	}
	rec, found, err := r.recordBehind(out.HistoryFromSeq - 1)
	if found {
		out.HistoryFromTS = rec.Wall
	}
	return err
}

// showMessages shows a page of the room's messages, and when the next one came.
func (r *Replay) showMessages(ctx context.Context, m *moment, q *hub.MomentQuery, out *hub.RoomMoment) error {
	scope := view.ChannelScope(m.room.Channel)
	feed := view.Feed{Scopes: []core.Scope{scope}, Limit: cmp.Or(q.Limit, hub.DefaultPageRows), Tail: q.SinceID == 0}
	upto := out.LatestID
	if q.BeforeID != 0 {
		upto = min(upto, q.BeforeID-1)
	}
	rows, _, err := r.view.ReadPage(ctx, &feed, q.SinceID, upto)
	if err != nil {
		return err
	}
	out.Messages = view.Page(rows, 0, 0).Rows
	return r.rows.Messages(scope, out.LatestID, r.view.Ring.Visible(), false, func(next *core.StoredMessage) bool {
		ts := next.TS
		out.NextTS = &ts
		return false
	})
}

// latestAt finds the last message of a room up to a time that is before the history, by
// halves of the room's messages: those of an import have the times that they had.
func (r *Replay) latestAt(m *moment) (hub.MessageID, error) {
	scope, low, high := view.ChannelScope(m.room.Channel), hub.MessageID(0), r.view.Ring.Visible()
	for low < high { // messages up to low are not later than the moment, those above high are
		middle, found := low+(high-low)/2, hub.MessageID(0)
		var ts hub.Time
		err := r.rows.Messages(scope, middle, high, false, func(next *core.StoredMessage) bool {
			found, ts = next.ID, next.TS
			return false
		})
		switch {
		case err != nil:
			return 0, err
		case found != 0 && ts <= m.ts:
			low = found
		default:
			high = middle
		}
	}
	return low, nil
}

// showDecisions shows the decisions up to the moment.
func (r *Replay) showDecisions(m *moment, out *hub.RoomMoment) error {
	out.Decisions = []hub.Decision{}
	return view.LatestRows(r.rows, core.TableDecision, core.TableDecisionByRoom, m.room.RoomID, m.behind(), func(d hub.Decision) bool {
		if m.has(view.SeqOf(core.PrefixDecision, d.DecisionID), d.CreatedAt) {
			out.Decisions = append(out.Decisions, d)
		}
		return len(out.Decisions) < momentRows
	})
}

// behind is the number behind those that may be shown.
func (m *moment) behind() hub.Seq {
	if m.kept {
		return m.seq + 1
	}
	return 1<<63 - 1
}

// showArtifacts shows the latest versions up to the moment.
func (r *Replay) showArtifacts(m *moment, out *hub.RoomMoment) error {
	out.Artifacts = []hub.Artifact{}
	seen := map[string]bool{}
	return view.LatestRows(r.rows, core.TableArtifact, core.TableArtifactByRoom, m.room.RoomID, m.behind(), func(a hub.Artifact) bool {
		if !seen[a.Title] && m.has(view.SeqOf(core.PrefixArtifact, a.ArtifactID), a.CreatedAt) {
			seen[a.Title] = true
			out.Artifacts = append(out.Artifacts, a)
		}
		return len(out.Artifacts) < momentRows
	})
}

// showMemories shows what was remembered at the moment. The index of memories says when
// each was replaced or forgotten, so that no other row is read than those that are shown.
func (r *Replay) showMemories(m *moment, out *hub.RoomMoment) error {
	var current []hub.Seq
	for _, of := range []string{string(m.room.RoomID), string(m.room.ProjectID)} {
		err := view.EachMemoryEnd(r.rows, of, func(seq hub.Seq, end *core.MemoryEnd) error {
			switch {
			case m.kept && seq <= m.seq && (end == nil || end.Seq > m.seq):
				current = append(current, seq)
			case !m.kept && (end == nil || end.At > m.ts):
				row, err := view.StoredRow[core.StoredMemory](r.rows, core.TableMemory, core.SeqKey(seq))
				if err == nil && row.CreatedAt <= m.ts {
					current = append(current, seq)
				}
				return err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(current, func(a, b hub.Seq) int { return cmp.Compare(b, a) })
	out.Memories, out.MemoryCount = []hub.Memory{}, len(current)
	for _, seq := range current[:min(len(current), momentRows)] {
		row, err := view.StoredRow[core.StoredMemory](r.rows, core.TableMemory, core.SeqKey(seq))
		if err != nil {
			return err
		}
		out.Memories = append(out.Memories, row.Memory)
	}
	return nil
}
