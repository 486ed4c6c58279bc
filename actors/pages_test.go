package actors

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"hubcli/hub"
)

// TestUnreadPagesShareMemory: answers that nobody takes have a bounded share of memory, all
// of them together. Pages become shorter meanwhile, go on where they ended, and become long
// again when the answers are gone.
func TestUnreadPagesShareMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			bodies = 60
			body   = 100_000
			// What counts: 64 MiB, as operations.md says, and a row for each of those for
			// whom there is nothing left.
			calls, most = 200, 64<<20 + 200*(body+1000)
		)
		r := start(t, newMemStore(), ringOf(1)) // each answer has rows of its own
		for range bodies {
			r.say("poster", hub.DefaultChannel, strings.Repeat("x", body))
		}
		read := func(ctx context.Context, since hub.MessageID) (page hub.Page, bytes int) {
			page, err := r.Events(ctx, hub.EventsQuery{Agent: "reader", Channels: []hub.ChannelName{hub.DefaultChannel}, Since: since, Limit: 1000, Peek: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range page.Rows {
				bytes += len(row)
			}
			return page, bytes
		}
		_, whole := read(t.Context(), 0)
		if whole < 1<<20 {
			t.Fatalf("the first page has %d bytes", whole)
		}

		unread, taken := context.WithCancel(t.Context())
		total, last := 0, 0
		for range calls {
			_, last = read(unread, 0)
			total += last
		}
		if total > most {
			t.Errorf("%d unread answers have %d bytes, want at most %d", calls, total, most)
		}
		if last == 0 || last > 64<<10+body+1000 {
			t.Errorf("the last of them has %d bytes", last)
		}
		var since hub.MessageID
		for rows := 0; rows < bodies; {
			page, _ := read(unread, since)
			if len(page.Rows) == 0 {
				t.Fatalf("after %d of %d rows a page was empty", rows, bodies)
			}
			rows, since = rows+len(page.Rows), page.NextSinceID
		}

		taken()
		synctest.Wait()
		if _, again := read(t.Context(), 0); again != whole {
			t.Errorf("after the answers were taken a page has %d bytes, before them %d", again, whole)
		}
		r.stop()
	})
}
