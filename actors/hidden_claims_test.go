package actors

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestClaimIsAsHiddenAsItsTask: a claim on a direct task, its holder and the holder's notes
// are shown to those who may see the task, to the holder and to the operator, on every path;
// also when it expires.
func TestClaimIsAsHiddenAsItsTask(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		const thread, note = "plan", "NOTE-OF-DEV"
		ctx := t.Context()
		r.post(hub.PostInput{FromAgent: "lead", ThreadID: thread, Body: "a public word"})
		task := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Kind: hub.KindTaskRequest, ThreadID: thread, Body: "quietly"}).ID
		public := r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, ThreadID: thread, Body: "openly"}).ID
		for _, in := range []hub.ClaimInput{
			{OwnerAgentID: "dev", TaskMessageID: task}, {OwnerAgentID: "dev", ClaimKey: "other:" + note, TaskMessageID: task}, {OwnerAgentID: "dev", TaskMessageID: public},
		} {
			in.TTLSec, in.ThreadID, in.Metadata = 60, thread, json.RawMessage(`{"note":"`+note+`"}`)
			if in.TaskMessageID == public {
				in.Metadata = nil
			}
			if _, err := r.Claim(ctx, in); err != nil {
				t.Fatal(err)
			}
		}
		for viewer, want := range map[hub.AgentID]int{"": 1, "third": 1, "dev": 3, "lead": 3} {
			for _, q := range []hub.LeasesQuery{{Limit: 10}, {Limit: 10, ActiveOnly: true}, {Limit: 10, Owner: "dev"}, {Limit: 10, ThreadID: thread, ActiveOnly: true}, {Limit: 1, ActiveOnly: true}, {Limit: 1}} {
				q.Viewer = viewer
				var rows []hub.Claim
				for {
					page, next, err := r.Claims(ctx, q)
					require.NoError(t, err)
					rows = append(rows, page...)
					if q.Cursor = next; next == "" {
						break
					}
				}
				if text := fmt.Sprintf("%+v", rows); len(rows) != want || want == 1 && strings.Contains(text, string(fmt.Appendf(nil, "task-%d", task))) {
					t.Errorf("%q asks %+v and is shown %d claims, want %d: %s", viewer, q, len(rows), want, text)
				}
			}
			shown, err := r.Thread(ctx, thread, viewer)
			require.NoError(t, err)
			if len(shown.Claims) != want || shown.Thread.ActiveClaimCount != int64(want) {
				t.Errorf("%q is shown %d claims of the thread, and %d are counted", viewer, len(shown.Claims), shown.Thread.ActiveClaimCount)
			}
			threads, _, err := r.Threads(ctx, hub.ThreadsQuery{Viewer: viewer, Limit: 10})
			require.NoError(t, err)
			if len(threads) != 1 || threads[0].ActiveClaimCount != int64(want) {
				t.Errorf("%q is shown the threads %+v", viewer, threads)
			}
		}
		if rows, _, err := r.Claims(asOperator(ctx), hub.LeasesQuery{Limit: 10}); err != nil || len(rows) != 3 {
			t.Errorf("the operator is shown %d claims, %v", len(rows), err)
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		seen := func(viewer hub.AgentID) (bodies string) {
			page, err := r.Events(ctx, hub.EventsQuery{Agent: viewer, Limit: 100})
			require.NoError(t, err)
			for _, row := range page.Rows {
				m, err := row.Decode()
				require.NoError(t, err)
				bodies += fmt.Sprintf("%+v %s\n", m, m.Metadata)
			}
			return bodies
		}
		name := fmt.Sprintf("task-%d", task)
		if got := seen("third"); strings.Contains(got, name) || strings.Contains(got, note) {
			t.Errorf("a third agent is told of the hidden claim's end: %s", got)
		}
		if got := seen("lead"); !strings.Contains(got, name) {
			t.Errorf("who gave the task is not told of the claim's end: %s", got)
		}
	})
}
