// Package adapter sets the hub up in the programs in which agents run. It
// knows, for each of them, which files it reads, in which format, and which
// entries start the bridge, call the hooks and instruct the agent.
//
// One table of rows holds what differs between harnesses (rows*.go). Everything
// else is shared. A plan says exactly which bytes of which files would change;
// it is shown and confirmed by its digest. Package edit makes the new bytes.
// Package files writes them, and its ledger remembers what was written. Nothing
// is written that the plan did not show, a file that it cannot parse is left
// alone, and an entry of the same name that the hub did not write is never
// replaced.
//
// Adapters may be used by any number of goroutines. Changes to one harness happen
// one after the other; the lock of package files keeps several processes apart.
package adapter
