// Package asleep finds agents that have direct messages and are not woken, and tells
// their rooms. asleep.go keeps the agents that are to be looked at, and look.go decides
// about one of them. undelivered.go finds mail that nobody is expected to read.
//
// The package subscribes to committed records and looks at an agent when nothing has
// happened for hub.AsleepAfter. It has one timer, set to the next look. What it knows
// is in memory and bounded; a start derives it from the latest messages. That a room was
// told it reads from the room's channel, so a restart does not repeat a notice.
//
// All exported methods may be called from any goroutine. The package never changes what
// an agent has seen, and writes nothing but the notice.
package asleep
