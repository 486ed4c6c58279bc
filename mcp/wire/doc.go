// Package wire is the JSON-RPC of the bridge between the client's lines and the SDK.
//
// Open returns a transport for the SDK. In front of it a filter passes whole,
// well-formed messages only and answers all other lines itself, because the SDK ends
// the session at the first line that it cannot read. Behind it an exchange knows every
// request that has no answer yet. It learns of requests and cancellations in the order
// in which the client sent them, before the SDK does. Feeds holds how far the agent has
// read, and moves a cursor exactly when the rows are on their way to the client.
//
// A Feeds and a transport are safe for concurrent use. One goroutine reads the client's
// lines; it ends with them.
//
// The package never calls the hub and knows no tool: the caller that told the
// hub also tells Feeds.
package wire
