package api

import "hubcli/hub"

// leasesOperations are the calls about claims and locks.
var leasesOperations = func() []Operation {
	return []Operation{
		// Lists claims by key.
		//
		// The last row of every key, or with active_only the claims that are held. Filters may be combined.
		//
		// Query:
		//   - claim_key (as Name): The claim of this key alone.
		//   - prefix (as Name): Only keys that begin so.
		//   - owner_agent_id
		//   - thread_id
		//   - lease_room
		//   - active_only
		//   - viewer
		//   - cursor
		//   - limit
		//
		// Answer: Claims.
		{
			ID: "listClaims", Method: "GET", Path: "/v1/claims", Agent: "agent_id",
			Answer: pages[hub.Claim](), Errors: "room_not_found",
		},
		// Asks for a claim.
		//
		// 201 if the caller holds the key now, again with the same fence if it did already; 200 with the row of the
		// holder if another does. With wait_sec the call waits its turn, first come, first served. A message or task
		// that the agent may not see, or that does not exist, is 404 task_not_found, be it named by task_message_id
		// or, for a task of others, by the key task-<id>.
		//
		// Answer: The row of the holder, and whether that is the caller.
		{
			ID: "claim", Method: "POST", Path: "/v1/claims", Agent: "owner_agent_id", Body: small[hub.ClaimInput](), Wait: Wait{By: WaitSec},
			Answer: lease[hub.Claim](), Makes: MakesOrFinds, Errors: "metadata_too_large metadata_too_deep task_not_found paused",
		},
		// Takes a claim from its holder.
		//
		// The holder and the agents that wait for it get a notice of the operator with the reason. The first in line
		// gets it, with a higher fence. The answer is the last row of the holder.
		//
		// Answer: The claim.
		{
			ID: "breakClaim", Method: "POST", Path: "/v1/claims/break", Plane: PlaneOperator, Body: small[hub.ClaimBreakInput](),
			Answer: row[hub.Claim](), Errors: "not_holder",
		},
		// Renews a claim.
		//
		// Answer: The row of the holder, and whether that is the caller.
		{
			ID: "refreshClaim", Method: "POST", Path: "/v1/claims/refresh", Agent: "owner_agent_id", Body: small[hub.ClaimHoldInput](),
			Answer: lease[hub.Claim](), Errors: "not_holder stale_fence",
		},
		// Ends a claim.
		//
		// Answer: The claim.
		{
			ID: "releaseClaim", Method: "POST", Path: "/v1/claims/release", Agent: "agent_id", Body: small[hub.ClaimHoldInput](),
			Answer: row[hub.Claim](), Errors: "not_holder stale_fence",
		},
		// Lists file locks by path.
		//
		// In the order of the canonical paths, with which file_path and prefix are compared too. agent_id is the
		// agent that looks, as in every list; owner_agent_id is the holder. Filters may be combined.
		//
		// Query:
		//   - file_path (1..1024 runes): The lock of this path alone.
		//   - covering (1..1024 runes): Only locks that overlap this path, which may be a folder or a pattern.
		//   - prefix (1..1024 runes): Only paths that begin so; with a slash at its end, what lies in that folder.
		//   - owner_agent_id
		//   - lease_room
		//   - active_only
		//   - viewer
		//   - cursor
		//   - limit
		//
		// Answer: Locks.
		{
			ID: "listLocks", Method: "GET", Path: "/v1/locks", Agent: "agent_id",
			Answer: pages[hub.Lock](), Errors: "room_not_found",
		},
		// Asks for a file lock.
		//
		// As claims. Paths are compared in canonical form and returned as they were given. A lock covers its path and
		// all that lies below. In a pattern, * stands for any characters of one part of a path, ? for one character,
		// and ** for any number of parts; at most 8 parts have wildcards. If a lock of another agent overlaps the
		// path, the answer has that lock.
		//
		// Answer: The row of the holder, and whether that is the caller.
		{
			ID: "lock", Method: "POST", Path: "/v1/locks", Agent: "agent_id", Body: small[hub.LockInput](), Wait: Wait{By: WaitSec},
			Answer: lease[hub.Lock](), Makes: MakesOrFinds, Errors: "metadata_too_large metadata_too_deep paused",
		},
		// Takes a file lock from its holder.
		//
		// The holder and the agents that wait for it get a notice of the operator with the reason. The first in line
		// gets it, with a higher fence. The answer is the last row of the holder.
		//
		// Answer: The lock.
		{
			ID: "breakLock", Method: "POST", Path: "/v1/locks/break", Plane: PlaneOperator, Body: small[hub.LockBreakInput](),
			Answer: row[hub.Lock](), Errors: "not_holder",
		},
		// Renews a file lock.
		//
		// Answer: The row of the holder, and whether that is the caller.
		{
			ID: "refreshLock", Method: "POST", Path: "/v1/locks/refresh", Agent: "agent_id", Body: small[hub.LockHoldInput](),
			Answer: lease[hub.Lock](), Errors: "not_holder stale_fence",
		},
		// Ends a file lock.
		//
		// Answer: The lock.
		{
			ID: "releaseLock", Method: "POST", Path: "/v1/locks/release", Agent: "agent_id", Body: small[hub.LockHoldInput](),
			Answer: row[hub.Lock](), Errors: "not_holder stale_fence",
		},
	}
}
