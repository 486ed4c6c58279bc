package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/cli/drive"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/acp"
	"hubcli/integrations/hook"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// Bounds of a driven session.
const (
	acpBegins  = 2 * time.Minute // for the answers before the first turn: a harness starts its servers then
	acpEnds    = 3 * time.Second // for a harness that is asked to end, before it is made to
	goneWithin = 2 * time.Second // for the bridge to end the agent's session
	signOfLife = 40 * time.Second
	maxTyped   = 1 << 20 // bytes of a line that is typed
	lastWords  = 2_000   // characters of what a harness has said on its standard error
)

// runner is what a driven session works with.
type runner struct {
	client    *client.Client
	room      *hub.Room
	run       *runAgent
	folder    string
	installed bool  // the adapter gives the harness a bridge
	held      *held // the session is one of the background; nil: it is not
}

var errNoStart = errors.New("this program cannot start a harness")

// errTerminated is the cause of a session that a signal ends.
var errTerminated = fmt.Errorf("ended by a signal: %w", term.ErrInterrupted)

// driveHarness runs a session of a harness over ACP, from its start to the end of its processes.
func driveHarness(ctx context.Context, env *term.Env, o *runOptions, r *runner, start term.HarnessCommand) error {
	defer r.run.leave(ctx)
	if env.StartHarness == nil {
		return errNoStart
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var interrupts <-chan struct{}
	if !o.held { // a signal ends that of the background whether it sleeps or not
		interrupts = signals(env, end)
	}
	d := drive.New(drive.Config{
		Hub: r.judge(o), Agent: r.run.agent, Room: r.room.RoomID, Folder: r.folder, Out: env.Stdout,
		Lines: typedLines(env, o), Interrupts: interrupts, First: r.run.first(o), Once: o.once, About: hook.ForEyes,
	})
	ended := make(chan hub.SpawnEnd, 1)
	p, err := env.StartHarness(start, func(e hub.SpawnEnd) { ended <- e })
	if err != nil {
		return term.Fail(term.ExitRefused, "start it yourself to see what is wrong: "+strings.Join(start.Args, " "), "%s does not start: %v", o.title(), err)
	}
	conn := acp.Open(p.In, p.Out, d.Handler())
	err = r.session(ctx, env, o, d, conn)
	last := stopHarness(conn, &p, ended)
	_ = p.In.Close()
	r.gone(ctx)
	return o.outcome(err, &last)
}

// session begins or loads a session and drives it.
func (r *runner) session(ctx context.Context, env *term.Env, o *runOptions, d *drive.Driver, conn *acp.Conn) error {
	begins, cancel := context.WithTimeoutCause(ctx, acpBegins, errors.New("it did not answer in time"))
	defer cancel()
	info, err := conn.Initialize(begins, env.Version)
	if err != nil {
		return err
	}
	servers, err := r.servers(env, o)
	if err != nil {
		return err
	}
	id := r.run.known.Session
	switch {
	case o.goOn && id == "":
		return term.Usage("leave --continue out", "no session of %s in this folder is known", o.title())
	case o.resume && !info.LoadsSessions:
		return term.Usage("leave --resume out", "%s cannot go on with an earlier session, so it is not started again", o.title())
	case o.goOn && !info.LoadsSessions:
		return term.Usage("leave --continue out", "%s cannot go on with an earlier session", o.title())
	case o.goOn:
		err = conn.LoadSession(begins, id, r.folder, servers)
	default:
		id, err = conn.NewSession(begins, r.folder, servers)
	}
	if err != nil {
		return err
	}
	r.run.known.Session = id
	r.run.remember(env)
	said := strings.TrimSpace(o.title() + " " + info.Version)
	if r.held != nil {
		if err := r.held.announce(id); err != nil {
			return err
		}
		r.held.told(begins)
	}
	d.Say("[session] %s works as agent %s in room %s", peertext.Plain(said), r.run.agent, peertext.Plain(r.room.Name))
	ctx, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { r.listen(ctx, env, o, d) })
	beside.Go(func() { r.live(ctx) })
	defer beside.Wait()
	defer stop()
	return d.Run(ctx, conn, id)
}

// servers is the bridge for a harness that the adapter gives none.
func (r *runner) servers(env *term.Env, o *runOptions) ([]acp.Server, error) {
	if r.installed {
		return nil, nil
	}
	self, err := env.Executable()
	if err != nil {
		return nil, err
	}
	s := acp.Server{Name: "hub", Command: self, Args: []string{"mcp"}}
	if o.harness != hub.HarnessGeneric {
		s.Args = append(s.Args, "--harness", string(o.harness))
	}
	for _, v := range [][2]string{
		{hook.EnvAgent, string(r.run.agent)},
		{hook.EnvBaseURL, o.URL},
		{envRoom, string(r.room.RoomID)},
		{hook.EnvDriven, driver()},
		{"HUB_DATA_ROOT", env.Getenv("HUB_DATA_ROOT")},
	} {
		if v[1] != "" {
			s.Env = append(s.Env, acp.Variable{Name: v[0], Value: v[1]})
		}
	}
	return []acp.Server{s}, nil
}

// listen begins turns for the messages to the agent, as a stream of its own that hands its
// lines to the driver.
func (r *runner) listen(ctx context.Context, env *term.Env, o *runOptions, d *drive.Driver) {
	w := &watchOptions{stream: true, BaseURL: o.BaseURL, label: "run"}
	w.Agent = opt.Agent{ID: string(r.run.agent), Flag: &pflag.Flag{Name: "as"}}
	w.room.Room = string(r.room.RoomID)
	s := newStream(newWatcher(env, w))
	s.ready, s.hand = d.Idle, d.Wake
	out, err := s.run(ctx)
	if ctx.Err() == nil {
		why := out.Outcome
		if err != nil {
			why = err.Error()
		}
		d.Say("[hub] messages no longer begin a turn: %s", peertext.Excerpt(why, lastWords))
	}
	if s.hub != nil {
		s.hub.Close()
	}
}

// live shows that the agent is there, by a session of its own until the bridge has taken over,
// and again when the bridge is gone.
func (r *runner) live(ctx context.Context) {
	for pause.For(ctx, signOfLife) {
		peek := hub.EventsQuery{Agent: r.run.agent, Since: hub.MaxMessageID, ExcludeSelf: true, Limit: 1, Peek: true}
		if _, err := r.run.client.Events(ctx, peek); err == nil || passing(err) {
			continue
		}
		if live, err := hub.LiveAs(ctx, r.client.Agents, r.run.agent); err == nil && live == nil {
			_, _ = r.run.register(ctx, r.run.agent, false) // the next look tries again
		}
	}
}

// judge is the hub for permission prompts: only what the user's own hub decides counts.
func (r *runner) judge(o *runOptions) drive.Hub {
	return r.client.Judge(func() (string, error) { return client.NotedToken(o.Root, o.URL) })
}

// stopHarness asks a harness to end, and makes it. It returns when no process of its group
// is left.
func stopHarness(conn *acp.Conn, p *term.HarnessProcess, ended <-chan hub.SpawnEnd) hub.SpawnEnd {
	_ = conn.Close()
	patience := time.NewTimer(acpEnds)
	defer patience.Stop()
	select {
	case e := <-ended:
		return e
	case <-patience.C:
	}
	p.Stop("the session is over")
	return <-ended
}

// gone waits until the bridge has ended the agent's session. If it was killed, the session
// is ended in its place.
func (r *runner) gone(ctx context.Context) {
	r.run.leave(ctx)
	endAgent(ctx, r.client, r.run.agent)
}

// endAgent waits until the bridge of a harness that has ended has ended the agent's session, and
// does it in its place if it was killed.
func endAgent(ctx context.Context, c *client.Client, agent hub.AgentID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*goneWithin)
	defer cancel()
	first, err := hub.LiveAs(ctx, c.Agents, agent)
	if err != nil || first == nil {
		return
	}
	const look = 50 * time.Millisecond
	for until := time.Now().Add(goneWithin); time.Now().Before(until) && pause.For(ctx, look); {
		now, err := hub.LiveAs(ctx, c.Agents, agent)
		if err != nil || now == nil || now.SessionID != first.SessionID {
			return
		}
	}
	replace := true
	if got, err := c.Register(ctx, hub.RegisterInput{AgentID: agent, Replace: &replace}); err == nil {
		_, _ = c.CloseSession(ctx, got.Row.SessionID, "")
	}
}

// title is what people call the harness.
func (o *runOptions) title() string {
	if o.harness == hub.HarnessGeneric {
		return o.arguments[0]
	}
	return o.harness.Facts().Title
}

// outcome says how a session has ended.
func (o *runOptions) outcome(err error, last *hub.SpawnEnd) error {
	var f *term.Failure
	var refused *acp.Error
	switch {
	case err == nil, errors.Is(err, drive.ErrInterrupted):
		return nil
	case errors.Is(err, term.ErrInterrupted), errors.Is(err, context.Canceled):
		return term.ErrInterrupted
	case errors.As(err, &f):
		return f
	case errors.Is(err, drive.ErrUnworked):
		return term.Fail(term.ExitRefused, "see what it says above; another text may help, or a start of the program by itself", "%s: %v", o.title(), err)
	case errors.As(err, &refused) && refused.NeedsLogin():
		return term.Fail(term.ExitRefused, "start the program once by itself and log in", "%s begins no session: %s", o.title(), refused.Message)
	}
	how := ""
	switch {
	case last.Signal != "":
		how = "; a signal has ended it: " + last.Signal
	case last.ExitCode != nil && *last.ExitCode != 0:
		how = fmt.Sprintf("; its exit code is %d", *last.ExitCode)
	}
	fix := "start it again; it has said nothing of the reason"
	if words := strings.TrimSpace(string(last.Output)); words != "" {
		fix = "see what it has said at last: " + peertext.Excerpt(words[max(0, len(words)-lastWords):], lastWords)
	}
	return term.Fail(term.ExitRefused, fix, "the session with %s has ended: %v%s", o.title(), err, how)
}

// signals turns the first kinds of a signal into interrupts, and the others into the end.
func signals(env *term.Env, end context.CancelCauseFunc) <-chan struct{} {
	out := make(chan struct{}, 4)
	if env.TakeSignals == nil {
		return out
	}
	in := env.TakeSignals()
	go func() {
		for s := range in {
			if s != os.Interrupt {
				end(errTerminated)
				continue
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out
}

// typedLines are the lines of the person at the terminal; nil if nobody is there.
func typedLines(env *term.Env, o *runOptions) <-chan string {
	if o.headless || o.held {
		return nil
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(env.Stdin)
		in.Buffer(nil, maxTyped)
		for in.Scan() {
			lines <- in.Text()
		}
		if err := in.Err(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EIO) {
			env.Note("nothing more is read from the terminal: %v", err)
		}
	}()
	return lines
}
