package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// BenchmarkPut measures taking in messages, with the engine's own saving and
// merging, as a rebuild does it. One operation is one message.
func BenchmarkPut(b *testing.B) {
	const batch = 250
	random := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(random, 1.07, 3, 20_000)
	texts := make([]string, 5_000)
	for i := range texts {
		var t strings.Builder
		for range 8 + random.IntN(50) {
			switch w := zipf.Uint64(); random.IntN(30) {
			case 0:
				fmt.Fprintf(&t, "pkg/w%d/file_%d.go:%d ", w, w%100, random.IntN(900))
			default:
				fmt.Fprintf(&t, "w%s ", strings.Repeat("ab", int(w%3))+fmt.Sprint(w))
			}
		}
		texts[i] = t.String()
	}
	x := opened(b)
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		docs := make([]core.IndexDocument, 0, batch)
		size := 0
		for i := range min(batch, b.N-n) {
			d := public(n+i+1, texts[(n+i)%len(texts)])
			docs = append(docs, d)
			size += len(d.Text)
		}
		require.NoError(b, x.Put(context.Background(), docs, core.IndexPosition{Message: hub.MessageID(n + len(docs))}))
	}
	for x.unsaved.Load() > 0 {
		<-x.saved
	}
}
