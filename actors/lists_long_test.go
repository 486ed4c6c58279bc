package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// longList is a list whose rows can be long. add makes the n-th row and returns its name.
type longList struct {
	rows int // more than one answer has, and at most 1000
	add  func(n int) string
	page func(at hub.Cursor) (names []string, lengths []int, next hub.Cursor, err error)
}

// longPage reads pages of 1000 rows and measures the rows in JSON.
func longPage[Q hub.PageQuery[Q], T any](list func(context.Context, Q) ([]T, hub.Cursor, error), q Q, name func(*T) string) func(hub.Cursor) ([]string, []int, hub.Cursor, error) {
	return func(at hub.Cursor) (names []string, lengths []int, next hub.Cursor, err error) {
		rows, next, err := list(context.Background(), q.At(at))
		for i := range rows {
			names, lengths = append(names, name(&rows[i])), append(lengths, len(must(json.Marshal(rows[i]))))
		}
		return names, lengths, next, err
	}
}

// long is a text of many characters, each of which has six bytes in JSON.
func long(chars int) string { return strings.Repeat("<", chars) }

// named is a name of so many characters.
func named(n, chars int) string { return fmt.Sprintf("n%04d", n) + long(chars-5) }

var longMetadata = json.RawMessage(`{"x":"` + long(hub.MaxMetadataBytes-8) + `"}`)

var longLists = map[string]func(r *rig, room hub.RoomID) longList{
	"Decisions": func(r *rig, room hub.RoomID) longList {
		return longList{
			rows: 20,
			add: func(n int) string {
				in := hub.DecisionInput{RoomID: room, Title: named(n, hub.MaxTitleChars), Note: long(hub.MaxNoteChars), Metadata: longMetadata, By: "ann"}
				return must(r.AddDecision(context.Background(), in)).Row.Title
			},
			page: longPage(r.Decisions, hub.DecisionsQuery{RoomID: room, Limit: 1000}, func(d *hub.Decision) string { return d.Title }),
		}
	},
	"Decisions/all": func(r *rig, room hub.RoomID) longList {
		return longList{
			rows: 200, // no row escapes anything
			add: func(n int) string {
				in := hub.DecisionInput{RoomID: room, Title: fmt.Sprint(n), Note: strings.Repeat("x", hub.MaxNoteChars)}
				return must(r.AddDecision(context.Background(), in)).Row.Title
			},
			page: longPage(r.Decisions, hub.DecisionsQuery{Limit: 1000}, func(d *hub.Decision) string { return d.Title }),
		}
	},
	"Recall": func(r *rig, room hub.RoomID) longList {
		return longList{
			rows: 40,
			add: func(n int) string {
				scope := []hub.MemoryScope{hub.ScopeRoom, hub.ScopeProject}[n%2]
				in := hub.MemoryInput{RoomID: room, Key: fmt.Sprint(n), Text: long(hub.MaxMemoryChars), Scope: scope, By: "ann"}
				return must(r.Remember(context.Background(), in)).Row.Key
			},
			page: longPage(r.Recall, hub.MemoryQuery{RoomID: room, Limit: 1000}, func(m *hub.Memory) string { return m.Key }),
		}
	},
	"Claims":      func(r *rig, _ hub.RoomID) longList { return longClaims(r, false) },
	"Claims/held": func(r *rig, _ hub.RoomID) longList { return longClaims(r, true) },
	"Locks": func(r *rig, _ hub.RoomID) longList {
		return longList{
			rows: 20,
			add: func(n int) string {
				in := hub.LockInput{FilePath: named(n, hub.MaxFilePathChars), AgentID: "ann", TTLSec: 3600, Metadata: longMetadata}
				return must(r.Lock(context.Background(), in)).Row.FilePath
			},
			page: longPage(r.Locks, hub.LeasesQuery{ActiveOnly: true, Limit: 1000}, func(l *hub.Lock) string { return l.FilePath }),
		}
	},
	"Agents": func(r *rig, _ hub.RoomID) longList {
		return longList{
			rows: 20,
			add: func(n int) string {
				in := hub.RegisterInput{AgentID: hub.AgentID(shuffled("a", n)), Metadata: longMetadata}
				return string(must(r.Register(context.Background(), in)).Row.Session.AgentID)
			},
			page: longPage(r.Agents, hub.AgentsQuery{Details: true, Limit: 1000}, func(a *hub.LiveAgent) string { return string(a.AgentID) }),
		}
	},
	"Channels": func(r *rig, _ hub.RoomID) longList {
		return longList{
			rows: 20,
			add: func(n int) string {
				in := hub.ChannelInput{Name: hub.ChannelName(shuffled("x", n)), CreatedBy: "ann", Metadata: longMetadata}
				return string(must(r.CreateChannel(context.Background(), in)).Row.Name)
			},
			page: longPage(r.Channels, hub.ChannelsQuery{Prefix: "x", Limit: 1000}, func(c *hub.Channel) string { return string(c.Name) }),
		}
	},
	"Rooms": func(r *rig, _ hub.RoomID) longList {
		return longList{
			rows: 400,
			add: func(n int) string {
				in := hub.RoomInput{Project: "rooms", Name: fmt.Sprint("room ", n), Topic: long(hub.MaxTopicChars), Force: true, ForceReason: "a test"}
				return string(must(r.CreateRoom(asOperator(context.Background()), in)).Row.RoomID)
			},
			page: longPage(r.Rooms, hub.RoomsQuery{Limit: 1000}, func(room *hub.Room) string { return string(room.RoomID) }),
		}
	},
	"Asks": func(r *rig, _ hub.RoomID) longList {
		return longList{
			rows: 100,
			add: func(n int) string {
				q := r.ask(hub.AskInput{AgentID: "ann", Question: named(n, hub.MaxAskChars), Options: slices.Repeat([]string{long(hub.MaxAskOptionChars)}, 2)})
				must(r.WithdrawAsk(context.Background(), q.AskID, hub.AskWithdrawInput{AgentID: "ann"}))
				return string(q.AskID)
			},
			page: longPage(r.Asks, hub.AsksQuery{AgentID: "ann", Limit: 1000}, func(a *hub.Ask) string { return string(a.AskID) }),
		}
	},
	"Tasks":      func(r *rig, _ hub.RoomID) longList { return longTasks(r, false) },
	"Tasks/live": func(r *rig, _ hub.RoomID) longList { return longTasks(r, true) },
	"Runs": func(r *rig, _ hub.RoomID) longList {
		return longList{
			rows: 1000,
			add:  func(n int) string { return string(r.runNamed(named(n, hub.MaxTitleChars)).RunID) },
			page: longPage(r.Runs, hub.RunsQuery{Limit: 1000}, func(run *hub.Run) string { return string(run.RunID) }),
		}
	},
	"Artifacts": func(r *rig, room hub.RoomID) longList {
		text := "x"
		return longList{
			rows: 1000,
			add: func(n int) string {
				in := hub.ArtifactInput{RoomID: room, Title: named(n, hub.MaxTitleChars), Kind: long(hub.MaxNameChars), Body: &text}
				return must(r.AddArtifact(context.Background(), in)).Row.Title
			},
			page: longPage(r.Artifacts, hub.ArtifactsQuery{RoomID: room, Latest: true, Limit: 1000}, func(a *hub.Artifact) string { return a.Title }),
		}
	},
	"Threads": func(r *rig, _ hub.RoomID) longList {
		return longList{
			rows: 1000,
			add: func(n int) string {
				return string(*r.post(hub.PostInput{FromAgent: "ann", ThreadID: hub.ThreadID(named(n, hub.MaxThreadChars)), Body: "x"}).ThreadID)
			},
			page: longPage(r.Threads, hub.ThreadsQuery{Viewer: "bob", Limit: 1000}, func(s *hub.ThreadSummary) string { return string(s.ThreadID) }),
		}
	},
}

func longClaims(r *rig, held bool) longList {
	return longList{
		rows: 20,
		add: func(n int) string {
			in := hub.ClaimInput{ClaimKey: hub.ClaimKey(shuffled("k", n)), OwnerAgentID: "ann", TTLSec: 3600, Metadata: longMetadata}
			return string(must(r.Claim(context.Background(), in)).Row.ClaimKey)
		},
		page: longPage(r.Claims, hub.LeasesQuery{ActiveOnly: held, Limit: 1000}, func(c *hub.Claim) string { return string(c.ClaimKey) }),
	}
}

func longTasks(r *rig, live bool) longList {
	return longList{
		rows: 1000,
		add: func(n int) string {
			id := r.task(hub.PostInput{FromAgent: "ann", Body: named(n, hub.MaxTitleChars)})
			if !live {
				r.endTask(id, hub.TaskDone)
			}
			return fmt.Sprint(id)
		},
		page: longPage(r.Tasks, hub.TasksQuery{Active: live, Limit: 1000}, func(t *hub.Task) string { return fmt.Sprint(t.TaskID) }),
	}
}

// TestListsOfLongRows: an answer of a list has at most view.MaxPageBytes of rows, whatever
// limit says, and the walk through the pages shows every row once.
func TestListsOfLongRows(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads long lists")
	for name, list := range longLists {
		t.Run(name, func(t *testing.T) {
			r := start(t, newMemStore())
			defer r.stop()
			l := list(r, r.newRoom("Long").RoomID)
			want := map[string]bool{}
			for n := range l.rows {
				want[l.add(n)] = true
			}
			if len(want) != l.rows {
				t.Fatalf("%d rows have %d names", l.rows, len(want))
			}
			shown, pages := map[string]bool{}, 0
			for at := hub.Cursor(""); ; pages++ {
				names, lengths, next, err := l.page(at)
				require.NoError(t, err)
				sum := 0
				for _, n := range lengths {
					sum += n + 1
				}
				if len(names) == 0 || len(names) > 1 && sum > view.MaxPageBytes {
					t.Fatalf("page %d has %d rows of %d bytes", pages, len(names), sum)
				}
				for _, name := range names {
					if shown[name] {
						t.Errorf("page %d shows %.20s again", pages, name)
					}
					shown[name] = true
				}
				if next == "" {
					break
				}
				// A page that goes on is full but for one row, as far as an estimate can say that.
				if longest := slices.Max(lengths); sum+longest < view.MaxPageBytes*3/4 {
					t.Errorf("page %d ends after %d rows of %d bytes", pages, len(names), sum)
				}
				at = next
			}
			for name := range want {
				if !shown[name] {
					t.Errorf("%.20s is not shown", name)
				}
			}
			if pages == 0 {
				t.Errorf("all %d rows are on one page", len(shown))
			}
		})
	}
}

// indexOfAll answers every query with the same rows.
type indexOfAll struct {
	*slowIndex
	hits []core.IndexHit
}

func (x *indexOfAll) Find(context.Context, core.IndexQuery) ([]core.IndexHit, error) {
	return x.hits, nil
}

// TestQueryOfLongMemories: the best memories of a query are as many as fit into one answer.
func TestQueryOfLongMemories(t *testing.T) {
	index := &indexOfAll{slowIndex: newSlowIndex(0)}
	r := start(t, newMemStore(), withIndex(index))
	defer r.stop()
	room := r.newRoom("Long").RoomID
	for n := range 40 {
		in := hub.MemoryInput{RoomID: room, Key: fmt.Sprint(n), Text: "word " + long(hub.MaxMemoryChars-5), By: "ann"}
		id := must(r.Remember(t.Context(), in)).Row.MemoryID
		index.hits = append(index.hits, core.IndexHit{Type: hub.FoundMemory, Number: uint64(view.SeqOf(core.PrefixMemory, id))})
	}
	rows, next, err := r.Recall(t.Context(), hub.MemoryQuery{RoomID: room, Query: "word", Limit: 1000})
	require.NoError(t, err)
	if n := len(must(json.Marshal(rows))); len(rows) == 0 || n > view.MaxPageBytes || next != "" {
		t.Errorf("%d rows of %d bytes, cursor %q", len(rows), n, next)
	}
}
