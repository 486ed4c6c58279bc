// Package watch waits on behalf of agents until conditions hold: tasks or a run have
// ended, a message is unread, an agent is idle. conditions.go and idle.go test the
// conditions against the views; sessions.go gives an agent that watches a sibling
// session, which people see.
//
// All methods may be called from any goroutine. A watch holds no owner and no lock
// while it waits. The package keeps nothing on the disk: a watch ends with the process,
// and its caller watches again.
package watch
