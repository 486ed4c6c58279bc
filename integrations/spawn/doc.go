// Package spawn starts the processes of spawned harnesses and watches over them.
//
// Each process runs under a keeper: another process of this program, tied to
// the hub by a pipe. The keeper starts the command in a process group of its
// own and ends the group when the hub says so, when its time is over, and when
// the pipe closes, which happens however the hub ends. The command's output
// goes to the hub through another pipe and is kept in part.
//
// A Runner may be used by several goroutines at once. The package does not
// decide which agents may spawn. It runs no shell, passes on only named
// variables, and writes no file.
package spawn
