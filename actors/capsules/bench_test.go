package capsules_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/actors/capsules"
	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/capsule/redact"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence"
)

// BenchmarkExport exports a room of 100,000 messages, and without -short of 1,000,000, as
// they are and redacted. It tells how much the heap grows beyond what the store has, and
// how long a synced commit of one message takes, 99 of 100 times, before and meanwhile.
func BenchmarkExport(b *testing.B) {
	sizes := []int{100_000}
	if !testing.Short() {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		s, err := persistence.Open(filepath.Join(b.TempDir(), "store"), persistence.Options{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(b, err)
		w := &writer{store: s}
		w.fill(b, n)
		for _, privacy := range privacies {
			b.Run(fmt.Sprintf("%d/%s", n, privacy), func(b *testing.B) { benchExport(b, w, n, privacy) })
		}
		require.NoError(b, s.Close())
	}
}

// writer appends to a store as the hub does.
type writer struct {
	store *persistence.Store
	head  core.Head
}

const benchRoom = hub.RoomID("r_2")

func (w *writer) record(messages ...core.MessageDraft) *core.Record {
	r := &core.Record{
		Seq: w.head.Seq + 1, Owner: core.Owner{Kind: core.OwnerChannel, Name: string(benchRoom.Channel())}, Wall: 1_700_000_000_000,
		FirstMessage: w.head.Message + 1, MessageCount: len(messages), FirstFence: w.head.Fence + 1,
		Facts: []core.EncodedFact{{Type: 3, Data: []byte("{}")}},
	}
	for i := range messages {
		r.Messages = append(r.Messages, messages[i].Encode(r.FirstMessage+hub.MessageID(i), r.Wall))
	}
	w.head.Seq, w.head.Message = r.Seq, w.head.Message+hub.MessageID(len(messages))
	return r
}

// fill makes a project with one room of n messages.
func (w *writer) fill(b *testing.B, n int) {
	first := w.record()
	first.Rows = []core.Row{
		{Table: core.TableProject, Key: []byte("p_1"), Value: []byte(`{"project_id":"p_1","slug":"shop","name":"Shop"}`)},
		{Table: core.TableRoom, Key: []byte(benchRoom), Value: []byte(`{"room":{"room_id":"r_2","project_id":"p_1","slug":"till","name":"Till","locks":"warn"},"folders":[]}`)},
	}
	require.NoError(b, w.store.Append(&core.Group{Records: []*core.Record{first}}))
	for at := 0; at < n; {
		g := &core.Group{}
		for range min(1_000, n-at) {
			g.Records = append(g.Records, w.record(benchMessage(at)))
			at++
		}
		require.NoError(b, w.store.Append(g))
	}
}

func benchMessage(i int) core.MessageDraft {
	body := fmt.Sprintf("Message %d: the parser of step %d is done, see #%d and %s. ", i, i%977, max(1, i-3), benchRoom)
	return core.MessageDraft{
		From: hub.AgentID(fmt.Sprintf("agent-%d", i%50)), Channel: benchRoom.Channel(), Kind: hub.KindChat, Room: benchRoom,
		Body:     body + strings.Repeat("It reads one token after the other, and keeps none. ", 4),
		Metadata: []byte(`{"step":3}`), Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession,
	}
}

func benchExport(b *testing.B, w *writer, n int, privacy capsule.Privacy) {
	before := w.commits(b, 300, nil)
	for b.Loop() {
		var red capsules.Redactor
		if privacy == capsule.ShareSafe {
			r, err := redact.New(redact.Options{Salt: make([]byte, 32), Homes: []string{"/home/sam"}, Users: []string{"sam"}, Hosts: []string{"till-7"}})
			require.NoError(b, err)
			red = r
		}
		idle, peak := heap(), atomic.Uint64{}
		done := make(chan struct{})
		ended := make(chan []time.Duration)
		go func() { ended <- w.commits(b, 0, done) }()
		view, err := w.store.Snapshot()
		require.NoError(b, err)
		req := capsules.Request{Project: "p_1", Scope: capsule.ScopeComplete, Privacy: privacy, Operator: true}
		begin := time.Now()
		result, err := capsules.Export(context.Background(), view, io.Discard, req, capsules.Identity{CapsuleID: strings.Repeat("0a", 16)}, red, func(at, _ int64) {
			if at%(64<<10) == 0 {
				peak.Store(max(peak.Load(), inUse()))
			}
		})
		took := time.Since(begin)
		view.Close()
		close(done)
		meanwhile := <-ended
		require.NoError(b, err)
		if result.Manifest.Counts.Messages < int64(n) {
			b.Fatalf("%d messages were exported", result.Manifest.Counts.Messages)
		}
		b.ReportMetric(float64(result.Manifest.Counts.Messages)/took.Seconds(), "messages/s")
		b.ReportMetric(float64(int64(peak.Load())-int64(idle))/(1<<20), "MiB-above-idle")
		b.ReportMetric(p99(before), "ms-p99-before")
		b.ReportMetric(p99(meanwhile), "ms-p99-meanwhile")
	}
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	return inUse()
}

// inUse is what is in use, with what a collection would free.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// commits commits messages, n or until done is closed, and says how long each took.
func (w *writer) commits(b *testing.B, n int, done chan struct{}) (all []time.Duration) {
	for n == 0 || len(all) < n {
		select {
		case <-done:
			return all
		default:
		}
		r := w.record(benchMessage(len(all)))
		begin := time.Now()
		if err := w.store.Append(&core.Group{Records: []*core.Record{r}}); err != nil {
			b.Error(err)
			return all
		}
		all = append(all, time.Since(begin))
	}
	return all
}

func p99(all []time.Duration) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return float64(all[len(all)*99/100].Microseconds()) / 1000
}
