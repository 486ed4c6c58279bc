package actors

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// TestAttention: what asks something of an agent, what is its to do, and what it
// could wait for.
func TestAttention(t *testing.T) {
	r := start(t, newMemStore())
	r.register("ann")
	r.say("ben", hub.DefaultChannel, "not for you")
	mention := r.say("ben", hub.DefaultChannel, "could @ann look?")
	r.say("ann", hub.DefaultChannel, "@ann is me")
	direct := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "only\nfor  you"})
	asked := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Kind: hub.KindTaskRequest, Body: "do it"})
	theirs := r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Kind: hub.KindTaskRequest, Body: "do that"})
	r.post(hub.PostInput{FromAgent: "cleo", Kind: hub.KindTask, Body: "another's"})
	for _, status := range []hub.TaskStatus{hub.TaskWorking, hub.TaskInputRequired} {
		if _, err := r.UpdateTask(context.Background(), asked.ID, hub.TaskUpdateInput{AgentID: "ann", Status: &status}); err != nil {
			t.Fatal(err)
		}
	}
	r.claim("ann", "k", 60)
	r.claim("ben", "l", 60)

	got, err := r.Attention(context.Background(), hub.AttentionQuery{Agent: "ann"})
	require.NoError(t, err)
	var ids, tasks []hub.MessageID
	for _, row := range got.Directed {
		ids = append(ids, row.ID)
	}
	for _, task := range got.Tasks {
		tasks = append(tasks, task.TaskID)
	}
	if want := []hub.MessageID{mention.ID, direct.ID, asked.ID}; !reflect.DeepEqual(ids, want) {
		t.Errorf("directed %v, want %v", ids, want)
	}
	if row := got.Directed[1]; row.Excerpt != "only for you" || !row.Direct || row.FromAgent != "ben" || row.Authority != hub.AuthorityAgent {
		t.Errorf("a row is %+v", row)
	}
	if got.Unread != 5 || got.HeadID != r.view.Ring.Visible() || got.SeenID != 0 {
		t.Errorf("unread %d, head %d, seen %d", got.Unread, got.HeadID, got.SeenID)
	}
	if want := []hub.MessageID{theirs.ID, asked.ID}; !reflect.DeepEqual(tasks, want) {
		t.Errorf("tasks %v, want %v", tasks, want)
	}
	if !reflect.DeepEqual(got.Claims, []hub.ClaimKey{"k"}) {
		t.Errorf("claims %v", got.Claims)
	}
	conditions := []string{}
	for _, p := range got.Proposals {
		conditions = append(conditions, p.Condition)
	}
	if want := []string{untilTasks([]hub.TaskID{theirs.ID}), "message-from:ben"}; !reflect.DeepEqual(conditions, want) {
		t.Errorf("proposed %v, want %v", conditions, want)
	}
	if _, err := r.Bootstrap(context.Background(), "ann"); err != nil {
		t.Fatal(err)
	}
	if got, err = r.Attention(context.Background(), hub.AttentionQuery{Agent: "ann"}); err != nil || got.Unread != 0 || len(got.Directed) != 0 {
		t.Errorf("after all was seen: %+v, %v", got, err)
	}
	_, err = r.Attention(context.Background(), hub.AttentionQuery{Agent: "ann", Room: "r_none"})
	wantCode(t, err, hub.CodeRoomNotFound)
}

// TestAttentionGoesOn: an agent that is told and never polls is told of the next
// message too, however many it has not read.
func TestAttentionGoesOn(t *testing.T) {
	r := start(t, newMemStore())
	r.register("ann")
	directed := func() []hub.UnreadRow {
		t.Helper()
		got, err := r.Attention(context.Background(), hub.AttentionQuery{Agent: "ann"})
		require.NoError(t, err)
		return got.Directed
	}
	var last hub.MessageID
	for range attentionRows + 5 {
		last = r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "one of many"}).ID
	}
	if rows := directed(); len(rows) != attentionRows || rows[0].ID != 1 {
		t.Errorf("at first %d rows from %d", len(rows), rows[0].ID)
	}
	if _, err := r.Tell(context.Background(), hub.ToldInput{AgentID: "ann", ToldID: last}); err != nil {
		t.Fatal(err)
	}
	next := r.say("ben", hub.DefaultChannel, "and this, @ann").ID
	rows := directed()
	if len(rows) != attentionRows || rows[len(rows)-1].ID != next || !slices.IsSortedFunc(rows, func(a, b hub.UnreadRow) int { return int(a.ID - b.ID) }) {
		t.Errorf("after all was told: %d rows up to %d, want %d", len(rows), rows[len(rows)-1].ID, next)
	}
}

// TestAttentionBehindMuchTalk: what asks something is found behind more messages
// than one look takes, told or not, in the ring or the store.
func TestAttentionBehindMuchTalk(t *testing.T) {
	testrace.Avoid(t, "one goroutine posts for long")
	for _, ring := range []int{1, 64 << 20} {
		r := start(t, newMemStore(), ringOf(ring))
		r.register("ann")
		var last hub.MessageID
		for range view.MaxExamined + 10 {
			last = r.say("ben", hub.DefaultChannel, "talk").ID
		}
		asked := r.say("ben", hub.DefaultChannel, "@ann look")
		for _, told := range []hub.MessageID{0, last} {
			if told > 0 {
				if _, err := r.Tell(context.Background(), hub.ToldInput{AgentID: "ann", ToldID: told}); err != nil {
					t.Fatal(err)
				}
			}
			got, err := r.Attention(context.Background(), hub.AttentionQuery{Agent: "ann"})
			if err != nil || len(got.Directed) != 1 || got.Directed[0].ID != asked.ID {
				t.Errorf("ring of %d, told up to %d: %+v, %v", ring, told, got.Directed, err)
			}
		}
	}
}

// TestGiven: what a poll of an agent was answered with counts as given for two
// seconds; a peek gives nothing.
func TestGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		r.register("ann")
		m := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"})
		given := func() hub.MessageID {
			t.Helper()
			a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"})
			require.NoError(t, err)
			return a.GivenID
		}
		for _, peek := range []bool{true, false} {
			if got := given(); got != 0 {
				t.Errorf("before a poll %d is given", got)
			}
			_, err := r.Events(t.Context(), hub.EventsQuery{Agent: "ann", Limit: 10, Peek: peek})
			require.NoError(t, err)
		}
		if got := given(); got != m.ID {
			t.Errorf("after the poll %d is given, want %d", got, m.ID)
		}
		time.Sleep(2 * time.Second)
		if got := given(); got != 0 {
			t.Errorf("two seconds later %d is given", got)
		}
	})
}
