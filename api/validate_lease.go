package api

import (
	"math"
	"strconv"

	"hubcli/hub"
)

// ValidateClaim checks a request for a claim; it derives the key from the task
// and fills in the time to live.
func ValidateClaim(in *hub.ClaimInput) error {
	if err := hub.CheckSender("owner_agent_id", in.OwnerAgentID); err != nil {
		return err
	}
	if err := checkID("task_message_id", in.TaskMessageID); err != nil {
		return err
	}
	if in.ClaimKey == "" && in.TaskMessageID != 0 {
		in.ClaimKey = hub.ClaimKey("task-" + strconv.FormatInt(int64(in.TaskMessageID), 10))
	}
	return first(
		checkBounds(in),
		checkThread(in.ThreadID),
		checkTTL(&in.TTLSec),
		checkWait(in.WaitSec),
		ValidateMetadata(in.Metadata))
}

// ValidateClaimHold checks the renewal or the release of a claim. It sets both
// names of the holder to the same value.
func ValidateClaimHold(in *hub.ClaimHoldInput) error {
	field := "owner_agent_id"
	switch {
	case in.OwnerAgentID == "":
		if in.AgentID != "" {
			field = "agent_id"
		}
		in.OwnerAgentID = in.AgentID
	case in.AgentID == "":
		in.AgentID = in.OwnerAgentID
	case in.AgentID != in.OwnerAgentID:
		return hub.Invalid("agent_id", "agent_id and owner_agent_id name two agents").WithFix("send one of them")
	}
	return first(
		hub.CheckSender(field, in.OwnerAgentID),
		checkBounds(in),
		checkTTL(&in.TTLSec),
		checkFence(in.Fence))
}

// ValidateLock checks a request for a file lock and fills in the time to live.
func ValidateLock(in *hub.LockInput) error {
	return first(
		hub.CheckSender("agent_id", in.AgentID),
		checkBounds(in),
		CheckLockPattern("file_path", in.FilePath),
		checkTTL(&in.TTLSec),
		checkWait(in.WaitSec),
		ValidateMetadata(in.Metadata))
}

// CheckLockPattern refuses a path with too many wildcards.
func CheckLockPattern(field, file string) error {
	if hub.LockWildcards(file) > hub.MaxLockWildcards {
		return hub.Invalid(field, field+" has wildcards in more than "+strconv.Itoa(hub.MaxLockWildcards)+" of its parts").With("limit", hub.MaxLockWildcards).
			WithFix("lock the folder: it covers all that lies below")
	}
	return nil
}

// ValidateLockHold checks the renewal or the release of a file lock.
func ValidateLockHold(in *hub.LockHoldInput) error {
	return first(
		hub.CheckSender("agent_id", in.AgentID),
		checkBounds(in),
		checkTTL(&in.TTLSec),
		checkFence(in.Fence))
}

func checkTTL(sec *int) error {
	if *sec == 0 {
		*sec = hub.DefaultTTLSec
	}
	if *sec < hub.MinTTLSec || *sec > hub.MaxTTLSec {
		return hub.Invalid("ttl_sec", "ttl_sec must be from 1 to 86400").
			With("limit", hub.MaxTTLSec).With("size", *sec)
	}
	return nil
}

func checkWait(sec float64) error {
	if math.IsNaN(sec) || sec < 0 || sec > hub.MaxWaitSec {
		return hub.Invalid("wait_sec", "wait_sec must be from 0 to 60").With("limit", hub.MaxWaitSec)
	}
	return nil
}

func checkFence(f hub.Fence) error {
	if f < 0 {
		return hub.Invalid("fence", "fence must be at least 1")
	}
	return nil
}

// ValidateClaimBreak checks what the operator says when a claim is taken.
func ValidateClaimBreak(in *hub.ClaimBreakInput) error {
	return first(checkBounds(in), checkWords("reason", in.Reason))
}

// ValidateLockBreak checks what the operator says when a file lock is taken.
func ValidateLockBreak(in *hub.LockBreakInput) error {
	return first(checkBounds(in), checkWords("reason", in.Reason))
}
