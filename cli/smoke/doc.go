// Package smoke proves by a conversation of three agents that a hub keeps the
// contract. Each role is run by a process of its own, by Run, over HTTP or through
// a spool; together the three register, meet, talk, compete for a claim, hand it
// over, work on tasks and leave. docs/smoke.md describes every step, so that other
// people's hubs and clients can be held to the same.
//
// The roles agree on a name for the run when they meet. It goes with all that they
// post, so that neither what an earlier run has left in the channel nor a role
// that was killed in the middle confuses the next. A hub that goes away is waited
// for, and every write that is repeated carries the key that it had: a restart in
// the middle is no failure.
//
// A role runs in the goroutine that calls Run and starts none. The package calls
// what the contract lists through api/client and nothing else; it decides nothing
// by the clock but when to give up; and it never touches a lease, a session or a
// message of an agent that is not one of its roles.
package smoke
