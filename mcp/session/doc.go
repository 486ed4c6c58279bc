// Package session holds the bridge's session with the hub: which agent the bridge
// is, and how it comes back after the hub or the bridge itself was restarted.
//
// # States of a link
//
// A Link is in one of three states. One attempt at a time changes it, and every call
// that needs a session waits for that attempt.
//
//		none ── attempt: reach a hub, then begin, look or resume ──▶ live
//		live ── the hub is away, or answers session_invalid ──▶ none (the last session is kept)
//		live, or an attempt ── session_replaced, or a denied resume ──▶ displaced
//		any  ── hub_join ──▶ live, as the agent that was asked for
//
//	  - From none an attempt first looks whether the last session is still good: a hub
//	    journals its sessions, so after a restart it usually is. If it is not and the
//	    store is the same, the session is resumed by its key. In another store the agent
//	    registers anew, and what holds in one store only (cursors, rooms) is forgotten.
//	  - A displaced link stays displaced. Two bridges that took the name from each other
//	    would never end; only the agent itself decides to become somebody else.
//	  - A call that fails because its session is gone is repeated once in the next
//	    session. Its idempotency key makes that harmless. It is not repeated if the
//	    bridge has become another agent or the hub has another store.
//
// # Guests
//
// A client that starts no process says in each request which agent it is. The link of such a request
// is a guest: it lives as long as the request, is live or nobody, and changes no state of its
// own. What lasts is with the hub.
//
// # Slot
//
// A slot is a file that one bridge at a time locks and keeps its identity in. Secrets
// are written before they are used, so the session in the slot can always be resumed:
// the hub retires a resume key at the first call of the next session, and not when it
// answers the resume.
//
//	crash before a new session is written   the old key is still good
//	crash behind it, before its first call  both keys are good; the slot has the new one
//	crash during hub_join                   the slot holds the join with its idempotency
//	                                        key; the next bridge asks for the same answer
//
// A slot that cannot be written costs the bridge its memory and not its session. A slot
// that other users can read or write is refused.
//
// # Rejected alternatives
//
//   - Registering anew after every restart: it would displace the own session, and the
//     hub would see a new incarnation each time.
//   - Ending the bridge when it is displaced: the harness would start it again, and the
//     two would fight.
//   - Waiting for the hub during the handshake: harnesses give a server little time.
//
// A Link is safe for concurrent use from Open until Close. The package knows no tool
// and no message of the client's protocol. It never takes a name from a live bridge
// unless the command line names that agent.
package session
