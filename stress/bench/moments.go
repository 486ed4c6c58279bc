package bench

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/stress/wire"
)

const (
	momentMessages = 100_000 // at most: no more than the large store has
	momentQueries  = 300
)

// moments fills a room and measures what it costs to look back: the time of a moment by its
// record and by its time, right after the messages and after a restart, and what a message
// takes on the disk, with its record, once the store is compact.
func (r *run) moments(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, nil // the ceiling remembers nothing
	}
	store := r.newStore()
	p, err := r.hub(ctx, store)
	if err != nil {
		return nil, err
	}
	defer func() { p.Kill() }() // p changes
	c := p.Client()
	defer func() { c.Close() }() // c changes
	project, err := c.CreateProject(ctx, hub.ProjectInput{Name: "Long"})
	if err != nil {
		return nil, err
	}
	room, err := c.CreateRoom(ctx, hub.RoomInput{Project: project.Row.Slug, Name: "Room", CreatedBy: "bench"})
	if err != nil {
		return nil, err
	}
	messages := min(momentMessages, r.Messages)
	if _, err := r.load(ctx, messages, p.Addr, string(room.Row.Channel), wire.Counter+strings.Repeat("x", largeBodyBytes-len(wire.Counter))); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("a moment of a room of %d messages", messages)
	first, err := momentTimes(ctx, c, room.Row.RoomID)
	if err != nil {
		return nil, err
	}
	if err := p.Stop(); err != nil {
		return nil, err
	}
	bytes, err := sizeOf(store)
	if err != nil {
		return nil, err
	}
	if p, err = r.hub(ctx, store); err != nil {
		return nil, err
	}
	c.Close()
	c = p.Client()
	pause.For(ctx, r.Settle)
	later, err := momentTimes(ctx, c, room.Row.RoomID)
	if err != nil {
		return nil, err
	}
	p99 := func(took []time.Duration) float64 { return took[len(took)*99/100].Seconds() * 1e3 }
	note := func(took []time.Duration) string {
		return fmt.Sprintf("%d moments by record and by time, p50 %.2f ms, slowest %.2f ms", len(took), took[len(took)/2].Seconds()*1e3, took[len(took)-1].Seconds()*1e3)
	}
	return []Result{
		absolute(what+", p99", p99(first), atMost(100, "ms"), note(first)),
		absolute(what+", p99 after a restart", p99(later), atMost(100, "ms"), note(later)),
		absolute("a message on the disk with its record", float64(bytes)/float64(messages), atMost(2_000, "bytes"),
			fmt.Sprintf("all files of the store after a clean stop; a body has %d bytes", largeBodyBytes)),
	}, p.Stop()
}

// momentTimes asks for moments of a room all over its history, and returns how long each took,
// rising.
func momentTimes(ctx context.Context, c *client.Client, room hub.RoomID) ([]time.Duration, error) {
	now, err := c.Moment(ctx, hub.MomentQuery{RoomID: room, Limit: 1})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(searchSeed, 2))
	var took []time.Duration
	for i := range momentQueries {
		q := hub.MomentQuery{RoomID: room, Seq: now.LastSeq - hub.Seq(random.Int64N(int64(now.LastSeq-now.HistoryFromSeq)))}
		if i%2 == 1 {
			q = hub.MomentQuery{RoomID: room, At: now.FirstTS + hub.Time(random.Int64N(1+int64(now.LastTS-now.FirstTS)))}
		}
		begin := time.Now()
		if _, err := c.Moment(ctx, q); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took, nil
}

// sizeOf returns how many bytes the files below a folder have.
func sizeOf(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
