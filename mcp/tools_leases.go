package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"hubcli/hub"
)

// leaseTools take and give back claims and file locks.
func leaseTools() []tool {
	return []tool{
		define(tool{
			name: "hub_claim", title: "Claim work", idempotent: true,
			description: "Reserve work so that no other agent starts it. If acquired is false, another agent has it: do other work.",
		}, claim),
		define(tool{
			name: "hub_refresh_claim", title: "Keep a claim", idempotent: true,
			description: "Extend your claim before it expires.",
		}, refreshClaim),
		define(tool{
			name: "hub_release", title: "Release a claim", idempotent: true,
			description: "Release your claim.",
		}, releaseClaim),
		define(tool{
			name: "hub_lock", title: "Lock a file", idempotent: true,
			description: "Lock a file before you edit it. Advisory: it stops only agents that also lock. Call again to extend your lock.",
		}, lock),
		define(tool{
			name: "hub_unlock", title: "Unlock a file", idempotent: true,
			description: "Release your lock on a file.",
		}, unlock),
	}
}

// shownLease is a claim or lock.
type shownLease struct {
	Key          string       `json:"key"` // claim key or file path
	Holder       hub.AgentID  `json:"holder"`
	Since        hub.Time     `json:"since" lean:"-"`
	ExpiresAt    hub.Time     `json:"expires_at" lean:"-"`
	Fence        hub.Fence    `json:"fence" lean:"-"`
	ThreadID     hub.ThreadID `json:"thread_id,omitempty"`
	TaskID       hub.TaskID   `json:"task_id,omitempty"`
	ExpiresInSec int          `json:"expires_in_sec,omitempty"`
	EndedAt      hub.Time     `json:"ended_at,omitempty" lean:"-"` // released or expired
}

// granted answers a request for a lease.
type granted struct {
	Acquired bool `json:"acquired"`
	shownLease
}

func showClaim(row *hub.Claim) shownLease {
	return shownLease{
		Key: string(row.ClaimKey), Holder: row.OwnerAgentID, Since: row.ClaimedAt, ExpiresAt: row.ExpiresAt, Fence: row.Fence,
		ThreadID: hub.Value(row.ThreadID), TaskID: hub.Value(row.TaskMessageID), EndedAt: hub.Value(row.ReleasedAt),
	}
}

func showLock(row *hub.Lock) shownLease {
	return shownLease{
		Key: row.FilePath, Holder: row.AgentID, Since: row.LockedAt, ExpiresAt: row.ExpiresAt, Fence: row.Fence,
		EndedAt: hub.Value(row.ReleasedAt),
	}
}

// left returns the seconds until a lease expires, by this machine's clock.
func (c *call) left(at hub.Time) int {
	return int(max(at.Std().Sub(c.bridge.Now()), 0) / time.Second)
}

// grant answers which agent holds the lease that tool asks for, or one that overlaps it. If it is
// another agent, the answer says what to do. circle has the agents that would wait for each other.
func (c *call) grant(ctx context.Context, l shownLease, acquired bool, circle []hub.AgentID, asked, tool string) *answer {
	l.ExpiresInSec = c.left(l.ExpiresAt)
	what := quoted(l.Key, 120)
	if asked != l.Key && !acquired {
		what += ", which overlaps " + quoted(asked, 120) + ","
	}
	line := fmt.Sprintf("You have %s for %d s (fence %d).", what, l.ExpiresInSec, l.Fence)
	switch {
	case acquired:
	case l.EndedAt != 0 || l.Holder == c.agent():
		// An earlier call with this idempotency key took the lease, and a
		// replay takes nothing.
		l.ExpiresInSec = 0
		line = fmt.Sprintf("You do not hold %s: an earlier call with this idempotency_key took it, and it has ended since. To take it again call %s without the key, or with another key.",
			what, tool)
	case len(circle) > 1:
		line = fmt.Sprintf("%s has %s, and to wait for it would close a circle: %s. None of you would go on. Release what the others wait for (hub_release, hub_unlock), or agree with %s by hub_dm.",
			word(string(l.Holder)), what, around(circle), word(string(circle[len(circle)-1])))
	case c.leftTask(ctx, l.TaskID, l.Holder):
		line = fmt.Sprintf("%s has %s and is gone. hub_take with task_id %d takes its task over, and the lease with it.", word(string(l.Holder)), what, l.TaskID)
	default:
		line = fmt.Sprintf("%s has %s for %d s more. Do other work, ask %[1]s with hub_dm, or wait your turn: %[4]s with wait_seconds.",
			word(string(l.Holder)), what, l.ExpiresInSec, tool)
	}
	return &answer{data: granted{acquired, l}, line: line, untrusted: []string{"key", "thread_id"}}
}

// leftTask reports whether the holder of a lease has left the task that the lease is for. If that
// cannot be found out, the answer says nothing of it.
func (c *call) leftTask(ctx context.Context, id hub.TaskID, holder hub.AgentID) bool {
	if id == 0 {
		return false
	}
	task, err := c.hub().Task(ctx, id, c.agent())
	return err == nil && task.AssigneeGoneSince != nil && hub.Value(task.Assignee) == holder
}

// around says which agent of a circle waits for which; the first one is the caller.
func around(circle []hub.AgentID) string {
	parts := make([]string, len(circle))
	for i, agent := range circle {
		verb, who := "waits", word(string(agent))
		if i == 0 {
			verb, who = "wait", "you"
		}
		next := "you"
		if i+1 < len(circle) {
			next = word(string(circle[i+1]))
		}
		parts[i] = fmt.Sprintf("%s %s for %s", who, verb, next)
	}
	return strings.Join(parts, ", ")
}

type claimIn struct {
	ClaimKey       hub.ClaimKey `json:"claim_key,omitempty" jsonschema:"name of the work; default task-<task_id>" range:"ClaimInput.claim_key"`
	TaskID         hub.TaskID   `json:"task_id,omitempty" jsonschema:"task it is about"`
	TTLSec         int          `json:"ttl_sec,omitempty" jsonschema:"default 300" range:"ClaimInput.ttl_sec"`
	WaitSeconds    float64      `json:"wait_seconds,omitempty" jsonschema:"wait your turn" range:"ClaimInput.wait_sec"`
	ThreadID       hub.ThreadID `json:"thread_id,omitempty" jsonschema:"where its end is told"`
	IdempotencyKey string       `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func claim(ctx context.Context, c *call, in claimIn) (*answer, error) {
	if in.ClaimKey == "" && in.TaskID == 0 {
		return nil, hub.Invalid("claim_key", "a claim needs claim_key or task_id").WithFix("name the work, such as refactor:auth")
	}
	ask := hub.ClaimInput{
		OwnerAgentID: c.agent(), ClaimKey: in.ClaimKey, TaskMessageID: in.TaskID, ThreadID: in.ThreadID, TTLSec: in.TTLSec,
	}
	if in.WaitSeconds > 0 {
		ask.WaitSec = c.wait(in.WaitSeconds).Seconds()
		defer c.waiting(ctx, "waiting for the claim")()
	}
	got, err := c.hub().Claim(c.key(ctx, in.IdempotencyKey), ask)
	if err != nil {
		return nil, err
	}
	return c.grant(ctx, showClaim(&got.Row), got.Acquired, got.Circle, string(got.Row.ClaimKey), "hub_claim"), nil
}

type holdIn struct {
	ClaimKey       hub.ClaimKey `json:"claim_key" jsonschema:"as claimed" range:"ClaimInput.claim_key"`
	TTLSec         int          `json:"ttl_sec,omitempty" jsonschema:"default 300" range:"ClaimInput.ttl_sec"`
	Fence          hub.Fence    `json:"fence,omitempty" jsonschema:"refuse if it has changed"`
	IdempotencyKey string       `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func refreshClaim(ctx context.Context, c *call, in holdIn) (*answer, error) {
	got, err := c.hub().RefreshClaim(c.key(ctx, in.IdempotencyKey), hub.ClaimHoldInput{
		ClaimKey: in.ClaimKey, OwnerAgentID: c.agent(), TTLSec: in.TTLSec, Fence: in.Fence,
	})
	if err != nil {
		return nil, notHeld(err, "hub_claim")
	}
	return c.grant(ctx, showClaim(&got.Row), got.Acquired, got.Circle, string(got.Row.ClaimKey), "hub_claim"), nil
}

// notHeld tells an agent that lost its lease how to take it again.
func notHeld(err error, tool string) error {
	e := asError(err)
	if e.Code == hub.CodeNotHolder {
		e = e.WithFix("you do not hold it (any more): stop the work that depends on it, and take it again with " + tool)
	}
	return e
}

type releaseIn struct {
	ClaimKey       hub.ClaimKey `json:"claim_key" jsonschema:"as claimed" range:"ClaimInput.claim_key"`
	Fence          hub.Fence    `json:"fence,omitempty" jsonschema:"refuse if it has changed"`
	IdempotencyKey string       `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func releaseClaim(ctx context.Context, c *call, in releaseIn) (*answer, error) {
	got, err := c.hub().ReleaseClaim(c.key(ctx, in.IdempotencyKey), hub.ClaimHoldInput{
		ClaimKey: in.ClaimKey, AgentID: c.agent(), Fence: in.Fence,
	})
	if err != nil {
		return nil, notHeld(err, "hub_claim")
	}
	return &answer{
		data: showClaim(&got.Row), prose: true, untrusted: []string{"key", "thread_id"},
		line: fmt.Sprintf("Released %s.", quoted(string(in.ClaimKey), 120)),
	}, nil
}

type lockIn struct {
	FilePath       string  `json:"file_path" jsonschema:"file, folder or pattern in your project" range:"LockInput.file_path"`
	TTLSec         int     `json:"ttl_sec,omitempty" jsonschema:"default 300" range:"ClaimInput.ttl_sec"`
	WaitSeconds    float64 `json:"wait_seconds,omitempty" jsonschema:"wait your turn" range:"ClaimInput.wait_sec"`
	IdempotencyKey string  `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func lock(ctx context.Context, c *call, in lockIn) (*answer, error) {
	path, err := c.bridge.lockPath(in.FilePath)
	if err != nil {
		return nil, err
	}
	ask := hub.LockInput{FilePath: path, AgentID: c.agent(), TTLSec: in.TTLSec}
	if in.WaitSeconds > 0 {
		ask.WaitSec = c.wait(in.WaitSeconds).Seconds()
		defer c.waiting(ctx, "waiting for the lock")()
	}
	got, err := c.hub().Lock(c.key(ctx, in.IdempotencyKey), ask)
	if err != nil {
		return nil, err
	}
	l := showLock(&got.Row)
	l.TaskID = taskOf(got.Row.Metadata)
	a := c.grant(ctx, l, got.Acquired, got.Circle, path, "hub_lock")
	if info, err := os.Stat(path); got.Acquired && (hub.IsLockPattern(path) || err == nil && info.IsDir()) {
		a.line += " It covers all that lies below."
	}
	return a, nil
}

type unlockIn struct {
	FilePath       string    `json:"file_path" jsonschema:"as locked" range:"LockInput.file_path"`
	Fence          hub.Fence `json:"fence,omitempty" jsonschema:"refuse if it has changed"`
	IdempotencyKey string    `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func unlock(ctx context.Context, c *call, in unlockIn) (*answer, error) {
	path, err := c.bridge.lockPath(in.FilePath)
	if err != nil {
		return nil, err
	}
	got, err := c.release(ctx, in, path)
	if err != nil && asError(err).Code == hub.CodeNotHolder && path != in.FilePath {
		// The lock was taken under the path as written: over HTTP, or by an
		// older bridge.
		if in.IdempotencyKey != "" {
			in.IdempotencyKey = keyOf(in.IdempotencyKey, in.FilePath)
		}
		if before, other := c.release(ctx, in, in.FilePath); other == nil {
			got, path, err = before, in.FilePath, nil
		}
	}
	if err != nil {
		return nil, notHeld(err, "hub_lock")
	}
	return &answer{
		data: showLock(&got.Row), prose: true, untrusted: []string{"key"},
		line: fmt.Sprintf("Unlocked %s. Others may edit it now.", quoted(path, 120)),
	}, nil
}

// release releases the lock on one path.
func (c *call) release(ctx context.Context, in unlockIn, path string) (hub.Outcome[hub.Lock], error) {
	return c.hub().ReleaseLock(c.key(ctx, in.IdempotencyKey), hub.LockHoldInput{FilePath: path, AgentID: c.agent(), Fence: in.Fence})
}

// keyOf derives the idempotency key of a second write in the same call.
func keyOf(key, write string) string {
	sum := sha256.Sum256([]byte(key + "\n" + write))
	return hex.EncodeToString(sum[:])
}
