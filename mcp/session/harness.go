package session

import (
	"context"
	"fmt"
	"os"
	"time"

	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/process"
)

// Config says for which agent and harness a link holds a session, and with
// which hub. Getenv and Now are required.
type Config struct {
	Getenv func(string) string
	Now    func() time.Time

	// BaseURL is the hub; empty is client.DefaultBaseURL.
	BaseURL string
	// Agent is the identity that the command line names; may be empty.
	Agent hub.AgentID
	// Harness is the program that the command line names; may be empty.
	Harness string
	// ResumeKey is the slot that the command line names; may be empty. CheckSlot
	// tells beforehand whether it is one.
	ResumeKey string
	// Ensure brings a hub up at BaseURL when the bridge begins, Restart when
	// the hub that was there is gone; if nil, the bridge starts no hub.
	Ensure, Restart func(context.Context) error

	// DataRoot is the folder of what belongs to the user; empty keeps nothing, and
	// then there is no slot.
	DataRoot string
	// Process returns a running process; if nil, none is known.
	Process func(pid int) (process.Process, bool)
	// Parent returns the process that started this one; if nil, it is unknown.
	Parent func() int
}

// Harness is what the agent runs in: what the command line names; else what the
// client calls itself; else what the environment shows, which counts last because
// it is inherited by a harness that runs inside another.
func (l *Link) Harness() hub.Harness {
	if h, ok := hub.ParseHarness(l.Config.Harness); ok {
		return h
	}
	l.mu.Lock()
	name := l.client
	l.mu.Unlock()
	if h := hub.HarnessOfClient(name); h != hub.HarnessGeneric {
		return h
	}
	return hook.Recognize("", hook.Payload{}, l.Getenv)
}

// session returns the id of the harness session if the environment tells it for
// certain; else "".
func (l *Link) session() string {
	if variable := l.Harness().Facts().SessionVariable; variable != "" {
		return l.Getenv(variable)
	}
	return ""
}

// named returns the agent that the environment names, or "".
func (l *Link) named() hub.AgentID {
	id := hub.AgentID(l.Getenv(hook.EnvAgent))
	if id == "" || id.Watcher() || hub.CheckSender(hook.EnvAgent, id) != nil {
		return ""
	}
	return id
}

// chosen reports whether the command line or the environment names this agent.
func (l *Link) chosen(agent hub.AgentID) bool {
	return agent != "" && (agent == l.Agent || l.Agent == "" && agent == l.named())
}

// process names the process of the harness for as long as it runs.
func (l *Link) process() string {
	if l.Starter.PID == 0 {
		return fmt.Sprintf("bridge %d %p", os.Getpid(), l)
	}
	return fmt.Sprintf("process %d %s", l.Starter.PID, l.Starter.Began)
}

// Meet notes how the client has introduced itself; what it says last counts.
func (l *Link) Meet(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name != "" {
		l.client = name
	}
	select {
	case <-l.Met:
	default:
		close(l.Met)
	}
}

// announce tells the hooks of the harness as which agent the tools act.
func (l *Link) announce(s *Session) {
	url := l.Base.BaseURL()
	if l.self.PID != 0 && l.Starter.PID > 1 {
		note := identity.Note{AgentID: s.Agent, BaseURL: url, InstanceID: s.Instance, Harness: l.Harness(), Bridge: l.self}
		if id := l.session(); id != "" {
			note.Session = identity.Key(id)
		}
		if err := l.notes.Leave(l.Starter, note); err != nil {
			l.log.Warn("hooks are not told who the agent is", "error", err)
		}
		l.notes.Sweep(l.Now())
	}
	id := l.session()
	if id == "" {
		return
	}
	now := identity.Binding{AgentID: s.Agent, BaseURL: url, InstanceID: s.Instance}
	if known, ok := identity.SessionsOf(l.DataRoot).Load(id); ok && known.AgentID == now.AgentID && known.InstanceID == now.InstanceID {
		return
	}
	if err := identity.SessionsOf(l.DataRoot).Replace(id, now); err != nil {
		l.log.Warn("hooks are not told who the agent is", "error", err)
	}
}
