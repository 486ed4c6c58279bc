package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testrace"
)

// TestTenThousandClaimsAreReadWhole: a walk in pages returns each claim exactly
// once and in order, while other claims are granted and released.
func TestTenThousandClaimsAreReadWhole(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads long lists")
	const claims, writers = 10_000, 8
	h := testhub.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	claim := func(key string) error {
		_, err := h.Hub.Claim(ctx, hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: hub.ClaimKey(key), TTLSec: 3600})
		return err
	}
	inParallel(t, 64, func(worker int) error {
		for n := worker; n < claims; n += 64 {
			if err := claim(fmt.Sprintf("work:%05d", n)); err != nil {
				return err
			}
		}
		return nil
	})
	var changes atomic.Int64
	var done sync.WaitGroup
	for worker := range writers {
		done.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(worker), 1))
			for ctx.Err() == nil {
				key := fmt.Sprintf("work:%05d:%d", rng.IntN(claims), worker)
				if claim(key) == nil {
					_, _ = h.Hub.ReleaseClaim(ctx, hub.ClaimHoldInput{AgentID: "ann", ClaimKey: hub.ClaimKey(key)})
				}
				changes.Add(1)
			}
		})
	}
	defer done.Wait()
	defer cancel()
	c := newClient(t, h)
	for limit, want := range map[string]int{"": hub.DefaultPageRows, "&limit=1000": hub.MaxPageRows, "&limit=5000": hub.MaxPageRows, "&limit=99999999999999999999": hub.MaxPageRows} {
		if a := c.ok(200, "GET", "/v1/claims?active_only=1"+limit, ""); a.rows() != want || a.NextCursor == "" {
			t.Errorf("%q gives %d rows and the cursor %q, want %d", limit, a.rows(), a.NextCursor, want)
		}
	}
	for _, path := range []string{"/v1/claims?active_only=1&limit=1000", "/v1/claims?limit=1000", "/v1/claims?active_only=1&limit=777&prefix=work:&owner_agent_id=ann"} {
		before := changes.Load()
		var keys []string
		for cursor := ""; ; {
			a := c.ok(200, "GET", path+"&cursor="+cursor, "")
			var rows []hub.Claim
			require.NoError(t, json.Unmarshal(a.Result, &rows))
			for i := range rows {
				keys = append(keys, string(rows[i].ClaimKey))
			}
			if cursor = string(a.NextCursor); cursor == "" {
				break
			}
		}
		if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
			t.Errorf("%s: keys come twice or in no order", path)
		}
		stayed := slices.DeleteFunc(keys, func(key string) bool { return strings.Count(key, ":") > 1 })
		for n := range claims {
			if n >= len(stayed) || stayed[n] != fmt.Sprintf("work:%05d", n) {
				t.Fatalf("%s: %d of %d claims; number %d is missing", path, len(stayed), claims, n)
			}
		}
		if changes.Load() == before {
			t.Error("nothing has changed during the walk")
		}
	}
}

func inParallel(t *testing.T, n int, do func(int) error) {
	t.Helper()
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- do(i) }()
	}
	for range n {
		require.NoError(t, <-errs)
	}
}

// TestListFilters: each filter selects the right rows, also in combination with
// others.
func TestListFilters(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	room := newRoom(c, "p", "R")
	invite := c.ok(201, "POST", "/v1/invites", `{"project":"p","room":"r","handle":"sam"}`)
	c.ok(201, "POST", fmt.Sprintf("/v1/invites/%v/accept", invite.row("code")), "")
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"sid","capabilities":["go"]}`)
	task := c.ok(201, "POST", "/v1/messages", `{"from_agent":"ann","channel":"room-`+room+`","kind":"task","body":"open"}`).id()
	secret := c.ok(201, "POST", "/v1/messages", `{"from_agent":"ann","to_agent":"bob","channel":"room-`+room+`","kind":"task","body":"secret"}`).id()
	for _, body := range []string{
		`{"claim_key":"a:1","owner_agent_id":"ann","thread_id":"t"}`, `{"claim_key":"a:2","owner_agent_id":"sam"}`, `{"claim_key":"b:1","owner_agent_id":"zoe"}`,
		fmt.Sprintf(`{"task_message_id":%d,"owner_agent_id":"ann"}`, task), fmt.Sprintf(`{"task_message_id":%d,"owner_agent_id":"bob"}`, secret),
		`{"claim_key":"a:0","owner_agent_id":"sam"}`,
	} {
		c.ok(201, "POST", "/v1/claims", body)
	}
	c.ok(200, "POST", "/v1/claims/release", `{"claim_key":"a:0","agent_id":"sam"}`)
	c.ok(200, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"ann"}`) // its post gives it one too, a moment later
	for _, body := range []string{
		`{"file_path":"./src/a.go","agent_id":"sam"}`, `{"file_path":"src/b.go","agent_id":"ann"}`, `{"file_path":"src2/c.go","agent_id":"zoe"}`, `{"file_path":"c:\\x","agent_id":"zoe"}`,
	} {
		c.ok(201, "POST", "/v1/locks", body)
	}
	c.ok(201, "POST", "/v1/channels", `{"name":"mine","created_by":"ann"}`)
	open, hidden := fmt.Sprintf("task-%d", task), fmt.Sprintf("task-%d", secret)
	for path, want := range map[string]string{
		"/v1/claims":                                            "a:0 a:1 a:2 b:1 " + open,
		"/v1/claims?agent_id=bob":                               "a:0 a:1 a:2 b:1 " + open + " " + hidden,
		"/v1/claims?active_only=1&prefix=a":                     "a:1 a:2",
		"/v1/claims?prefix=a":                                   "a:0 a:1 a:2",
		"/v1/claims?claim_key=a:1":                              "a:1",
		"/v1/claims?claim_key=a:":                               "",
		"/v1/claims?claim_key=a:0&active_only=1":                "",
		"/v1/claims?claim_key=a:1&prefix=b":                     "",
		"/v1/claims?owner_agent_id=sam":                         "a:0 a:2",
		"/v1/claims?owner_agent_id=sam&active_only=1":           "a:2",
		"/v1/claims?owner_agent_id=ann&prefix=a&active_only=1":  "a:1",
		"/v1/claims?thread_id=t":                                "a:1",
		"/v1/claims?thread_id=t&active_only=1":                  "a:1",
		"/v1/claims?active_only=1&room_id=" + room:              "a:1 a:2 " + open,
		"/v1/claims?active_only=1&agent_id=bob&room_id=" + room: "a:1 a:2 " + open + " " + hidden,
		"/v1/claims?room_id=" + room:                            "a:0 a:1 a:2 " + open,
		"/v1/claims?room_id=" + room + "&owner_agent_id=ann":    "a:1 " + open,
		"/v1/claims?room_id=" + room + "&owner_agent_id=zoe":    "",
		"/v1/locks":                                "c:\\x ./src/a.go src/b.go src2/c.go",
		"/v1/locks?prefix=src/":                    "./src/a.go src/b.go",
		"/v1/locks?prefix=src":                     "./src/a.go src/b.go src2/c.go",
		"/v1/locks?prefix=./src/&active_only=1":    "./src/a.go src/b.go",
		"/v1/locks?file_path=src//a.go":            "./src/a.go",
		"/v1/locks?file_path=C:/x&active_only=1":   "c:\\x",
		"/v1/locks?owner_agent_id=sam":             "./src/a.go",
		"/v1/locks?agent_id=sam&active_only=1":     "c:\\x ./src/a.go src/b.go src2/c.go",
		"/v1/locks?room_id=" + room:                "./src/a.go src/b.go",
		"/v1/agents?prefix=s":                      "sam sid",
		"/v1/agents?prefix=s&capability=go":        "sid",
		"/v1/agents?room_id=" + room:               "sam",
		"/v1/agents?room_id=" + room + "&prefix=x": "",
		"/v1/channels?prefix=m":                    "mine",
		"/v1/channels?created_by=ann":              "mine",
		"/v1/channels?prefix=room-":                "room-" + room,
		"/v1/channels?prefix=d":                    "direct",
	} {
		got := names(t, c.ok(200, "GET", path, ""))
		if got != want {
			t.Errorf("GET %s gives %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{"/v1/claims?room_id=r_zz", "/v1/locks?room_id=r_zz", "/v1/agents?room_id=r_zz"} {
		c.refused(hub.CodeRoomNotFound, "GET", path, "")
	}
	for _, path := range []string{"/v1/claims?prefix=%00", "/v1/claims?claim_key=" + strings.Repeat("x", 201), "/v1/locks?prefix=" + strings.Repeat("x", 1025)} {
		c.refused(hub.CodeInvalid, "GET", path, "")
	}
	c.refused(hub.CodeInvalidAgentID, "GET", "/v1/claims?owner_agent_id=a%20b", "")
}

// names returns the names of the rows of a list, in order.
func names(t *testing.T, a answer) string {
	t.Helper()
	var rows []map[string]any
	require.NoError(t, json.Unmarshal(a.Result, &rows))
	out := make([]string, len(rows))
	for i, row := range rows {
		for _, name := range []string{"claim_key", "file_path", "title", "name", "agent_id"} {
			if s, ok := row[name].(string); ok {
				out[i] = s
				break
			}
		}
	}
	return strings.Join(out, " ")
}

// TestTasksOfOthersLeaveNoTrace: the filters by assignee, by giver and by agent
// concerned select among the tasks that the caller may see. A hidden task shows
// neither as a row nor as a cursor to an empty page.
func TestTasksOfOthersLeaveNoTrace(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	task := func(from, to, body string) {
		c.ok(201, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":%q%s,"kind":"task","body":%q}`, from, to, body))
	}
	task("ann", `,"to_agent":"bob"`, "hidden-1")
	task("ann", "", "open-1")
	task("eve", "", "open-2")
	task("ann", `,"to_agent":"bob"`, "hidden-2")
	for path, want := range map[string]string{
		"":                                     "open-2 open-1",
		"created_by=ann":                       "open-1",
		"created_by=ann&status=active":         "open-1",
		"created_by=ann&agent_id=bob":          "hidden-2 open-1 hidden-1",
		"assignee=bob":                         "",
		"assignee=bob&agent_id=ann":            "hidden-2 hidden-1",
		"concerns=ann&agent_id=eve":            "open-1",
		"concerns=bob&agent_id=bob&status=all": "invalid",
		"concerns=bob&agent_id=bob":            "hidden-2 hidden-1",
		"concerns=bob&created_by=eve":          "",
	} {
		if want == "invalid" {
			c.refused(hub.CodeInvalid, "GET", "/v1/tasks?"+path, "")
			continue
		}
		whole := c.ok(200, "GET", "/v1/tasks?"+path, "")
		if got := names(t, whole); got != want {
			t.Errorf("GET /v1/tasks?%s gives %q, want %q", path, got, want)
		}
		// A page that holds all visible rows has no cursor, even if hidden rows
		// follow.
		n := max(whole.rows(), 1)
		if a := c.ok(200, "GET", fmt.Sprintf("/v1/tasks?%s&limit=%d", path, n), ""); a.NextCursor != "" {
			t.Errorf("GET /v1/tasks?%s&limit=%d goes on behind its last visible row", path, n)
		}
	}
}
