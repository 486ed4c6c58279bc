// Package adapter sets the hub up in the programs in which agents run. It knows,
// for each of them, which files it reads, in which format, and what stands in
// them so that the bridge is started, the hooks are called and the agent is told.
//
// One table of rows holds what differs between harnesses (rows*.go). Everything
// else is shared. A plan says exactly which bytes of which files would change; it
// is shown and confirmed by its digest. Package edit makes the new bytes. Package
// files writes them, and its ledger remembers what was written. Nothing is written
// that the plan did not show, a file that is not understood is left alone, and
// what somebody else wrote under the same name is never replaced.
//
// Adapters may be used by any number of goroutines. Changes to one harness happen
// one after the other; the lock of package files keeps several processes apart.
package adapter
