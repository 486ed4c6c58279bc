package actors

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// Of what is read in the tests of unread answers.
const (
	unreadRows = 60
	unreadBody = 100_000
	unreadMost = unreadBody + 1_000 // bytes of a row
)

// TestUnreadPagesShareMemory: answers that nobody takes have a bounded share of memory, all
// of them together. Pages become shorter meanwhile, and long again when the answers are gone.
func TestUnreadPagesShareMemory(t *testing.T) {
	testrace.Avoid(t, "it measures memory")
	for name, reader := range map[string]func(*rig, hub.Room) func(context.Context) []hub.EncodedMessage{
		"pages of channels": pagesOfChannel, "threads": threads, "moments": moments, "the stream of the hub": streams,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, room := manyRows(t)
				read := func(ctx context.Context) (bytes int) {
					for _, row := range reader(r, room)(ctx) {
						bytes += len(row)
					}
					return bytes
				}
				whole := read(t.Context())
				if whole < 1<<20 {
					t.Fatalf("the first answer has %d bytes", whole)
				}
				unread, taken := context.WithCancel(t.Context())
				const answers = 200
				total, last := 0, 0
				for i := range answers {
					last = read(actsAs(unread, i%10))
					total += last
				}
				// What counts: 64 MiB, as operations.md says, and a row for each of those for
				// whom there is nothing left.
				if most := 64<<20 + answers*unreadMost; total > most {
					t.Errorf("%d unread answers have %d bytes, want at most %d", answers, total, most)
				}
				if last == 0 || last > 64<<10+unreadMost {
					t.Errorf("the last of them has %d bytes", last)
				}
				taken()
				synctest.Wait()
				if again := read(t.Context()); again != whole {
					t.Errorf("after the answers were taken one has %d bytes, before them %d", again, whole)
				}
				r.stop()
			})
		})
	}
}

// TestShortPagesLoseNothing: where pages are short, because many are under way, the next
// call goes on where a page ended.
func TestShortPagesLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, room := manyRows(t)
		unread, taken := context.WithCancel(t.Context())
		defer taken()
		for i := range 200 {
			pagesOfChannel(r, room)(actsAs(unread, i%10))
		}
		rows := 0
		for q := channelQuery(room); rows < unreadRows; {
			page, err := r.Events(t.Context(), q)
			require.NoError(t, err)
			if len(page.Rows) == 0 || len(page.Rows) > 2 {
				t.Fatalf("after %d of %d rows a page has %d", rows, unreadRows, len(page.Rows))
			}
			rows, q.Since = rows+len(page.Rows), page.NextSinceID
		}
		r.stop()
	})
}

// manyRows starts a hub with a room that has more rows than the memory of the newest ones
// holds: each answer has rows of its own.
func manyRows(t *testing.T) (*rig, hub.Room) {
	r := start(t, newMemStore(), ringOf(1))
	room := r.newRoom("hall")
	for range unreadRows {
		r.post(hub.PostInput{FromAgent: "poster", Channel: room.Channel, ThreadID: "talk", Body: strings.Repeat("x", unreadBody)})
	}
	return r, room
}

func channelQuery(room hub.Room) hub.EventsQuery {
	return hub.EventsQuery{Agent: "reader", Channels: []hub.ChannelName{room.Channel}, Limit: 1000, Peek: true}
}

func pagesOfChannel(r *rig, room hub.Room) func(context.Context) []hub.EncodedMessage {
	return func(ctx context.Context) []hub.EncodedMessage {
		page, err := r.Events(ctx, channelQuery(room))
		require.NoError(r.t, err)
		return page.Rows
	}
}

func threads(r *rig, _ hub.Room) func(context.Context) []hub.EncodedMessage {
	return func(ctx context.Context) []hub.EncodedMessage {
		thread, err := r.Thread(ctx, "talk", "reader")
		require.NoError(r.t, err)
		return thread.Messages
	}
}

func moments(r *rig, room hub.Room) func(context.Context) []hub.EncodedMessage {
	return func(ctx context.Context) []hub.EncodedMessage {
		moment, err := r.Moment(asOperator(ctx), hub.MomentQuery{RoomID: room.RoomID, Limit: 1000})
		require.NoError(r.t, err)
		return moment.Messages
	}
}

func streams(r *rig, _ hub.Room) func(context.Context) []hub.EncodedMessage {
	return func(ctx context.Context) []hub.EncodedMessage {
		follow := r.follow(&hub.FollowPlace{})
		defer follow.Close()
		news, err := follow.Next(ctx, time.Second)
		require.NoError(r.t, err)
		return news.Rows
	}
}

// TestMutedRowsHoldNoMemory: rows that end no wait take no memory from others while the wait
// goes on.
func TestMutedRowsHoldNoMemory(t *testing.T) {
	testrace.Avoid(t, "it measures memory")
	synctest.Test(t, func(t *testing.T) {
		r, room := manyRows(t)
		whole := len(pagesOfChannel(r, room)(t.Context()))
		r.mute(hub.MuteInput{AgentID: "noise"})
		waiting, end := context.WithCancel(t.Context())
		defer end()
		for range 8 {
			go func() {
				q := channelQuery(room)
				q.Agent, q.Since, q.Wait = "waiter", r.view.Ring.Visible(), time.Hour
				_, _ = r.Events(waiting, q)
			}()
		}
		synctest.Wait()
		for range 100 {
			r.post(hub.PostInput{FromAgent: "noise", Channel: room.Channel, Body: strings.Repeat("x", unreadBody)})
			synctest.Wait()
		}
		if n := len(pagesOfChannel(r, room)(t.Context())); n != whole {
			t.Errorf("beside polls that wait a page has %d rows, without them %d", n, whole)
		}
		end()
		synctest.Wait()
		r.stop()
	})
}

// TestLongRowsShareMemory: an answer that cannot be made shorter counts as what it is. Where
// there is no memory left for it, the call is refused, and it is answered when the others are
// gone. No agent can take more than a quarter of the memory from the others.
func TestLongRowsShareMemory(t *testing.T) {
	testrace.Avoid(t, "it measures memory")
	const size, agents, most = 3 << 20, 8, 128 << 20
	body := strings.Repeat("x", size)
	for name, read := range map[string]func(context.Context, *rig, hub.Message, hub.ArtifactID) (int, error){
		"pages": func(ctx context.Context, r *rig, m hub.Message, _ hub.ArtifactID) (int, error) {
			page, err := r.Messages(ctx, hub.MessagesQuery{Channel: m.Channel, Limit: 1})
			return len(page.Rows), err
		},
		"messages": func(ctx context.Context, r *rig, m hub.Message, _ hub.ArtifactID) (int, error) {
			row, err := r.Message(ctx, m.ID, "reader")
			return min(len(row), 1), err
		},
		"threads": func(ctx context.Context, r *rig, m hub.Message, _ hub.ArtifactID) (int, error) {
			thread, err := r.Thread(ctx, "talk", "reader")
			return len(thread.Messages), err
		},
		"artifacts": func(ctx context.Context, r *rig, _ hub.Message, id hub.ArtifactID) (int, error) {
			content, err := r.ArtifactContent(ctx, id)
			return min(len(content.Data), 1), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, newMemStore())
				room := r.newRoom("hall")
				m := r.post(hub.PostInput{FromAgent: "poster", Channel: room.Channel, ThreadID: "talk", Body: body})
				a, err := r.AddArtifact(t.Context(), hub.ArtifactInput{RoomID: room.RoomID, Title: "plan", Kind: "doc", By: "poster", Body: &body})
				require.NoError(t, err)
				unread, taken := context.WithCancel(t.Context())
				total, first := 0, 0
				for agent := range agents {
					answered := 0
					for range most / size {
						n, err := read(actsAs(unread, agent), r, m, a.Row.ArtifactID)
						if answered += n; err != nil || n != 1 {
							wantCode(t, err, hub.CodeOverloaded)
						}
					}
					if total += answered; agent == 0 {
						first = answered
					}
				}
				if want := most / 4 / size; first > want || first < want-1 {
					t.Errorf("the first agent has %d answers of %d bytes under way, want %d", first, size, want)
				}
				if want := most / size; total > want || total < want-2 {
					t.Errorf("%d answers of %d bytes are under way, want %d", total, size, want)
				}
				if n, err := read(asOperator(unread), r, m, a.Row.ArtifactID); err != nil || n != 1 {
					t.Errorf("beside them the operator got %d rows, %v", n, err)
				}
				taken()
				synctest.Wait()
				if n, err := read(t.Context(), r, m, a.Row.ArtifactID); err != nil || n != 1 {
					t.Errorf("after the answers were taken: %d rows, %v", n, err)
				}
				r.stop()
			})
		})
	}
}

// TestAnswersOutliveTheirRequests: a client that sends nothing more, as after a half-close,
// ends the context of its call. Its answer counts until it is over.
func TestAnswersOutliveTheirRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, room := manyRows(t)
		answer, over := context.WithCancel(t.Context())
		for i := range 200 {
			ctx, gone := context.WithCancel(hub.WithAnswer(t.Context(), answer))
			pagesOfChannel(r, room)(actsAs(ctx, i%10))
			gone()
			synctest.Wait()
		}
		if n := len(pagesOfChannel(r, room)(t.Context())); n > 2 {
			t.Errorf("beside 200 answers of clients that send nothing more a page has %d rows", n)
		}
		over()
		synctest.Wait()
		if n := len(pagesOfChannel(r, room)(t.Context())); n < 10 {
			t.Errorf("after them a page has %d rows", n)
		}
		r.stop()
	})
}

// actsAs is a context of a call that acts as an agent.
func actsAs(ctx context.Context, agent int) context.Context {
	return hub.WithCaller(ctx, &hub.Caller{Acts: hub.AgentID(fmt.Sprint("reader-", agent))})
}
