// Package linear proves from outside that a hub behaves like one program that does
// one call after the other, whatever happens to it meanwhile.
//
// Clients claim, lock, post, remember, register, hand tasks over and end them. Under
// them the hub is killed, killed while it starts, stopped and started again, paused,
// its wall clock is set, and a proxy cuts its connections or loses its answers. Every
// call is noted with the moments of its begin and its end. From time to time porcupine
// looks for an order of the calls that explains all answers (the models are in lease.go,
// list.go, session.go and task.go). Lists have an exact check that needs no search
// (list_check.go). A call without an answer may have had its effect or
// not, until the process that it reached has ended. Pollers follow through all of it:
// what they got must be the final history, in order, once.
//
// Objects are used for some starts, then checked and left, so that histories stay small
// and every check comes to an end. Faults and calls follow from a seed, which each
// failure names; what the operating system schedules does not.
//
// It never writes into a store and never reads one; it believes only what the hub says
// over HTTP.
package linear
