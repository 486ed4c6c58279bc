// Package license proves that this machine may run a build of the program, for an operator
// who licenses one. Without a configured license server nothing is asked for, and no part of
// the hub depends on the answer.
//
// Files lie in one folder of the data root: config.json, which the operator writes; state.json
// with the machine file that the server has signed; key, if the system has no credential store;
// machine, if the system has no id; clock, the latest time that was seen; lock.
//
// Licenses may be used from any goroutine, and by several processes with one folder: a lock
// keeps two changes apart. Each step may be the last one before the process dies; the next
// activation or deactivation goes on where it ended. The package puts no key into an answer, an
// error or a log, and sends the system's own id nowhere.
package license
