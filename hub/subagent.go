package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// subAgentMark parts the id of an agent from the name of its sub-agent. It stands for a slash,
// which no id holds: a slash would part the paths in which ids stand.
const subAgentMark = ":"

// maxSubAgentName is the longest name, in bytes, that stands in an id as it is.
const maxSubAgentName = 20

// SubAgent returns the id of a sub-agent: an agent that the program of this one has started to
// help it. The name is the one by which the program tells its sub-agents apart. A name that is
// long, or that has other characters than letters, digits, - and _, is replaced by its digest.
// The same agent and name always give the same id.
func (id AgentID) SubAgent(name string) AgentID {
	if name == "" || len(name) > maxSubAgentName || strings.ContainsFunc(name, notInName) {
		name = shortDigest(name)
	}
	if sub := id + subAgentMark + AgentID(name); len(sub) <= MaxAgentIDBytes {
		return sub
	}
	tail := subAgentMark + AgentID(shortDigest(string(id)+subAgentMark+name))
	return id[:min(len(id), MaxAgentIDBytes-len(tail))] + tail
}

// MainAgent returns the agent of which id is a sub-agent, by the form of the id; ok is false for
// others.
func (id AgentID) MainAgent() (main AgentID, ok bool) {
	at := strings.LastIndex(string(id), subAgentMark)
	if at <= 0 {
		return "", false
	}
	return id[:at], true
}

func notInName(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && r != '-' && r != '_'
}

func shortDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// mainAgentTools are the tools of a bridge that read the messages of an agent, end its tasks or
// change who it is.
var mainAgentTools = []string{
	"hub_complete_task", "hub_done", "hub_join", "hub_poll_messages", "hub_start", "hub_update_task",
}

// MainAgentTools returns the tools that a sub-agent must not call as its main agent.
func MainAgentTools() []string { return slices.Clone(mainAgentTools) }

// OfMainAgent reports whether a tool is one of MainAgentTools.
func OfMainAgent(tool string) bool { return slices.Contains(mainAgentTools, tool) }
