package capsules

import (
	"errors"
	"strconv"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The names of agents and threads. An imported project has authors and threads of its first
// hub, which carry the id of the project behind their names; a capsule has the names alone.
// If that makes two agents or two threads one, those of this hub get a number.

// nameAgents gives every agent of the capsule its name in it.
func (t *texts) nameAgents() {
	taken := map[hub.AgentID]bool{}
	for _, imported := range []bool{true, false} {
		for _, id := range t.sortedAgents() {
			name, project, ok := id.Imported()
			if ok = ok && project == t.project; ok != imported {
				continue
			}
			if !ok {
				name = id
			}
			if name.Reserved() {
				t.agents[id] = name
				continue
			}
			name = free(t.legalAgent(name), hub.MaxAgentIDBytes, func(n hub.AgentID) bool { return taken[n] || n.Reserved() })
			taken[name], t.agents[id] = true, name
		}
	}
}

// legalAgent returns the redacted name of an agent in the form of an agent's id.
func (t *texts) legalAgent(name hub.AgentID) hub.AgentID {
	safe := t.safe(string(name), hub.MaxAgentIDBytes)
	if safe == string(name) {
		return name
	}
	return hub.SuggestAgentID(safe)
}

// free returns name, or name with the first number behind it that makes it free.
func free[S ~string](name S, limit int, taken func(S) bool) S {
	out := name
	for n := 2; taken(out) || out == ""; n++ {
		end := "-" + strconv.Itoa(n)
		out = name[:min(len(name), limit-len(end))] + S(end)
	}
	return out
}

// agentName returns the name of an agent in the capsule.
func (t *texts) agentName(id hub.AgentID) hub.AgentID { return t.agents[id] }

// maxThreads bounds the threads whose names are remembered.
const maxThreads = 4 << 10

// threadNames finds the names of threads in a capsule.
type threadNames struct {
	*texts
	known map[hub.ThreadID]hub.ThreadID
}

// of returns the name of a thread in the capsule.
func (n *threadNames) of(id hub.ThreadID) (hub.ThreadID, error) {
	if id == "" {
		return "", nil
	}
	if name, ok := n.known[id]; ok {
		return name, nil
	}
	name, err := n.find(id)
	if err != nil {
		return "", err
	}
	if len(n.known) >= maxThreads {
		clear(n.known)
	}
	if n.known == nil {
		n.known = map[hub.ThreadID]hub.ThreadID{}
	}
	name = hub.ThreadID(n.safe(string(name), hub.MaxThreadChars))
	n.known[id] = name
	return name, nil
}

// find returns the name before its redaction.
func (n *threadNames) find(id hub.ThreadID) (hub.ThreadID, error) {
	name, project, ok := id.Imported()
	if ok && project == n.project {
		return name, nil
	}
	if n.row.Imported == nil {
		return id, nil
	}
	clash, err := n.exists(hub.ImportedThread(id, n.project))
	for i := 2; clash && err == nil; i++ {
		end := "-" + strconv.Itoa(i)
		name = hub.ThreadID(shortened(string(id), hub.MaxNameChars-len(end))) + hub.ThreadID(end)
		here, failed := n.exists(name)
		before, bad := n.exists(hub.ImportedThread(name, n.project))
		if clash, err = here || before, errors.Join(failed, bad); !clash {
			return name, err
		}
	}
	return id, err
}

// exists reports whether the hub has a message of a thread.
func (n *threadNames) exists(id hub.ThreadID) (found bool, err error) {
	err = n.rows.Messages(core.Scope{Kind: core.ScopeThread, Name: string(id)}, 0, hub.MaxMessageID, false, func(*core.StoredMessage) bool {
		found = true
		return false
	})
	return found, err
}
