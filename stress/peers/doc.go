// Package peers puts the same work to the hub and to other servers with which agents could
// be coordinated, in turns of one run on one disk, each with a sync before every answer.
//
// A peer does a part of a hub's work only: what it lacks is said beside its figures. The
// comparison shows what the rest costs. The peers' protocols are spoken by small clients of
// this package, so that no client library is measured and none becomes a dependency.
//
// Servers listen on loopback, keep their data in a temporary folder, and end with the run.
// A server that is not installed is left out, which is said.
package peers
