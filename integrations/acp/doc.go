// Package acp is a client of the Agent Client Protocol, version 1: JSON-RPC in lines, over
// the standard files of a harness. It begins and loads sessions, gives prompts, cancels
// turns, and takes what the harness tells and asks.
//
// The harness is not trusted to keep the protocol. A line has at most MaxLine bytes. Lines
// that are no messages are counted, and too many of them end the connection. A method that
// is not known is answered with an error. At most maxAsked questions are open at once. What
// the harness tells is handed on in its order by the goroutine that reads, so a slow
// receiver slows the harness down and nothing piles up. A harness that does not read what it
// is sent ends the connection.
//
// The client offers no files and no terminals: harnesses have their own.
//
// The library github.com/coder/acp-go-sdk was considered. It begins a goroutine for each
// request of the peer without a bound. It ends the connection when 1,024 notifications
// wait, as at the replay of a long session, and logs each malformed line whole. It has
// 9,000 lines of types, of which this client needs those of seven methods.
package acp
