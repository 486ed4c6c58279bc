// Package gate is the one way of every write that a caller makes. It holds the rules that
// every write obeys, so that no write has to remember them.
//
// # The way of a write
//
//	1  The caller's idempotency key is reserved and its stored answer is looked up. A call that
//	   was answered before gets that answer, whatever has changed since. Nothing else is looked
//	   at before: no folder, no name, no plan, no rule.
//	2  What the command needs of the world is prepared: names, folders, keys.
//	3  Admission: the hub does not stop, the disk has room, the owner has a place.
//	4  In the owner's turn the rules are asked in the order of rules.go. Then the owner decides.
//	   What a muted agent says is marked.
//
// Do goes this way with a command, Admit with one that waits in its owner's own way. Once goes
// it with an act outside of the journal, whose answer it notes afterwards. Answered takes the
// first step alone, for a process whose own last record keeps its answer.
//
// table.go says for each write of the wire and each rule whether the rule applies, and why not
// if it does not. A write without a row fails a test; docs/rules.md is printed from the table.
//
// What the hub does by itself (notices, expiries, seats of agents that act) goes to the engine
// without the gate: no agent asks for it, and it has no key.
//
// All functions may be called from any goroutine. The package decides nothing about a resource.
package gate
