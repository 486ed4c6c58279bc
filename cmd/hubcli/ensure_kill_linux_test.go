package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestEnsureKilledAtAnyMoment kills ensure at moments from its start to its end, before a
// store is there and when one is. The daemon that it may have started goes on, the next
// ensure finds that one or starts one, there is one daemon, and every message is there.
func TestEnsureKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const moments = 30
	port, err := freePort()
	require.NoError(t, err)
	root := t.TempDir()
	c := at(port)
	ensure := func(store string) *exec.Cmd {
		cmd := exec.Command("hubcli", "ensure", "--json", "--port", port, "--storage", store)
		cmd.Env = append(cmd.Environ(), "HUB_DATA_ROOT="+root)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return cmd
	}
	used := filepath.Join(root, "used")
	t.Cleanup(func() { end(port, root) })
	begun := time.Now()
	require.NoError(t, ensure(used).Run())
	whole := time.Since(begun) // what an ensure takes at most: it makes the store
	end(port, root)
	posted, found := int64(0), 0
	for i := range moments {
		store := used
		if i%2 == 0 {
			store = filepath.Join(root, fmt.Sprint("new-", i))
		}
		killed := ensure(store)
		require.NoError(t, killed.Start())
		time.Sleep(whole * time.Duration(i) / moments)
		_ = syscall.Kill(-killed.Process.Pid, syscall.SIGKILL) // its group, as a harness does that ends
		_ = killed.Wait()

		out, err := ensure(store).Output()
		require.NoError(t, err)
		var got struct {
			Started bool
			PID     int
		}
		require.NoError(t, json.Unmarshal(out, &got))
		if !got.Started {
			found++
		}
		status, err := c.AppStatus(t.Context())
		require.NoError(t, err)
		// One that was begun twice tries the lock of the store for a moment before it gives up.
		if err := until(func() bool { return countDaemons(root) == 1 }); err != nil {
			t.Errorf("killed after %d/%d: %d daemons", i, moments, countDaemons(root))
		}
		if store == used {
			_, err = c.Post(t.Context(), hub.PostInput{FromAgent: "a", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: "hello"})
			require.NoError(t, err)
			posted++
			page, err := c.Messages(t.Context(), hub.MessagesQuery{Channel: hub.DefaultChannel, Limit: 1000})
			require.NoError(t, err)
			if int64(len(page.Rows)) != posted {
				t.Fatalf("killed after %d/%d: %d messages, want %d", i, moments, len(page.Rows), posted)
			}
		}
		require.NoError(t, syscall.Kill(status.PID, syscall.SIGKILL))
		require.NoError(t, until(func() bool { return !runs(status.PID) }))
	}
	t.Logf("an ensure takes %v; the daemon of %d of %d killed ones was found", whole.Round(time.Millisecond), found, moments)
}
