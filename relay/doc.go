// Package relay carries calls of agents that cannot reach the hub's port through
// a folder that they share with it, the spool. This package has the format of the
// spool's files and the agent's side, Transport, an http.RoundTripper that
// api/client takes as any other. The hub's side is package relay/forwarder.
//
// # States of a request
//
// A request is one file. Its name is its state, and every change of state is one
// rename or one removal, so a reader sees the state before or the state after:
//
//	requests/A/.tmp-X                  being written; no forwarder looks at it
//	  │ rename, after the file was synced (client)
//	requests/A/ID.json                 pending
//	  │ lock the file, rename (forwarder)
//	requests/A/ID.work, locked         under way
//	  │ write and rename responses/A/ID.json (forwarder)
//	ID.work and responses/A/ID.json    answered
//	  │ remove ID.work (forwarder)
//	responses/A/ID.json                done; the client reads and removes it
//
// These invariants hold at every moment:
//
//   - A request has the name .json or the name .work, never both as the same file.
//     It moves from the first to the second and never back.
//   - A request is removed only after its response is in its place, or by the client
//     that takes it back.
//   - The id of a request is the idempotency key of its call. Sending the call again
//     is therefore harmless for as long as the hub remembers the key (24 hours). A
//     forwarder sends no request that is older than one hour.
//   - The lock on a .work file ends with its forwarder. A .work file that nobody has
//     locked belongs to a forwarder that has died.
//
// # Crash points
//
// Each row says what is left if the process dies just behind the step, and why
// that is harmless. The forwarder's steps are those of forwarder.Step.
//
//	client wrote .tmp-X       nobody sees it; the sweep removes it after 10 minutes
//	client renamed to .json   the call is carried out; the sweep removes the answer
//	                          after an hour
//	locked                    the lock ends with the process; the file is pending
//	taken (.work)             an orphan: another forwarder gets the lock and goes on
//	sending                   as above; the hub may have the call, and the key makes
//	                          it do the call once
//	answered, not written     as above; the hub gives the stored answer again
//	responded                 an orphan with a response: the next forwarder removes
//	                          the request and sends nothing
//	removed                   nothing is left to do
//	client read the answer    it removes the .work file first and the answer second.
//	                          In the other order a forwarder could find a request
//	                          without an answer and send again what the hub had
//	                          refused; refusals are not stored under the key
//
// On a file system without locks the age of the .work file stands for the lock: a
// forwarder touches it when it takes it, and another takes it over when the request
// timeout and 5 s have passed.
//
// # Giving up
//
// A client that gives up removes the .json file. If that succeeds, no forwarder had
// taken the request. Otherwise the client looks for the answer once more, and then
// says that the outcome is unknown. A later attempt with the same id adopts the
// request that still lies there, provided that it asks for the same thing.
//
// # Rejected alternatives
//
//   - A state inside the file, or an index beside the files: a crash between two
//     writes leaves them different, and a reader can see half a write.
//   - One lock for a folder or a spool: one slow call would hold up all others.
//   - Leases with a heartbeat instead of locks: they need clocks that agree. They
//     are used, as the age of the file, only where a file system has no locks.
//   - Trusting notification: network file systems send none and queues overflow.
//     It only saves waiting for the next look.
//   - A socket in the folder: many sandboxes and shared folders cannot carry one.
//
// # Concurrency and limits
//
// A Transport may be used by many goroutines; any number of forwarders may serve
// the spool. The package never starts a hub, never creates a spool that nobody asked
// for, and decides nothing about messages.
package relay
