package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// lockPath asks for a file lock, and says of whom the answer is and on which path.
func (r *rig) lockPath(agent hub.AgentID, path string, ttl int) (got string) {
	r.t.Helper()
	g, err := r.Lock(r.t.Context(), hub.LockInput{FilePath: path, AgentID: agent, TTLSec: ttl})
	require.NoError(r.t, err)
	if g.Acquired != (g.Row.AgentID == agent) {
		r.t.Errorf("%s asks for %s: acquired %v, %+v", agent, path, g.Acquired, g.Row)
	}
	return string(g.Row.AgentID) + " has " + g.Row.FilePath
}

func (r *rig) unlock(agent hub.AgentID, path string) {
	r.t.Helper()
	_, err := r.ReleaseLock(r.t.Context(), hub.LockHoldInput{FilePath: path, AgentID: agent})
	require.NoError(r.t, err)
}

// waitForPath parks a call for a file lock.
func (r *rig) waitForPath(agent hub.AgentID, path string) <-chan result[hub.Grant[hub.Lock]] {
	c := async(func() (hub.Grant[hub.Lock], error) {
		return r.Lock(context.Background(), hub.LockInput{FilePath: path, AgentID: agent, TTLSec: 600, WaitSec: 60})
	})
	synctest.Wait()
	return c
}

// forTask is the metadata of a lock for a task.
func forTask(id hub.TaskID) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"task_id":%d}`, id))
}

// locksOn lists the paths of the locks that overlap a path.
func (r *rig) locksOn(path string) (paths []string) {
	r.t.Helper()
	rows, _, err := r.Locks(r.t.Context(), hub.LeasesQuery{Covering: path, ActiveOnly: true, Limit: 10})
	require.NoError(r.t, err)
	for _, l := range rows {
		paths = append(paths, l.FilePath)
	}
	return paths
}

// TestLockCoversWhatLiesBelow: the lock on a folder or a pattern keeps other agents from all that it
// covers and from all that covers it, also after a restart, and its own agent from nothing.
func TestLockCoversWhatLiesBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		for _, agent := range []hub.AgentID{"ann", "bob"} {
			r.register(agent)
		}
		asks := func(agent hub.AgentID, path, want string) {
			t.Helper()
			if got := r.lockPath(agent, path, 600); got != want {
				t.Errorf("%s asks for %s: %s, want %s", agent, path, got, want)
			}
		}
		asks("ann", "/w/src", "ann has /w/src")
		asks("ann", "/w/src/a.go", "ann has /w/src/a.go")
		asks("bob", "/w/doc/*.md", "bob has /w/doc/*.md")
		r = start(t, r.crash())
		asks("bob", "/w/src/b.go", "ann has /w/src")
		asks("bob", "/w/src/", "ann has /w/src")
		asks("bob", "/w/**/*.go", "ann has /w/src")
		asks("bob", "/w/srcs/b.go", "bob has /w/srcs/b.go")
		asks("ann", "/w/doc/one.md", "bob has /w/doc/*.md")
		asks("ann", "/w/doc", "bob has /w/doc/*.md")
		asks("ann", "/w/doc/one.txt", "ann has /w/doc/one.txt")
		if got := r.lockPath("ann", "/", 600); got != "bob has /w/doc/*.md" && got != "bob has /w/srcs/b.go" {
			t.Errorf("ann asks for /: %s", got)
		}
		if got, want := r.locksOn("/w/src/b.go"), []string{"/w/src"}; !slices.Equal(got, want) {
			t.Errorf("the locks on a file are %q, want %q", got, want)
		}
		if got, want := r.locksOn("/w"), []string{"/w/doc/*.md", "/w/doc/one.txt", "/w/src", "/w/src/a.go", "/w/srcs/b.go"}; !slices.Equal(got, want) {
			t.Errorf("the locks in a folder are %q, want %q", got, want)
		}
		r.unlock("ann", "/w/src")
		asks("bob", "/w/src/b.go", "bob has /w/src/b.go")
		asks("bob", "/w/src", "ann has /w/src/a.go")
		_, err := r.Lock(t.Context(), hub.LockInput{FilePath: "/w/src/c.go", AgentID: "ann", TTLSec: 1})
		require.NoError(t, err)
		time.Sleep(hub.LeaseRestartGrace + time.Second)
		asks("bob", "/w/src/c.go/*", "bob has /w/src/c.go/*")
	})
}

// TestLocksThatOverlapShareALine: agents that wait for overlapping locks are served in the order in
// which they came, each once nothing of another agent is in its way. Lists show whom a lock keeps
// waiting, and a circle over such locks is answered at once.
func TestLocksThatOverlapShareALine(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for _, agent := range []hub.AgentID{"ann", "bob", "cid"} {
			r.register(agent)
		}
		r.lockPath("ann", "/w/src", 600)
		r.lockPath("ann", "/w/src/a.go", 600)
		folder := r.waitForPath("cid", "/w")
		file := r.waitForPath("bob", "/w/src/a.go")
		rows, _, err := r.Locks(t.Context(), hub.LeasesQuery{Key: "/w/src", ActiveOnly: true, Limit: 10})
		require.NoError(t, err)
		if w := rows[0].Waiters; len(w) != 2 || w[0].AgentID != "cid" && w[1].AgentID != "cid" {
			t.Errorf("the folder keeps %+v waiting", w)
		}
		r.unlock("ann", "/w/src")
		synctest.Wait()
		parked(t, folder)
		parked(t, file)
		r.unlock("ann", "/w/src/a.go")
		if got := <-folder; got.err != nil || !got.v.Acquired {
			t.Errorf("the first in line: %+v, %v", got.v, got.err)
		}
		synctest.Wait()
		parked(t, file)
		r.lockPath("bob", "/x", 600)
		got, err := r.Lock(t.Context(), hub.LockInput{FilePath: "/x/y", AgentID: "cid", TTLSec: 60, WaitSec: 60})
		if want := []hub.AgentID{"cid", "bob"}; err != nil || !slices.Equal(got.Circle, want) {
			t.Errorf("a wait that closes a circle: %+v, %v, want %v", got, err, want)
		}
		r.unlock("cid", "/w")
		if got := <-file; got.err != nil || !got.v.Acquired || got.v.Row.FilePath != "/w/src/a.go" {
			t.Errorf("the second in line: %+v, %v", got.v, got.err)
		}
	})
}

// TestOverlappingLockWakesWhoWaits: however a lock goes away, an agent that waits for a file below it
// goes on: it is released, broken, expires, ends with its task or passes on with it. So does an agent
// behind one that something else still keeps from the same path.
func TestOverlappingLockWakesWhoWaits(t *testing.T) {
	for name, frees := range map[string]func(*rig, hub.TaskID){
		"released": func(r *rig, _ hub.TaskID) { r.unlock("ann", "/w/src") },
		"broken": func(r *rig, _ hub.TaskID) {
			_, err := r.BreakLock(asOperator(r.t.Context()), hub.LockBreakInput{FilePath: "/w/src", Reason: "x"})
			require.NoError(r.t, err)
		},
		"expired": func(*rig, hub.TaskID) { time.Sleep(31 * time.Second) },
		"its task is done": func(r *rig, id hub.TaskID) {
			_, err := r.CompleteTask(r.t.Context(), id, hub.CompleteInput{AgentID: "ann", Release: true})
			require.NoError(r.t, err)
		},
		"its task passes to the agent that waits": func(r *rig, id hub.TaskID) { require.NoError(r.t, r.assign(id, "ann", "bob")) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				for _, agent := range []hub.AgentID{"ann", "bob"} {
					r.register(agent)
				}
				id := r.post(hub.PostInput{FromAgent: "lead", Channel: hub.DefaultChannel, Kind: hub.KindTask, Body: "paint"}).ID
				require.NoError(t, r.assign(id, "ann", "ann"))
				_, err := r.Lock(t.Context(), hub.LockInput{FilePath: "/w/src", AgentID: "ann", TTLSec: 30, Metadata: forTask(id)})
				require.NoError(t, err)
				waits := r.waitForPath("bob", "/w/src/a.go")
				parked(t, waits)
				frees(r, id)
				synctest.Wait()
				select {
				case got := <-waits:
					if got.err != nil || !got.v.Acquired || got.v.Row.FilePath != "/w/src/a.go" {
						t.Errorf("the agent that waits has %+v, %v", got.v, got.err)
					}
				default:
					t.Error("the agent still waits")
				}
			})
		})
	}
	bubble(t, func(t *testing.T, r *rig) {
		r.lockPath("ann", "/w/x", 600)
		r.lockPath("cid", "/w/y", 600)
		first := r.waitForPath("bob", "/w") // ann and cid keep it from it
		second := r.waitForPath("ann", "/w")
		r.unlock("cid", "/w/y")
		if got := <-second; got.err != nil || !got.v.Acquired {
			t.Errorf("nothing keeps the second in line from it: %+v, %v", got.v, got.err)
		}
		synctest.Wait()
		parked(t, first)
		// A circle over the second of two locks that are in the way.
		r.lockPath("bob", "/z", 600)
		r.lockPath("dan", "/v/a", 600)
		r.lockPath("eve", "/v/b", 600)
		r.lockPath("eve", "/v/b", 600)
		eve := r.waitForPath("eve", "/z")
		got, err := r.Lock(t.Context(), hub.LockInput{FilePath: "/v", AgentID: "bob", TTLSec: 60, WaitSec: 60})
		if want := []hub.AgentID{"bob", "eve"}; err != nil || !slices.Equal(got.Circle, want) {
			t.Errorf("bob waits for dan and eve, and eve for bob: %+v, %v, want %v", got, err, want)
		}
		parked(t, eve)
	})
}

// TestLockOnAllCoversAll: the root folder and the current one are folders like others.
func TestLockOnAllCoversAll(t *testing.T) {
	r := start(t, newMemStore())
	for _, c := range []struct{ whole, part, other string }{{"/", "/w/a", "a"}, {".", "src/a", "/src/a"}} {
		if got := r.lockPath("ann", c.whole, 60); got != "ann has "+c.whole {
			t.Errorf("%s: %s", c.whole, got)
		}
		if got := r.lockPath("bob", c.part, 60); got != "ann has "+c.whole {
			t.Errorf("%s: %s", c.part, got)
		}
		if got := r.lockPath("bob", c.other, 60); got != "bob has "+c.other {
			t.Errorf("%s: %s", c.other, got)
		}
		r.unlock("ann", c.whole)
		r.unlock("bob", c.other)
	}
}
