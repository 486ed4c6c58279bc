package core_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

func claim(agent hub.AgentID, key string, ttl int) core.AcquireCommand {
	return core.AcquireCommand{Space: core.SpaceClaim, Agent: agent, Key: key, TTLSec: ttl}
}

func hold(agent hub.AgentID, key string, ttl int, fence hub.Fence) core.HoldCommand {
	return core.HoldCommand{Space: core.SpaceClaim, Agent: agent, Key: key, TTLSec: ttl, Fence: fence}
}

func TestLeaseRowCarriesWhatWasGiven(t *testing.T) {
	r := newLeaseRig(t)
	a := r.acquire(core.AcquireCommand{
		Space: core.SpaceClaim, Key: "k", Agent: "alice", Thread: "th", TaskMessage: 7, TTLSec: 60,
		Metadata: json.RawMessage(`{"why":"<tests> & more"}`),
	})
	if !a.Acquired || !a.Created || a.Lock != nil || a.Claim == nil {
		t.Fatalf("answer %+v", a)
	}
	c := a.Claim
	if *c.ThreadID != "th" || *c.TaskMessageID != 7 || c.OwnerAgentID != "alice" || c.Fence != 1 ||
		c.ReleasedAt != nil || c.ExpiresAt-c.ClaimedAt != 60_000 || string(c.Metadata) != `{"why":"<tests> & more"}` {
		t.Errorf("row %+v", *c)
	}
	stored := r.rows["6 k"]
	if row := stored.Claim(r.now); row.Fence != 1 || row.ExpiresAt != c.ExpiresAt || row.ReleasedAt != nil {
		t.Errorf("stored row %+v", row)
	}
}

// The row of an ended lease never changes, whenever it is read.
func TestEndedLeaseLeavesItsLastRow(t *testing.T) {
	for _, end := range []string{"release", "expiry"} {
		t.Run(end, func(t *testing.T) {
			r := newLeaseRig(t)
			granted := r.acquire(claim("alice", "k", 10))
			if end == "release" {
				r.pass(3 * time.Second)
				if _, err := r.release(hold("alice", "k", 0, 0)); err != nil {
					t.Fatal(err)
				}
			} else {
				r.pass(11 * time.Second)
				r.expire()
			}
			ended := r.now.Wall
			r.pass(time.Hour)
			if _, held := r.live.Get(core.LeaseKey{Space: core.SpaceClaim, Key: "k"}); held || r.live.Len() != 0 {
				t.Error("an ended lease is still in the state")
			}
			last := r.rows["6 k"]
			row := last.Claim(r.now)
			if row.ReleasedAt == nil || *row.ReleasedAt != ended || row.ExpiresAt != granted.Claim.ExpiresAt {
				t.Errorf("last row %+v, ended %v", row, ended)
			}
		})
	}
}

// The wall clock may jump; the time that a lease has left is hub time.
func TestExpiresAtFollowsTheWallClock(t *testing.T) {
	r := newLeaseRig(t)
	r.acquire(claim("alice", "k", 60))
	r.pass(20 * time.Second)
	r.now.Wall += hub.Time(time.Hour.Milliseconds()) // the hub was down
	a := r.acquire(claim("bob", "k", 60))
	if a.Acquired || a.Claim.ExpiresAt != r.now.Wall+40_000 {
		t.Errorf("40 s are left, the row says %v at %v", a.Claim.ExpiresAt, r.now.Wall)
	}
}

func TestRefreshAndReleaseRefuse(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pass  time.Duration
		c     core.HoldCommand
		code  hub.Code
		holds bool
	}{
		{"free", 0, hold("alice", "other", 10, 0), hub.CodeNotHolder, true},
		{"another's", 0, hold("bob", "k", 10, 0), hub.CodeNotHolder, true},
		{"another's with the right fence", 0, hold("bob", "k", 10, 2), hub.CodeNotHolder, true},
		{"expired at the deadline", 10 * time.Second, hold("alice", "k", 10, 2), hub.CodeNotHolder, false},
		{"older fence", 0, hold("alice", "k", 10, 1), hub.CodeStaleFence, true},
		{"fence never given", 0, hold("alice", "k", 10, 9), hub.CodeStaleFence, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, command := range map[string]func(*leaseRig, core.HoldCommand) (core.LeaseAnswer, error){
				"refresh": (*leaseRig).refresh, "release": (*leaseRig).release,
			} {
				r := newLeaseRig(t)
				r.acquire(claim("zoe", "first", 600)) // takes fence 1
				r.acquire(claim("alice", "k", 10))
				r.pass(tt.pass)
				_, err := command(r, tt.c)
				if !errors.Is(err, &hub.Error{Code: tt.code}) {
					t.Errorf("%s: %v, want %s", name, err, tt.code)
				}
				if e, ok := errors.AsType[*hub.Error](err); !ok || e.Fix == "" {
					t.Errorf("%s: %v has no fix", name, err)
				}
				_, holds := r.live.Get(core.LeaseKey{Space: core.SpaceClaim, Key: "k"})
				if holds != tt.holds {
					t.Errorf("%s: held afterward: %v", name, holds)
				}
			}
		})
	}
}

func TestDecidingChangesNothing(t *testing.T) {
	r := newLeaseRig(t)
	r.acquire(claim("alice", "k", 10))
	before := string(r.live.Snapshot())
	r.pass(time.Minute)
	r.live.Acquire(claim("bob", "k", 10), r.now)
	r.live.Acquire(claim("alice", "k", 100), r.now)
	_, refreshErr := r.live.Refresh(hold("alice", "k", 10, 0), r.now)
	_, releaseErr := r.live.Release(hold("alice", "k", 10, 0), r.now)
	if refreshErr == nil || releaseErr == nil {
		t.Error("a lease whose deadline has come counts as held")
	}
	r.live.Expire(r.now, r, 10)
	r.live.Graced(r.now, 10)
	if after := string(r.live.Snapshot()); after != before {
		t.Errorf("state changed:\n%s\n%s", before, after)
	}
}

// A record expires a bounded number of leases, earliest first. The lease of its
// command is always among them.
func TestExpiryComesInBatches(t *testing.T) {
	r := newLeaseRig(t)
	for i := range 50 {
		r.acquire(claim("alice", "k"+string(rune('A'+(i*7)%50)), 10+(i*7)%50))
	}
	r.pass(59 * time.Second) // the last one's deadline is now
	last := core.LeaseKey{Space: core.SpaceClaim, Key: "k" + string(rune('A'+49))}
	d := r.live.Expire(r.now, r, 20, last)
	if len(d.Facts) != 20 || d.Facts[0].(*core.LeaseExpired).Key != last.Key || d.Facts[1].(*core.LeaseExpired).Key != "kA" {
		t.Fatalf("first batch %s", show(d, core.Position{}))
	}
	for batches := 1; !d.Empty(); batches++ {
		if batches > 3 {
			t.Fatal("more than three batches")
		}
		r.commit(d)
		d = r.live.Expire(r.now, r, 20)
	}
	if r.live.Len() != 0 || r.live.Due(r.now) {
		t.Errorf("%d leases are left", r.live.Len())
	}
	if _, ok := r.live.NextDeadline(); ok {
		t.Error("an empty state has a deadline")
	}
}

func TestCanonicalPath(t *testing.T) {
	for given, want := range map[string]string{
		"a/b":               "a/b",
		"a//b/":             "a/b",
		"./a/./b":           "a/b",
		"a/x/../b":          "a/b",
		"../a":              "../a",
		"/../a":             "/a",
		`a\b`:               "a/b",
		`C:\Work\a.go`:      "C:/Work/a.go",
		`c:/Work//a.go`:     "C:/Work/a.go",
		"A/b":               "A/b",
		".":                 ".",
		"ünï/ 文.go":         "ünï/ 文.go",
		`\\server\share\f`:  "/server/share/f",
		"a/..":              ".",
		"/":                 "/",
		"with space / x.go": "with space / x.go",
	} {
		if got, err := core.CanonicalPath(given); got != want || err != nil {
			t.Errorf("CanonicalPath(%q) = %q, %v, want %q", given, got, err, want)
		}
		if again, err := core.CanonicalPath(want); again != want || err != nil {
			t.Errorf("the canonical %q becomes %q, %v", want, again, err)
		}
	}
	for _, bad := range []string{"", "a\x00b", "a\nb", "a\x7f", "\xff", strings.Repeat("é", hub.MaxFilePathChars+1)} {
		if got, err := core.CanonicalPath(bad); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
			t.Errorf("CanonicalPath(%q) = %q, %v", bad, got, err)
		}
	}
	if _, err := core.CanonicalPath(strings.Repeat("é", hub.MaxFilePathChars)); err != nil {
		t.Errorf("a path of the greatest length: %v", err)
	}
}

// The numbers of the shards are part of the store's format: a key that moves to
// another shard would lose its lease.
func TestLeaseShardIsStable(t *testing.T) {
	for key, want := range map[string]int{"": 14, "k": 14, "build": 14, "build:linux": 3, "build:mac": 3, ":x": 5, "file:a": 3, "ci:1": 1} {
		if got := core.LeaseShard(core.LeaseKey{Space: core.SpaceClaim, Key: key}); got != want {
			t.Errorf("claim %q is in shard %d, was %d", key, got, want)
		}
	}
	for _, path := range []string{"a", "build:linux", "src/main.go"} {
		if got := core.LeaseShard(core.LeaseKey{Space: core.SpaceLock, Key: path}); got != 3 {
			t.Errorf("lock %q is in shard %d, was 3", path, got)
		}
	}
}

func TestRestoreLeasesRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		version uint16
		data    string
	}{
		"a newer version": {core.LeasesVersion + 1, `{"leases":[]}`},
		"no JSON":         {core.LeasesVersion, `{"leases":`},
		"a key twice":     {core.LeasesVersion, `{"leases":[{"space":1,"key":"k"},{"space":1,"key":"k"}]}`},
	} {
		if _, err := core.RestoreLeases(tt.version, []byte(tt.data)); err == nil {
			t.Errorf("%s was restored", name)
		}
	}
}
