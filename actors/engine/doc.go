// Package engine runs the owners of the hub's state. It admits commands, lets
// an owner decide each of them, numbers the decisions, makes them durable,
// shows them in the views, and then lets the answers leave. It restores owners
// at a start and rebuilds an owner that breaks. It knows records and owner
// kinds (Kind), but nothing of tasks, rooms or other resources.
//
// These files hold the actors: owner.go has one owner, turn.go its turns,
// registry.go finds and retires owners, and runtime.go wraps protoactor-go.
//
// The state of an Owner belongs to its turns. Everything else may be called from any
// goroutine. The package never touches the network. It reads and writes the store only
// through core.Journal and core.Rows, and it sees the views only through Views.
//
// # The path of a write
//
// Each row is one step: the goroutine that takes it, the place in the code, and
// the Step that tests see after it.
//
//	caller   command.go    Admit: reserve the idempotency key, take a permit
//	owner    turn.go       Current: make the state ready
//	owner    core          Decide: read the state, change nothing       decided
//	owner    sequencer.go  reserve: number the record                   numbered
//	owner    turn.go       apply the facts, collect the rows, publish   applied
//	writer   writer.go     take a group, ask the views for their rows   appending
//	writer   persistence   Append: write and sync the group             appended
//	writer   view          show the records; the group counts as durable  shown
//	writer   command.go    deliver the answers                          answered
//	waker    view          wake the parked calls                        notified
//
// # Invariants
//
//   - An answer leaves only when everything that it depends on is durable. So
//     refusals and answers without effect wait too, as barriers (sequencer.after).
//   - Records become durable, visible and acknowledged in the order of their numbers.
//   - Before reserve a command can be refused. After it, two errors remain: if the
//     disk is full, the record is taken back (withdraw); any other error stops the
//     hub (fail).
//   - No owner waits for another owner. An owner waits for the writer only while it
//     rebuilds itself, and the writer never waits for an owner's turn.
//
// # What a crash leaves
//
//	up to appending   Nothing is on the disk. No answer has left, so the numbers may
//	                  be given again.
//	in Append         All of the group is on the disk, or nothing. Both are right: its
//	                  callers have no answer, and they repeat the call with the same
//	                  key.
//	appended or later The records stand. The next start replays them, and their
//	                  stored effects answer the repeated calls.
//	before notified   Parked calls end with the process. Their clients poll again
//	                  from their cursors and find the records.
//
// # Why in this order
//
// A record is numbered before it is applied because Apply needs the ids of its
// messages and fences, and because the last refusal must come before the state
// changes.
//
// A record is applied before it is durable so that the owner can decide the
// next command meanwhile: one sync then carries many commands of one owner. The
// price is that an owner's state may be ahead of the disk. So its answers wait.
// And if the disk is full, every number above the durable ones is taken back:
// later records, even of other owners, may depend on the lost ones.
//
// Records are shown before they are acknowledged so that a caller reads its own
// write. Parked calls are woken last: what they look for is then in the views, and
// the caller of the write does not wait for them.
//
// # Rejected
//
//   - To let ready records overtake one that its owner still fills: a reader that
//     polls from a cursor would skip the slower record for good.
//   - To try Append again after an error of unknown outcome: the same numbers could
//     be written twice.
//   - To take back only the records of the group that found no space: later records
//     may depend on them.
//   - To apply only durable records: each command of an owner would cost a sync.
package engine
