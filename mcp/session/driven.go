package session

import (
	"context"
	"strconv"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/process"
)

// A driver ("hubcli run") keeps a session for its agent until the bridge registers, which a
// driven bridge does with its first call. A driver that was killed cannot end that session;
// the bridge does it then.

// driven reports whether a driver has started the harness and named the agent.
func (l *Link) driven() bool { return l.named() != "" && l.Getenv(hook.EnvDriven) != "" }

// orphaned reports whether the driver's process has ended.
func (l *Link) orphaned() bool {
	if !l.driven() || l.Process == nil {
		return false
	}
	number, began, _ := strings.Cut(l.Getenv(hook.EnvDriven), "-")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 || began == "" {
		return false
	}
	now, runs := l.Process(pid)
	return !runs || now.Began != began
}

// endDriver ends the session that the driver has left.
func (l *Link) endDriver() {
	ctx, cancel := context.WithTimeout(context.Background(), closeStep)
	defer cancel()
	live, err := hub.LiveAs(ctx, l.Base().Agents, l.named())
	if err != nil || live == nil || live.Bridged() {
		return
	}
	replace := true
	got, err := l.Base().Register(ctx, hub.RegisterInput{AgentID: live.AgentID, Replace: &replace})
	if err == nil {
		_, _ = l.Base().CloseSession(ctx, got.Row.SessionID, "")
	}
}

// Driver is the value of hook.EnvDriven for a process.
func Driver(p process.Process) string { return strconv.Itoa(p.PID) + "-" + p.Began }
