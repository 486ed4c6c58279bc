package adapter

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hubcli/hub"
)

// Of the sessions that are named when an adapter goes.
const (
	runningLimit = 2 * time.Second // to ask the hub
	mostRunning  = 5
)

// running says which sessions of a harness may write its file back as they have read it, with
// the hub's entry; empty: the harness does not do so, or no session of it runs.
func (a *Adapters) running(ctx context.Context, r *row) string {
	if !r.harness.Facts().RewritesServers || a.config.Hub == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, runningLimit)
	defer cancel()
	agents, _, err := a.config.Hub.Agents(ctx, hub.AgentsQuery{Limit: hub.MaxPageRows})
	if err != nil {
		return fmt.Sprintf("sessions of %s that run may write the entry back when they end; look again then: hubcli adapter status %s", r.title(), r.harness)
	}
	var names []string
	for i := range agents {
		if s := agents[i].Session; s.Harness() == r.harness && !s.AgentID.Trial() {
			names = append(names, string(s.AgentID))
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - mostRunning; n > 0 {
		names, more = names[:mostRunning], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("end the sessions of %s that run (%s%s): they may write the entry back; look again then: hubcli adapter status %s",
		r.title(), strings.Join(names, ", "), more, r.harness)
}
