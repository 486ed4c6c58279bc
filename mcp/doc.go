// Package mcp is the bridge between an agent harness and a hub: an MCP server over
// stdin and stdout, one process for each session of the harness, that acts as one
// agent of the hub.
//
// Its parts, from the outside in: package wire lets nothing but well-formed messages
// through, so that a bad line never ends a session; the server answers the
// protocol; the table of tools says what an agent can do; package session holds the session
// with the hub: it brings a hub up, registers, stays present, comes back after the
// hub was restarted, and never fights another process for a name.
//
// The handshake and the list of tools never wait for the hub. A call does, and
// says what to do when there is none.
package mcp
