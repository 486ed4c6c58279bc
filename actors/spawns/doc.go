// Package spawns manages the processes that agents have the hub start. A spawn has
// steps, each of which is recorded before the next begins: the owner of the spawns
// decides (request.go), the room gives a seat, a Runner starts the process, and at last
// the output and the end are stored (supervise.go). The manager subscribes to committed
// records, so no process is started for a spawn that a crash could undo. After a crash
// the next start records every spawn that has not ended as lost.
//
// All methods may be called from any goroutine; each supervised spawn has one of its
// own. The package decides nothing about a spawn: package core does.
package spawns
