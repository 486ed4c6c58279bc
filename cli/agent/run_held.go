package agent

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/background"
	"hubcli/internal/identity"
	"hubcli/internal/process"
)

// maxLog bounds what is kept of what a session says, in bytes. Beyond it the file begins anew.
const maxLog = 1 << 20

// held is a session of the background that this process keeps.
type held struct {
	env    *term.Env
	runner *runner
	notes  identity.Backgrounds
	note   *identity.Background
	log    *heldLog
	noted  bool
	began  bool          // the harness has begun the session since its last start
	news   hub.MessageID // the last message that begins the next turn; 0: none does
}

// hold prepares a session: from now on what it says goes into a file.
func hold(env *term.Env, o *runOptions, r *runner, start *term.HarnessCommand) (*held, error) {
	notes, err := backgrounds(env)
	if err != nil {
		return nil, err
	}
	f, err := notes.OpenLog(r.run.agent)
	if err != nil {
		return nil, term.Fail(term.ExitRefused, "see that you may write there", "what the session says cannot be kept: %v", err)
	}
	h := &held{env: env, runner: r, notes: notes, note: r.note(env, o, start.Args[0]), log: &heldLog{f: f}}
	h.note.PID, h.note.Log = os.Getpid(), f.Name()
	if self, ok := process.Look(h.note.PID); ok {
		h.note.Began = self.Began
	}
	env.Stdout = h.log
	return h, nil
}

// keepSession keeps a session of the background from its start to its end, and with --resume from
// start to start.
func keepSession(ctx context.Context, env *term.Env, o *runOptions, r *runner, start term.HarnessCommand) error {
	h, err := hold(env, o, r, &start)
	if err != nil {
		r.run.leave(ctx)
		return err
	}
	defer h.end()
	r.held = h
	if o.resume {
		return h.sleepAndWake(ctx, o, start)
	}
	return h.session(ctx, o, start)
}

// session runs the harness from its start to its end.
func (h *held) session(ctx context.Context, o *runOptions, start term.HarnessCommand) error {
	switch {
	case o.driven():
		return driveHarness(ctx, h.env, o, h.runner, start)
	case o.harness == hub.HarnessClaudeCode:
		return h.keepClaude(ctx, o, start)
	}
	return keepHarness(ctx, h.env, o, h.runner, start)
}

// announce notes that the session has begun. Nobody reads the errors of this process then.
func (h *held) announce(session string) error {
	h.note.Session, h.note.Sleeping, h.began = session, false, true
	if err := h.notes.Store(h.note); err != nil {
		return term.Fail(term.ExitRefused, "try again", "the session cannot be noted: %v", err)
	}
	h.noted = true
	h.env.Stderr = h.log
	return nil
}

// end forgets the session.
func (h *held) end() {
	if h.noted {
		_ = h.notes.Forget(h.note) // the list shows that this process has ended
	}
	_ = h.log.f.Close()
}

// heldLog is a file of bounded size.
type heldLog struct {
	mu sync.Mutex
	f  *os.File
	n  int
}

func (l *heldLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n+len(b) > maxLog {
		if err := l.f.Truncate(0); err == nil { // it is written at its end
			l.n = 0
		}
	}
	l.n += len(b)
	if _, err := l.f.Write(b); err != nil {
		return len(b), nil //nolint:nilerr // a full disk ends no session
	}
	return len(b), nil
}

// server is a program that serves sessions of a harness, from its start to its end.
type server interface {
	// heard is called with each line that the program says.
	heard(line string)
	// begin waits until it serves, and begins the session, or goes on with a known one.
	begin(ctx context.Context, h *held, known string) (session string, err error)
	prompt(ctx context.Context, session, text string) error
	close()
}

// keepHarness starts the server of a harness, begins a session in it, and waits until either is to
// end.
func keepHarness(ctx context.Context, env *term.Env, o *runOptions, r *runner, start term.HarnessCommand) error {
	defer r.run.leave(ctx)
	if env.StartHarness == nil {
		return errNoStart
	}
	known, err := o.resumed(r)
	if err != nil {
		return err
	}
	h := r.held
	s, err := o.server(h, &start)
	if err != nil {
		return err
	}
	r.run.leave(ctx) // the bridge of the harness registers
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan hub.SpawnEnd, 1)
	p, err := env.StartHarness(start, func(e hub.SpawnEnd) {
		ended <- e
		cancel(errServerEnded)
	})
	if err != nil {
		if start.Remove != "" {
			_ = os.RemoveAll(start.Remove)
		}
		return term.Fail(term.ExitRefused, "start it yourself to see what is wrong: "+strings.Join(start.Args, " "), "%s does not start: %v", o.title(), err)
	}
	go h.listen(p.In, s)
	err = h.work(ctx, o, s, known)
	s.close()
	_ = p.Out.Close()
	p.Stop("the session is over")
	last := <-ended
	_ = p.In.Close()
	r.gone(ctx)
	return o.outcome(err, &last)
}

var errServerEnded = errors.New("its server has ended")

// work begins the session and waits for the end. The error says why it ended.
func (h *held) work(ctx context.Context, o *runOptions, s server, known string) error {
	begins, cancel := context.WithTimeoutCause(ctx, acpBegins, errors.New("it did not begin in time"))
	defer cancel()
	session, err := s.begin(begins, h, known)
	text := h.runner.run.first(o)
	if text == "" && o.harness == hub.HarnessCodex {
		text = codexFirst
	}
	if err == nil && text != "" {
		h.told(begins)
		err = s.prompt(begins, session, text)
	}
	if err != nil {
		if begins.Err() != nil {
			err = errors.Join(context.Cause(begins), err)
		}
		return err
	}
	h.runner.run.known.Session = session
	h.runner.run.remember(h.env)
	if err := h.announce(session); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// codexFirst begins a session that has nothing to do yet: Codex queues no text for a session that has
// had no turn.
const codexFirst = "You work in the background for a team. Call hub_start of the hub once, then end your turn: messages begin your next one."

// listen keeps what the program says, and shows it to its client line by line.
func (h *held) listen(out io.Reader, s server) {
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			_, _ = h.log.Write(line)
			s.heard(string(line))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// server completes how a harness is started.
func (o *runOptions) server(h *held, start *term.HarnessCommand) (server, error) {
	program, own := start.Args[0], start.Args[1:]
	if o.harness == hub.HarnessOpenCode {
		s := &openCodeServer{password: rand.Text(), address: make(chan string, 1)}
		start.Args = append(append([]string{program}, background.OpenCodeArgs()...), own...)
		start.Env = append(start.Env, background.OpenCodePassword+"="+s.password)
		return s, nil
	}
	folder, err := os.MkdirTemp("", "hubcli-codex-") // the path of a socket is short, and that of a data root may not be
	if err != nil {
		return nil, term.Fail(term.ExitRefused, "set TMPDIR to a folder that you may write to", "there is no place for the socket of Codex: %v", err)
	}
	start.Remove = folder
	s := &codexServer{socket: filepath.Join(folder, "s")}
	bridge := append(o.codexBridge(h.env, h.note.AgentID, h.note.RoomID), [2]string{hub.EnvWithoutTerminal, "1"})
	start.Args = append(append([]string{program}, background.CodexArgs(s.socket, bridge)...), own...)
	return s, nil
}

// openCodeServer is "opencode serve".
type openCodeServer struct {
	password string
	address  chan string
	client   *background.OpenCode
}

// heard looks for the address in what the server says.
func (s *openCodeServer) heard(line string) {
	if at, found := background.OpenCodeAddress(line); found {
		select {
		case s.address <- at:
		default: // it has told it already
		}
	}
}

func (s *openCodeServer) begin(ctx context.Context, h *held, known string) (string, error) {
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case at := <-s.address:
		s.client = &background.OpenCode{Address: at, Password: s.password}
		h.note.Address, h.note.Secret = at, s.password
	}
	return s.client.Begin(ctx, known)
}

func (s *openCodeServer) prompt(ctx context.Context, session, text string) error {
	return s.client.Prompt(ctx, session, text)
}

func (s *openCodeServer) close() {}

// codexServer is "codex app-server".
type codexServer struct {
	socket string
	client *background.Codex
}

func (s *codexServer) heard(string) {}

func (s *codexServer) begin(ctx context.Context, h *held, known string) (session string, err error) {
	if s.client, err = background.DialCodex(ctx, s.socket, h.env.Version); err != nil {
		return "", err
	}
	h.note.Address = s.socket
	return s.client.Begin(ctx, h.note.Folder, known)
}

func (s *codexServer) prompt(ctx context.Context, session, text string) error {
	return s.client.Prompt(ctx, session, text)
}

func (s *codexServer) close() {
	if s.client != nil {
		s.client.Close()
	}
}
