//go:build unix

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestSearchAfterSIGKILL: the real hub is killed while posts run and its index is
// behind. Whatever was acknowledged is found afterwards, exactly once.
func TestSearchAfterSIGKILL(t *testing.T) {
	const posters, groupOf, behind, slow = 8, 40, 400, 2000
	port, err := freePort()
	require.NoError(t, err)
	dir := t.TempDir()
	acknowledged := map[hub.MessageID]string{} // its group
	for round := range 3 {
		cmd := exec.Command("hubcli", "--port", port, "--storage", filepath.Join(dir, "store"), "--spool-dir", filepath.Join(dir, "spool"), "--quiet")
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		require.NoError(t, until(func() bool { s, err := at(port).AppStatus(t.Context()); return err == nil && s.Search.Open }))
		if round == 2 {
			break
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for p := range posters {
			wg.Go(func() {
				c := client.New(client.Config{BaseURL: "http://127.0.0.1:" + port})
				defer c.Close()
				for n := 0; ; n++ {
					group := fmt.Sprintf("g%dx%dx%d", round, p, n/groupOf)
					m, err := c.Post(ctx, hub.PostInput{FromAgent: "ann", Channel: hub.DefaultChannel, Body: "one of " + group})
					if err != nil {
						return // killed
					}
					row, err := m.Row.Decode()
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					acknowledged[row.ID] = group
					mu.Unlock()
				}
			})
		}
		// Where posts are slow, the index keeps up with them better: there less must do.
		if err := until(func() bool {
			s, err := at(port).AppStatus(ctx)
			return err == nil && s.Search.Documents > 0 && (s.Search.Behind > behind || s.Search.Behind > 0 && s.Counts.Messages > slow)
		}); err != nil {
			t.Errorf("the index does not fall behind: %v", err)
		}
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		cancel() // no retries
		wg.Wait()
	}
	c := at(port)
	var status hub.AppStatus
	require.NoError(t, until(func() bool {
		status, err = c.AppStatus(t.Context())
		return err == nil && status.Search.Behind == 0
	}))
	if status.Search.Documents != status.Counts.Messages {
		t.Errorf("the index holds %d documents of %d messages", status.Search.Documents, status.Counts.Messages)
	}
	groups := map[string][]hub.MessageID{}
	for id, group := range acknowledged {
		groups[group] = append(groups[group], id)
	}
	for group, ids := range groups {
		page, err := c.Search(t.Context(), hub.SearchQuery{Text: group, Viewer: "bob", Limit: 100})
		require.NoError(t, err)
		times := map[hub.MessageID]int{}
		for _, r := range page.Rows {
			times[*r.MessageID]++
		}
		for _, id := range ids {
			if times[id] != 1 {
				t.Errorf("message %d, which was acknowledged, is found %d times", id, times[id])
			}
		}
	}
	t.Logf("%d messages were acknowledged", len(acknowledged))
}

// TestHubUsesNoCurrentFolder: a hub works wherever it is started, also in a folder in which
// nothing can be made.
func TestHubUsesNoCurrentFolder(t *testing.T) {
	current := t.TempDir()
	if runtime.GOOS == "linux" {
		current = "/proc"
	}
	port, err := freePort()
	require.NoError(t, err)
	dir := t.TempDir()
	cmd := exec.Command("hubcli", "--port", port, "--storage", filepath.Join(dir, "store"), "--spool-dir", filepath.Join(dir, "spool"), "--quiet")
	cmd.Dir = current
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.NoError(t, until(func() bool { s, err := at(port).AppStatus(t.Context()); return err == nil && s.Search.Open }))
	if made, err := filepath.Glob(filepath.Join(current, "*.new")); err != nil || len(made) > 0 {
		t.Errorf("the hub has made %q, %v", made, err)
	}
}
