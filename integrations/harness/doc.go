// Package harness sets the hub up in the programs in which agents run: it knows,
// for each of them, which files it reads, in which format, and what stands in
// them so that the bridge is started, the hooks are called and the agent is told.
//
// One table of rows holds what differs between harnesses (rows*.go); everything
// else is shared: a plan says exactly which bytes of which files would change, is
// shown and confirmed by its digest, and is carried out by package edit, whose
// ledger remembers what was written. Nothing is written that the plan did not
// show, a file that is not understood is left alone, and what somebody else wrote
// under the same name is never replaced.
//
// Adapters may be used by any number of goroutines. Changes to one harness happen
// one after the other; those of several processes are kept apart by package edit.
package harness
