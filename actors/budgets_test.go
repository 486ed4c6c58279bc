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
)

func (r *rig) budget(in hub.BudgetInput) {
	r.t.Helper()
	_, err := r.SetBudget(asOperator(context.Background()), in)
	require.NoError(r.t, err)
}

// read polls as ann and returns the rows behind since.
func (r *rig) read(since hub.MessageID) []hub.Message {
	r.t.Helper()
	page, err := r.Events(r.t.Context(), hub.EventsQuery{Agent: "ann", Since: since, Limit: 100})
	require.NoError(r.t, err)
	return decodeAll(r.t, page.Rows)
}

// TestBudgetMakesDigests: beyond the budget a body is one line with its beginning, its size and
// the way to the whole. What is always whole stays so, nothing is lost, no receipt says that it
// was seen until it was read whole, and after an hour there is budget again.
func TestBudgetMakesDigests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		r.budget(hub.BudgetInput{AgentID: "ann", Chars: 1000})
		long := strings.Repeat("word ", 300)
		since := r.view.Ring.Visible()
		small := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: strings.Repeat("x", 900)})
		first := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: long})
		request := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Kind: hub.KindTaskRequest, Body: long})
		_, err := r.tryPost(asOperator(t.Context()), hub.PostInput{FromAgent: hub.AgentOperator, ToAgent: "ann", Body: long})
		require.NoError(t, err)
		short := r.post(hub.PostInput{FromAgent: "ben", Body: "thanks"})
		rows := r.read(since)
		want := fmt.Sprintf("[digest of 1500 characters, because 100 of your budget of 1000 an hour are left; the whole: hub_get_message {\"message_id\":%d}, hubcli app message %d, or GET /v1/messages/%d?agent_id=ann]", first.ID, first.ID, first.ID)
		if len(rows) != 5 || rows[0].Body != small.Body || !strings.HasSuffix(rows[1].Body, want) || !strings.HasPrefix(rows[1].Body, "word word") || strings.Contains(rows[1].Body, "\n") ||
			rows[1].Truncated == nil || rows[1].Truncated.Chars != 1500 || rows[2].Body != request.Body || rows[3].Body != long || rows[4].Body != short.Body {
			t.Fatalf("the rows are %+v", rows)
		}
		inbox, err := r.Inbox(t.Context(), hub.InboxQuery{Agent: "ann", Limit: 100, Since: since})
		require.NoError(t, err)
		if rows := decodeAll(t, inbox.Rows); rows[1].Truncated == nil {
			t.Errorf("the inbox shows %+v", rows[1])
		}
		if log, err := r.Log(asOperator(t.Context()), hub.LogQuery{Direct: true, Limit: 100}); err != nil || strings.Contains(fmt.Sprintf("%s", log.Rows), "digest") {
			t.Errorf("a person reads %s, %v", log.Rows, err)
		}

		a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"})
		require.NoError(t, err)
		for _, row := range a.Directed {
			if spent := row.ID == first.ID; (len(row.Excerpt) < 100) != spent && row.ID != small.ID {
				t.Errorf("a hook shows %d characters of #%d", len(row.Excerpt), row.ID)
			}
		}

		r.read(r.view.Ring.Visible()) // it has polled past all of them
		if got := r.receipt(first.ID); got.State != hub.ReceiptOffered {
			t.Errorf("the digest is %s", got.State)
		}
		if got := r.receipt(small.ID); got.State != hub.ReceiptSeen {
			t.Errorf("what was whole is %s", got.State)
		}
		_, err = r.Message(hub.WithCaller(t.Context(), &hub.Caller{Peeks: true}), first.ID, "ann")
		require.NoError(t, err)
		if got := r.receipt(first.ID); got.State != hub.ReceiptOffered {
			t.Errorf("after an answer that shows nothing the digest is %s", got.State)
		}
		whole, err := r.Message(t.Context(), first.ID, "ann")
		require.NoError(t, err)
		if m, err := whole.Decode(); err != nil || m.Body != long {
			t.Errorf("the whole is %+v, %v", m, err)
		}
		if got := r.receipt(first.ID); got.State != hub.ReceiptSeen {
			t.Errorf("once it is read whole it is %s", got.State)
		}

		time.Sleep(time.Hour)
		again := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: strings.Repeat("y", 900)})
		if rows := r.read(again.ID - 1); len(rows) != 1 || rows[0].Body != again.Body {
			t.Errorf("after an hour: %+v", rows)
		}
		r.budget(hub.BudgetInput{AgentID: "ann"})
		again = r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: long})
		if rows := r.read(again.ID - 1); len(rows) != 1 || rows[0].Body != long {
			t.Errorf("without a budget: %+v", rows)
		}
	})
}

// TestBudgetOfARoom: it is of each agent with a seat there, of several rooms the smallest counts,
// and an agent's own before all. A reply shows that a digest was read.
func TestBudgetOfARoom(t *testing.T) {
	r := start(t, newMemStore())
	small, large := r.roomWithSeats("ann", "ben"), r.newRoom("large")
	r.seat(large.RoomID, "ann", "cid")
	r.budget(hub.BudgetInput{RoomID: large.RoomID, Chars: 9000})
	r.budget(hub.BudgetInput{RoomID: small.RoomID, Chars: 2000})
	r.budget(hub.BudgetInput{AgentID: "ben", Chars: 5000})
	for agent, want := range map[hub.AgentID]int{"ann": 2000, "ben": 5000, "cid": 9000, "dan": 0} {
		if got, err := r.view.BudgetOf(agent); err != nil || got != want {
			t.Errorf("%s has %d, %v, want %d", agent, got, err, want)
		}
	}
	m := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: strings.Repeat("x ", 2000)})
	if rows := r.read(m.ID - 1); len(rows) != 1 || rows[0].Truncated == nil {
		t.Fatalf("the rows are %+v", rows)
	}
	r.read(m.ID)
	if got := r.receipt(m.ID); got.State != hub.ReceiptOffered {
		t.Errorf("the digest is %s", got.State)
	}
	r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", ReplyTo: m.ID, Body: "yes"})
	if got := r.receipt(m.ID); got.State != hub.ReceiptSeen {
		t.Errorf("after the reply it is %s", got.State)
	}
}

// TestBudgetSurvives a crash at any step of a write, and what a restart shows is what its owner
// decides by.
func TestBudgetSurvives(t *testing.T) {
	for _, step := range waysOfAWrite {
		for nth := 1; nth <= 3; nth++ {
			t.Run(fmt.Sprintf("%s-%d", step, nth), func(t *testing.T) {
				crash := &stepCrash{store: newMemStore(), step: step, nth: nth}
				r := start(t, crash.store, crash.option)
				r.budget(hub.BudgetInput{AgentID: "ann", Chars: 1000})
				crash.arm()
				r.budget(hub.BudgetInput{AgentID: "ben", Chars: 1000})
				r.budget(hub.BudgetInput{AgentID: "ben"})
				again := start(t, crash.over())
				if got, err := again.view.BudgetOf("ann"); err != nil || got != 1000 {
					t.Errorf("the budget is %d, %v", got, err)
				}
				decided, err := again.loadBudgets()
				require.NoError(t, err)
				if got, want := inJSON(t, again.view.Budgets()), inJSON(t, decided.List()); got != want {
					t.Errorf("shown are %s, decided %s", got, want)
				}
			})
		}
	}
}
