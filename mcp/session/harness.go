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

// Config says at which hub a link holds a session, and for which agent and
// harness. Getenv and Now are required.
type Config struct {
	Getenv func(string) string
	Now    func() time.Time

	// BaseURL is the address of the hub; if empty, the one that client.Config says.
	BaseURL string
	// Where returns the address at which programs of this user expect their hub now, if the
	// caller has named none; nil: it has named BaseURL, which stays.
	Where func() string
	// Agent is the identity that the command line names; may be empty.
	Agent hub.AgentID
	// Harness is the program that the command line names; may be empty.
	Harness string
	// ResumeKey is the slot that the command line names; may be empty. The
	// caller checks it with CheckSlot before.
	ResumeKey string
	// Ensure starts a hub at the address if there is none when the bridge begins.
	// Restart starts it again after it has gone. If nil, the bridge starts no
	// hub.
	Ensure, Restart func(context.Context) error

	// Wake begins a turn of the harness session thread with a text, if the harness
	// has a means that the bridge calls; nil: it has none.
	Wake func(ctx context.Context, thread, text string) error
	// Followed reports whether somebody may follow that session, so that Wake is to begin
	// turns of it; nil: whether or not anybody does.
	Followed func(thread string) bool
	// Input gives a text to the harness session, which begins a turn with it if it is
	// idle; nil: the session was not begun with a means for that.
	Input func(ctx context.Context, text string) error
	// Channels says that the harness session was begun so that it takes the channel of this
	// bridge; see hub.HarnessFacts.
	Channels bool

	// DataRoot is the folder of the user's data. If it is empty, the link keeps
	// nothing on the disk and has no slot.
	DataRoot string
	// Process returns a running process; if nil, no process is known.
	Process func(pid int) (process.Process, bool)
	// Parent returns the process that started this one; if nil, it is unknown.
	Parent func() int
}

// Harness returns the harness of the agent: the one that the command line
// names; else the one that the client's name tells; else the one that the
// environment shows. The environment counts last, because a harness inside
// another one inherits it.
func (l *Link) Harness() hub.Harness {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.harness()
}

// harness is Harness with the lock held.
func (l *Link) harness() hub.Harness {
	if h, ok := hub.ParseHarness(l.Config.Harness); ok {
		return h
	}
	if h := hub.HarnessOfClient(l.client); h != hub.HarnessGeneric {
		return h
	}
	return hook.Recognize("", hook.Payload{}, l.Getenv)
}

// session returns the id of the harness session from a call of a tool or from the
// harness's own variable, or "".
func (l *Link) session() string {
	if len(l.Harness().Facts().SessionMembers) > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.thread
	}
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

// process returns a text that identifies the harness process while it runs.
func (l *Link) process() string {
	if l.Starter.PID == 0 {
		return fmt.Sprintf("bridge %d %p", os.Getpid(), l)
	}
	return fmt.Sprintf("process %d %s", l.Starter.PID, l.Starter.Began)
}

// Meet notes the name that the client gives itself; the last name counts.
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

// maxThread bounds the id of a harness session, in bytes.
const maxThread = 200

// Called notes that the client calls a tool, and what the harness says about the
// session in the _meta of the call. What the first call says counts.
func (l *Link) Called(meta map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastCall = l.Now()
	if l.guest != nil {
		return
	}
	select {
	case <-l.called:
		return
	default:
	}
	for _, member := range l.harness().Facts().SessionMembers {
		if id, ok := meta[member].(string); ok && id != "" && len(id) <= maxThread {
			l.thread = id
			break
		}
	}
	// Codex says what began the turn: with "exec" the session ends with it.
	turn, known := meta["x-codex-turn-metadata"].(map[string]any)
	l.interactive = known && turn["turn_trigger"] != "exec"
	close(l.called)
	if s := l.now; s != nil && l.thread != "" {
		l.work.Go(func() { l.announce(s) }) // so far hooks could not tell whose bridge this is
	}
}

// recognized waits until it is known which session of which harness this is. Where
// only the calls of tools tell, the bridge is nobody before the first one: one agent
// too many would be worse. A driven harness may start a bridge before its session, which
// is never called; the one that is called is the agent.
func (l *Link) recognized(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.Met:
	}
	if !l.driven() && (len(l.Harness().Facts().SessionMembers) == 0 || l.Agent != "" || l.named() != "") {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.called:
		return nil
	}
}

// hearsOfCalls reports whether calls name their ids.
func (l *Link) hearsOfCalls() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.callIDs
}

// announce tells the hooks of the harness which agent uses the tools.
func (l *Link) announce(s *Session) {
	url := l.Base().BaseURL()
	if l.self.PID != 0 && l.Starter.PID > 1 {
		note := identity.Note{AgentID: s.Agent, BaseURL: url, InstanceID: s.Instance, Harness: l.Harness(), Bridge: l.self, Calls: l.hearsOfCalls(), HubSession: s.ID.Public(), Space: process.Space()}
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
	if known, ok := identity.SessionsOf(l.DataRoot).Load(id); ok && known.AgentID == now.AgentID && known.InstanceID == now.InstanceID && known.BaseURL == now.BaseURL {
		return
	}
	if err := identity.SessionsOf(l.DataRoot).Replace(id, now); err != nil {
		l.log.Warn("hooks are not told who the agent is", "error", err)
	}
}
