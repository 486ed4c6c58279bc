//go:build unix

package main

import (
	"fmt"
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
	todo := make(chan int)
	go func() {
		defer close(todo)
		for n := range rows {
			todo <- n
		}
	}()
	failed := make(chan error, 16)
	for range cap(failed) {
		go func() {
			var err error
			for n := range todo {
				if err == nil {
					_, err = h.AddDecision(t.Context(), hub.DecisionInput{RoomID: h.room.RoomID, Title: fmt.Sprint("decision ", n)})
				}
			}
			failed <- err
		}()
	}
	for range cap(failed) {
		require.NoError(t, <-failed)
	}
	room := string(h.room.RoomID)
	for _, c := range []struct {
		args string
		want int
	}{
		{"decision list --room " + room, rows},
		{"decision list --json --room " + room, rows},
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
}
