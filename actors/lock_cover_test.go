package actors

import (
	"context"
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
		asks("ann", "/", "bob has /w/doc/*.md")
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
