package replayfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"hubcli/hub"
)

// What a replay holds at most. It has the latest messages of the room. A file of MaxMessages
// messages of one kilobyte has some 20 MB.
const (
	MaxMessages = 20_000
	MaxBytes    = 32 << 20 // of messages; one page more may come
	MaxMoments  = 400
)

const (
	pageRows = 1_000
	evenly   = MaxMoments / 4 // of the moments, whatever was said
)

// Source answers what a room was like at a moment. A client of the hub is one.
type Source interface {
	Moment(ctx context.Context, q hub.MomentQuery) (hub.RoomMoment, error)
}

// Replay is what the file holds, in the form in which its page reads it.
type Replay struct {
	Name        string               `json:"name"` // of the room
	Project     string               `json:"project"`
	MadeAt      hub.Time             `json:"made_at"`
	FirstTS     hub.Time             `json:"first_ts"`
	LastTS      hub.Time             `json:"last_ts"`
	HistoryFrom hub.Time             `json:"history_from_ts"`
	LeftOut     bool                 `json:"left_out"`     // there are earlier messages, which the file does not hold
	FromCapsule bool                 `json:"from_capsule"` // there are no seats, claims, locks and pauses; tasks and runs are told by their times
	Messages    []hub.EncodedMessage `json:"-"`            // rising
	Rows        []json.RawMessage    `json:"rows"`         // what stood beside the messages, each once
	Lists       [][]int              `json:"lists"`        // places in Rows, each list once
	Moments     []moment             `json:"moments"`      // rising

	rows  map[[sha256.Size]byte]int // where a row is in Rows
	lists map[string]int            // where a list is in Lists
}

// moment is what stood beside the messages at a time. Its lists are places in Lists.
type moment struct {
	TS     hub.Time       `json:"ts"`
	Seq    hub.Seq        `json:"seq"`
	Kept   bool           `json:"kept"`
	Lists  map[string]int `json:"lists"`
	Counts map[string]int `json:"counts"`
}

// Collect reads the history of a room up to now. It calls progress, which may be nil, with the
// number of moments that were read and that there are. Errors are those of the source.
func Collect(ctx context.Context, source Source, room *hub.Room, project string, progress func(done, all int)) (*Replay, error) {
	now, err := source.Moment(ctx, hub.MomentQuery{RoomID: room.RoomID, Limit: 1})
	if err != nil {
		return nil, err
	}
	r := &Replay{Name: room.Name, Project: project}
	times, err := r.collectMessages(ctx, source, room.RoomID, now.Seq)
	if err != nil {
		return nil, err
	}
	return r, r.addMoments(ctx, source, &now, times, progress)
}

// Add adds to a replay that has its messages what stood beside them, up to now. times are those
// at which something happened, rising. The rest is as for Collect.
func (r *Replay) Add(ctx context.Context, source Source, room hub.RoomID, times []hub.Time, progress func(done, all int)) error {
	now, err := source.Moment(ctx, hub.MomentQuery{RoomID: room, Limit: 1})
	if err != nil {
		return err
	}
	now.RoomID = room
	return r.addMoments(ctx, source, &now, times, progress)
}

func (r *Replay) addMoments(ctx context.Context, source Source, now *hub.RoomMoment, times []hub.Time, progress func(done, all int)) error {
	r.MadeAt, r.FirstTS, r.LastTS, r.HistoryFrom = now.LastTS, now.FirstTS, max(now.FirstTS, now.TS), now.HistoryFromTS
	r.rows, r.lists = map[[sha256.Size]byte]int{}, map[string]int{}
	moments := r.moments(times)
	for i, at := range moments {
		m, err := source.Moment(ctx, hub.MomentQuery{RoomID: now.RoomID, At: at, Limit: 1})
		if err != nil {
			return err
		}
		if err := r.addMoment(at, &m); err != nil {
			return err
		}
		if progress != nil {
			progress(i+1, len(moments))
		}
	}
	return nil
}

// collectMessages reads the latest messages up to a record, and returns their times, rising.
func (r *Replay) collectMessages(ctx context.Context, source Source, room hub.RoomID, seq hub.Seq) (times []hub.Time, err error) {
	var before hub.MessageID
	for size := 0; ; {
		m, err := source.Moment(ctx, hub.MomentQuery{RoomID: room, Seq: seq, BeforeID: before, Limit: pageRows})
		if err != nil {
			return nil, err
		}
		page := make([]hub.Time, len(m.Messages))
		for i, encoded := range m.Messages {
			row, err := encoded.Decode()
			if err != nil {
				return nil, err
			}
			page[i] = row.TS
			size += len(encoded)
			if i == 0 {
				before = row.ID
			}
		}
		r.Messages, times = append(slices.Clone(m.Messages), r.Messages...), append(page, times...)
		if len(m.Messages) == 0 { // a short page is no end: a page is bounded in bytes, too
			return times, nil
		}
		if len(r.Messages) >= MaxMessages || size >= MaxBytes {
			r.LeftOut = true
			return times, nil
		}
	}
}

// moments chooses the times at which the room is looked at: its beginning and its end, those at
// which something happened, or as many of them as may be, and some at even distances, for what nobody spoke of.
func (r *Replay) moments(times []hub.Time) []hub.Time {
	chosen := []hub.Time{r.FirstTS, r.LastTS}
	most := MaxMoments - evenly
	for i := range min(most, len(times)) {
		chosen = append(chosen, times[i*len(times)/min(most, len(times))])
	}
	for i := range hub.Time(evenly - 2) {
		chosen = append(chosen, r.FirstTS+(r.LastTS-r.FirstTS)*i/(evenly-2))
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// addMoment adds a moment, unless all is as it was at the one before.
func (r *Replay) addMoment(at hub.Time, m *hub.RoomMoment) error {
	one := moment{TS: at, Seq: m.Seq, Kept: m.Kept, Lists: map[string]int{}, Counts: map[string]int{
		"task_count": m.TaskCount, "claim_count": m.ClaimCount, "lock_count": m.LockCount, "memory_count": m.MemoryCount,
	}}
	for name, list := range map[string]any{
		"seats": m.Seats, "tasks": m.Tasks, "ended_tasks": m.EndedTasks, "runs": m.Runs, "claims": m.Claims, "locks": m.Locks,
		"decisions": m.Decisions, "artifacts": m.Artifacts, "memories": m.Memories, "pauses": m.Pauses,
	} {
		place, err := r.addList(list)
		if err != nil {
			return err
		}
		one.Lists[name] = place
	}
	if n := len(r.Moments); n > 0 && same(&r.Moments[n-1], &one) {
		return nil
	}
	r.Moments = append(r.Moments, one)
	return nil
}

// addList adds a list and those of its rows that are new, and returns its place.
func (r *Replay) addList(list any) (place int, err error) {
	text, err := json.Marshal(list)
	if err != nil {
		return 0, err
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(text, &rows); err != nil {
		return 0, err
	}
	places := make([]int, len(rows))
	for i, row := range rows {
		sum := sha256.Sum256(row)
		at, known := r.rows[sum]
		if !known {
			at = len(r.Rows)
			r.Rows, r.rows[sum] = append(r.Rows, bytes.Clone(row)), at
		}
		places[i] = at
	}
	name := fmt.Sprint(places)
	place, known := r.lists[name]
	if !known {
		place = len(r.Lists)
		r.Lists, r.lists[name] = append(r.Lists, places), place
	}
	return place, nil
}

func same(a, b *moment) bool {
	for name, place := range a.Lists {
		if b.Lists[name] != place {
			return false
		}
	}
	for name, count := range a.Counts {
		if b.Counts[name] != count {
			return false
		}
	}
	return a.Kept == b.Kept
}
