// Package guard finds agents that write to each other and get nowhere, tells them, and ends that.
// chains.go and rings.go count, recent.go, words.go and read.go compare what is said, limits.go says from when on
// something happens: all that without a clock and without a lock. guard.go learns of committed
// records and decides about posts; tend.go tells the agents and asks the operator; loops.go lists what is under way.
//
// A chain is what a few agents post to each other while nothing shows progress: two by
// direct messages, two or three in a channel or in one of its threads, three to eight
// that hand direct messages on in a ring (rings.go). It has as many
// hops as its sender changed. From a number of hops on the agents are told. Later a post has
// to wait if it comes fast, or if the agents repeat nearly the same words and it does so, too;
// what agents go on repeating word for word rests for an hour, that of two for five minutes first. So a
// discussion is never refused. Only where the operator has set a number of hops every post is refused from
// then on, and the operator is asked. A task, decision, artifact, memory, claim or lock of one of them begins a new
// chain, and so does what the operator or another agent says to them, and a pause.
//
// Chains are in memory and bounded: a start begins with none. What was stopped is an
// open question to the operator, which survives a restart.
//
// All exported methods may be called from any goroutine. The package never refuses a post
// that opens, changes or ends a task, a question to the operator, or what the operator
// says.
package guard
