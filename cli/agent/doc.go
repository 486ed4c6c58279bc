// Package agent has the commands that agents and their harnesses run: to post, read, wait, ask and claim, the hook and
// the bridge, and "hubcli run", which starts a harness with its name and room.
//
// Hooks run at every tool call, so what they do at their start is bounded; a test holds it.
package agent
