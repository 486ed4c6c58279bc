// Package crowd puts a crowd onto a hub and looks, from outside, at what two ordinary
// agents beside it notice. One of them posts all the time, the other one waits for its
// posts. Each kind of crowd meets a hub of its own:
//
//   - channels: agents that talk in channels and follow them. Each follower must have
//     every acknowledged message of its channel, in order, once.
//   - churn: sessions that begin and end. At the end as many are live as were left.
//   - slow: clients that send their header or body byte by byte, that do not read their
//     answer, or that say nothing. The hub must end them.
//   - greedy: one agent that takes as many connections, parked polls, posts and reads as
//     it can.
//
// In all of them each post of the pair must be acknowledged and delivered, in order, once;
// no call may last as long as a starving one would; and the hub must give back the
// connections of the crowd and end by itself. How much slower the pair becomes is
// measured, not judged: on a small machine the crowd takes the processor too.
//
// Everything stays on loopback and ends by itself.
package crowd
