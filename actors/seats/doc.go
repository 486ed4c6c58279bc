// Package seats says which agents work in a room. giving.go gives a seat to an agent
// that acts in a room and has not joined it; requests.go is the list of the seats that
// are due. rows.go shows a seat, and status.go shows a room: its seats, tasks, runs,
// leases, decisions and spawns.
//
// The package subscribes to committed records and submits a command to the room's owner
// afterward, so that no agent that posts waits for a second commit.
//
// All exported methods may be called from any goroutine. The package never changes a
// seat but through the owner of its room, and stores no request: a start derives the
// requests again.
package seats
