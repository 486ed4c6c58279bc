// Package background begins sessions of harnesses that go on without a terminal, by the
// means that each harness has for it: opencode serves its sessions over HTTP, Codex runs
// them in an app server behind a socket, and Claude Code has a daemon of its own.
//
// It knows no hub. It keeps no process: the servers of opencode and Codex are the
// caller's, and only their clients are here. Its types are safe for concurrent use. What
// a harness answers is not trusted: it is bounded in size, and an address counts only if it
// is one of this machine. Sleeper decides when a session that has ended is started again.
package background

import "hubcli/hub"

// Has reports whether a harness has such means.
func Has(h hub.Harness) bool {
	return h == hub.HarnessClaudeCode || h == hub.HarnessCodex || h == hub.HarnessOpenCode
}

// said bounds the characters of what a program has said that an error repeats.
const said = 500
