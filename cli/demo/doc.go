// Package demo fills a hub with a small team at work, so that a person sees a living
// hub before any agent is connected. The team builds a shop: it plans, takes tasks, claims
// and locks, decides, writes artifacts, waits, hands over, asks the person, and answers
// what the person says.
//
// Every member is an agent like any other: it calls what the contract lists through
// api/client, polls, and gets no privilege. Open makes the team and its past, and Work goes
// on until its context ends. A Team belongs to one goroutine; the goroutines that Work
// starts end before it returns. The package starts no hub, writes no file, and must not be
// given a hub that anybody uses: it takes names that its agents could share with others.
package demo
