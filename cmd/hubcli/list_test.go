//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestListsArePrintedWhole: a command that lists prints what is more than one page,
// each row once and in order, and --limit is what it says also beyond a page.
func TestListsArePrintedWhole(t *testing.T) {
	const rows = hub.MaxPageRows + 50
	h := startHooked(t)
	manyTimes(t, rows, func(n int) error {
		_, err := h.AddDecision(t.Context(), hub.DecisionInput{RoomID: h.room.RoomID, Title: fmt.Sprint("decision ", n)})
		return err
	})
	room := string(h.room.RoomID)
	for _, c := range []struct {
		args string
		want int
	}{
		{"decision list --room " + room, rows},
		{"decision list --limit 1020", 1020},
		{"decision list --limit 3", 3},
		{"project list", 1},
		{"room list --project app", 1},
	} {
		out, err := h.command(nil, "", strings.Fields(c.args+" --base-url http://127.0.0.1:"+h.port)...).Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		slices.Sort(lines)
		if err != nil || len(slices.Compact(lines)) != c.want {
			t.Errorf("%s prints %d lines, %v, want %d", c.args, len(lines), err, c.want)
		}
	}
	out, err := h.command(nil, "", "decision", "list", "--json", "--room", room, "--base-url", "http://127.0.0.1:"+h.port).Output()
	require.NoError(t, err)
	var decisions []hub.Decision
	require.NoError(t, json.Unmarshal(out, &decisions))
	if len(decisions) != rows {
		t.Errorf("%d decisions in the document, want %d", len(decisions), rows)
	}
}

// manyTimes calls do for 0 to n-1, several at once.
func manyTimes(t *testing.T, n int, do func(int) error) {
	t.Helper()
	todo := make(chan int)
	go func() {
		defer close(todo)
		for i := range n {
			todo <- i
		}
	}()
	failed := make(chan error, 16)
	for range cap(failed) {
		go func() {
			var err error
			for i := range todo {
				if err == nil {
					err = do(i)
				}
			}
			failed <- err
		}()
	}
	for range cap(failed) {
		require.NoError(t, <-failed)
	}
}

// TestManyClaimsComeWhole: 1,200 claims are more than a page of the hub has. The list
// shows each of them once and in order, as a table and as one JSON document; and so do
// 1,200 messages in the log, from the first and as a tail.
func TestManyClaimsComeWhole(t *testing.T) {
	const rows = hub.MaxPageRows + 200
	h := startHooked(t)
	manyTimes(t, rows, func(n int) error {
		_, err := h.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "dev", ClaimKey: hub.ClaimKey(fmt.Sprintf("claim-%04d", n)), TTLSec: 3600})
		if err == nil {
			_, err = h.Post(t.Context(), hub.PostInput{FromAgent: "dev", Channel: "general", Body: fmt.Sprintf("message-%04d", n)})
		}
		return err
	})
	words := func(word, args string, want int) []string {
		t.Helper()
		out, err := h.command(nil, "", strings.Fields(args)...).Output()
		require.NoError(t, err)
		got := regexp.MustCompile(word+`-\d{4}`).FindAllString(string(out), -1)
		if sorted := slices.Compact(slices.Sorted(slices.Values(got))); len(got) != want || len(sorted) != want {
			t.Errorf("%s shows %d rows, %d of them different, want %d", args, len(got), len(sorted), want)
		}
		return got
	}
	for _, args := range []string{"claims", "claims --json"} {
		if got := words("claim", args, rows); !slices.IsSorted(got) {
			t.Errorf("%s is not in order", args)
		}
	}
	words("claim", "claims --prefix claim-000", 10)
	all := words("message", "log --all", rows)
	for args, want := range map[string]int{
		"log": 100, "log --tail 999": 999, "log --tail 1150": 1150, "log --since 1h": rows, "log --since 1h --tail 7": 7, "log --all --json": rows,
	} {
		if got := words("message", args, want); !slices.Equal(got, all[rows-want:]) {
			t.Errorf("%s does not show the last %d messages in order", args, want)
		}
	}
	out, err := h.command(nil, "", "claims", "--json").Output()
	require.NoError(t, err)
	var claims []hub.Claim
	require.NoError(t, json.Unmarshal(out, &claims))
	var messages []hub.Message
	out, err = h.command(nil, "", "log", "--all", "--json").Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &messages))
	if len(claims) != rows || len(messages) != rows {
		t.Errorf("%d claims and %d messages in the documents", len(claims), len(messages))
	}
}
