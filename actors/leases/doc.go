// Package leases grants claims and file locks, and has a caller wait for a key that
// another agent holds. request.go is the command about one lease; queue.go is what an
// owner of leases has beside its state: the requests that wait, and one timer for the
// next deadline; handover.go has the leases for a task follow the task.
//
// All methods of Leases and Handover may be called from any goroutine. Only the turns of its owner
// touch a queue. Package core decides; this package never changes a lease but through
// its owner, and never lists leases: package lists does.
package leases
