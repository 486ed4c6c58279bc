// Package adapter sets the hub up in the programs in which agents run. It
// knows, for each of them, which files it reads, in which format, and which
// entries start the bridge, call the hooks and instruct the agent.
//
// One table of rows holds the differences between harnesses (rows.go; each row
// is in harness_*.go). Everything else is shared. A plan says exactly which bytes of which files
// would change; the user sees it and confirms its digest. Package edit makes
// the new bytes. Package files writes them, and its ledger notes each entry.
// The package writes nothing that the plan did not show, changes no file that
// it cannot parse, and never replaces an entry that the hub did not write.
//
// Adapters may be used by any number of goroutines. Changes to one harness happen
// one after the other; the lock of package files keeps several processes apart.
package adapter
