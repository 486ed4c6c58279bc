// Package wire connects the client's lines of JSON-RPC with the SDK.
//
// Open returns a transport for the SDK. A filter in front of it passes on only
// whole, well-formed messages. It answers all other lines itself, because the
// SDK ends the session at the first line that it cannot read. An exchange
// behind the filter knows every request without an answer. It learns of
// requests and cancellations before the SDK does, in the order in which the
// client sent them. Feeds holds how far the agent has read each feed. It moves
// a cursor when the rows are on their way to the client, not earlier and not
// later.
//
// A Feeds and a transport are safe for concurrent use. One goroutine reads the
// client's lines; it ends when the lines end.
//
// The package never calls the hub and knows no tool. A caller that tells the
// hub what was read tells Feeds too.
package wire
