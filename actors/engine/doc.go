// Package engine runs the owners of the hub's state. It admits commands, lets the
// owner decide, numbers what it decided, makes that durable, has it shown, and only
// then lets the answer leave. It restores owners at a start and rebuilds what breaks.
// It knows records and owner kinds (Kind), and no resource.
//
// These files are the actors: owner.go is one owner with its turns, registry.go finds
// and retires owners, runtime.go is the wrapper around protoactor-go. One command goes
// through command.go, owner.go, sequencer.go and writer.go, in this order.
//
// Invariants: an answer leaves only when all it rests on is durable; records become
// durable, visible and acknowledged in the order of their numbers; no owner waits for
// another. What an Owner holds belongs to its turns; all else may be called from any
// goroutine. The package never touches the network, and it reads and writes the store
// only through core.Journal and core.Rows. What is shown it sees through Views.
package engine
