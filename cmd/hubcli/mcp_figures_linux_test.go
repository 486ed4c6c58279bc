package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMCPFigures logs how long a bridge takes and holds it to its memory.
func TestMCPFigures(t *testing.T) {
	h := startHooked(t)
	var starts, posts []time.Duration
	var w *wire
	for n := range 5 {
		began := time.Now()
		w = h.mcp(t, nil, "--agent", fmt.Sprintf("a%d", n)).shake()
		if _, err := w.await(w.ask("tools/list", nil)); err != nil {
			t.Fatal(err)
		}
		starts = append(starts, time.Since(began))
	}
	w.whoAmI()
	for range 200 {
		began := time.Now()
		if a, text := w.call("hub_post_message", map[string]any{"body": "x"}); a.IsError {
			t.Fatal(text)
		}
		posts = append(posts, time.Since(began))
	}
	anonymous := anonymousKiB(t, w.Process.Pid)
	slices.Sort(starts)
	slices.Sort(posts)
	t.Logf("start to tools/list %v, post %v (median), anonymous memory %d KiB", starts[len(starts)/2], posts[len(posts)/2], anonymous)
	const most = 20 << 10
	if anonymous > most {
		t.Errorf("it has %d KiB of anonymous memory, more than %d", anonymous, most)
	}
}

// TestMCPGivesMemoryBack: a bridge that was sent huge messages does not stay huge.
func TestMCPGivesMemoryBack(t *testing.T) {
	h := startHooked(t)
	w := h.mcp(t, nil, "--agent", "big").shake()
	big := strings.Repeat("y", 15<<20)
	for range 3 {
		w.say(strings.Repeat("x", 17<<20))
		if r, err := w.next(); err != nil || r.Error == nil {
			t.Fatalf("17 MiB are answered with %s, %v", r.Result, err)
		}
		if a, text := w.call("hub_post_message", map[string]any{"body": big}); !a.IsError {
			t.Fatal(text)
		}
	}
	w.whoAmI()
	const most = 96 << 10
	if kib := anonymousKiB(t, w.Process.Pid); kib > most {
		t.Errorf("it has %d KiB of anonymous memory, more than %d", kib, most)
	}
}

func anonymousKiB(t *testing.T, pid int) (kib int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Skip("needs /proc/PID/smaps_rollup: ", err)
	}
	for line := range bytes.Lines(b) {
		if rest, ok := strings.CutPrefix(string(line), "Anonymous:"); ok {
			if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
				t.Fatal(err)
			}
		}
	}
	return kib
}
