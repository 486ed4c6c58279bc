package search

import (
	"context"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// opened returns an index in a folder of the test.
func opened(tb testing.TB) *Index {
	tb.Helper()
	x := New(tb.TempDir()+"/search", "store", nil)
	if _, err := x.Open(core.IndexPosition{Message: hub.MaxMessageID, Seq: 1 << 40}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}

func put(tb testing.TB, x *Index, docs ...core.IndexDocument) {
	tb.Helper()
	var last core.IndexPosition
	for _, d := range docs {
		last.Message = max(last.Message, hub.MessageID(d.Number))
	}
	require.NoError(tb, x.Put(context.Background(), docs, last))
}

func public(n int, text string) core.IndexDocument {
	return core.IndexDocument{Type: hub.FoundMessage, Number: uint64(n), Text: text, Channel: "general", From: "ann", Kind: "chat", TS: hub.Time(n * 1000)}
}

// find returns the numbers found, best first.
func find(tb testing.TB, x *Index, q core.IndexQuery) []uint64 {
	tb.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	hits, err := x.Find(context.Background(), q)
	if err != nil {
		tb.Fatalf("find %q: %v", q.Text, err)
	}
	out := []uint64{}
	for _, h := range hits {
		out = append(out, h.Number)
	}
	return out
}
