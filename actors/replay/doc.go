// Package replay shows what a room was like at any moment of its history.
//
// The journal keeps every record, and owners of tasks and leases are pure: their state
// after a record is what a start would make of the records up to it. So a moment is the
// state of a checkpoint that was kept before it, and the records behind that, applied by
// the same machines. Everything that is never changed, such as messages and decisions, is
// read from its rows, up to the moment. Seats and pauses are read as they are now, and
// rows say what they were before each change since.
//
// Methods may be called from any goroutine; one moment at a time is made, so that replays
// cannot take the processors from the work of the hub. The package decides nothing and
// never changes a row of anybody else; it stores the states that it begins from.
package replay
