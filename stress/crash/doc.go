// Package crash kills a hub under load, again and again on the same store, and
// proves from outside that what it had promised holds after every start:
//
//  1. A message whose post was answered is there, with the id of the answer.
//  2. A message that a poll delivered is there, the same.
//  3. Ids rise, and none is ever given to another message.
//  4. A write with an idempotency key happens once, however often it was sent
//     around the kill, and its answer names the same row each time.
//  5. A claim whose grant was answered is held, with the fence of the answer,
//     until its release; no two grants share a fence.
//  6. A task, its end, an artifact and a memory that were answered are there, the
//     artifact byte for byte.
//  7. The hub starts, whatever the kill has left.
//
// What was sent and not answered may have happened or not; it is sent again with
// the same key after the start, and then must have happened once.
//
// With small tables the hub is built so that its database writes and merges tables
// all the time: a kill leaves files there that nothing refers to.
//
// A kill comes after a number of answers; some starts are killed before that,
// ready or not. The numbers come from a seed, which every failure names.
package crash
