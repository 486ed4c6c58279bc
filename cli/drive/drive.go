package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/hub"
	"hubcli/integrations/acp"
	"hubcli/internal/peertext"
)

// Hub is what a driver calls.
type Hub interface {
	NoteTurn(ctx context.Context, in hub.TurnInput) (hub.TurnNoted, error)
	RequestPermission(ctx context.Context, in hub.PermissionInput) (hub.Permission, error)
	AwaitPermission(ctx context.Context, id hub.AskID, in hub.PermissionWaitInput) (hub.Permission, error)
}

// Config says whose session is driven. Hub, Agent, Folder, Out and Interrupts are required.
type Config struct {
	Hub    Hub
	Agent  hub.AgentID
	Room   hub.RoomID
	Folder string
	Out    io.Writer // takes the transcript

	// Lines is what a person types; its end ends the session. Nil: nobody is there.
	Lines <-chan string
	// Interrupts has a value for each Ctrl-C.
	Interrupts <-chan struct{}
	// First begins the first turn; may be empty.
	First string
	// Once ends the session with the first moment at which no turn is under way.
	Once bool
	// About makes what the operator is shown of a tool's input fit for eyes.
	About func(string) string
}

// Bounds.
const (
	maxQueued = 20              // texts that were typed during a turn
	noteLimit = 2 * time.Second // for telling the hub of a turn
	again     = 3 * time.Second // in which a second Ctrl-C ends an idle session
	tries     = 3               // turns that are begun for the same messages, if the harness fails
	retry     = 5 * time.Second // between them
)

// Reasons for which a session ends without a failure.
var (
	ErrInterrupted = errors.New("interrupted twice")
	// ErrUnworked says, with Once, that the harness has not worked the turn.
	ErrUnworked = errors.New("the turn was not worked")
	errDone     = errors.New("the session is over")
)

// text is what begins a turn.
type text struct {
	said   string
	wake   bool // for messages
	failed int  // turns that were begun with it and failed
}

// ended is the end of a turn.
type ended struct {
	of  text
	why acp.StopReason
	err error
}

// Driver drives one session.
type Driver struct {
	Config
	out   transcript
	conn  *acp.Conn
	id    string
	wakes chan text
	over  chan ended
	later chan text // a text whose turn has failed

	// Of Run's goroutine.
	turn       context.CancelFunc // of the turn under way; nil: there is none
	cancelled  bool               // the turn is to end
	unworked   error              // why the last turn on a text of a person was refused; nil: it was not
	queue      []text
	interrupts time.Time // the last one while no turn was under way
	lines      <-chan string

	asking chan struct{} // held while a permission prompt is open
	left   atomic.Bool   // the person at the terminal has gone

	mu      sync.Mutex
	free    chan struct{}   // closed while no turn is under way and none waits
	current context.Context // ends with the turn or its cancellation
	prompt  *prompt         // the open permission prompt; nil: there is none
}

// New returns a driver whose session has not begun. Until Run begins the agent counts as busy.
func New(c Config) *Driver {
	d := &Driver{
		Config: c, wakes: make(chan text), over: make(chan ended, 1), later: make(chan text, 1), asking: make(chan struct{}, 1),
		free: make(chan struct{}),
	}
	d.out.w = c.Out
	if d.About == nil {
		d.About = func(s string) string { return s }
	}
	return d
}

// Handler takes what the harness tells and asks.
func (d *Driver) Handler() acp.Handler {
	return acp.Handler{
		Update: d.out.show, Ask: d.ask,
		Stray: func(line string) { d.out.say("[not of the protocol] %s", peertext.Excerpt(line, maxTitle)) },
	}
}

// Idle waits until no turn is under way and nothing typed waits.
func (d *Driver) Idle(ctx context.Context) error {
	d.mu.Lock()
	free := d.free
	d.mu.Unlock()
	select {
	case <-free:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Wake begins a turn with a text, as soon as none is under way.
func (d *Driver) Wake(ctx context.Context, said string) error {
	select {
	case d.wakes <- text{said: said, wake: true}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Say prints a line beside what the harness tells.
func (d *Driver) Say(format string, args ...any) { d.out.say(format, args...) }

// Run drives a session until it ends. The error says why: nil if the person has ended it, or
// with Once; ErrUnworked; ErrInterrupted; the cause of ctx; or why the connection has ended.
func (d *Driver) Run(ctx context.Context, conn *acp.Conn, session string) error {
	d.conn, d.id, d.lines = conn, session, d.Lines
	if d.First != "" {
		d.queue = append(d.queue, text{said: d.First})
	}
	for {
		if err := d.next(ctx); err != nil {
			if errors.Is(err, errDone) {
				err = nil
			}
			if d.turn != nil {
				d.turn()
			}
			d.out.turnEnds() // what is said next begins a line
			return err
		}
		if err := d.out.failed(); err != nil {
			return fmt.Errorf("the transcript cannot be written: %w", err)
		}
	}
}

// next begins a turn that waits, or takes one event.
func (d *Driver) next(ctx context.Context) error {
	var wakes <-chan text
	if d.turn == nil {
		if len(d.queue) > 0 {
			first := d.queue[0]
			d.queue = d.queue[1:]
			d.begin(ctx, first)
			return nil
		}
		if d.Once && d.ready() && d.unworked != nil {
			return d.unworked
		}
		if d.left.Load() || d.Once && d.ready() {
			return errDone
		}
		d.rest(ctx)
		wakes = d.wakes
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-d.conn.Ended():
		return d.conn.Err()
	case line, more := <-d.lines:
		if !more { // what is queued is still worked on
			d.left.Store(true)
			d.lines = nil
			return nil
		}
		d.typed(line)
	case t := <-wakes:
		d.out.say("[hub] %s", peertext.Terminal(t.said))
		d.begin(ctx, t)
	case t := <-d.later:
		d.queue = append(d.queue, t)
	case <-d.Interrupts:
		return d.interrupted()
	case e := <-d.over:
		d.ended(e)
	}
	return nil
}

// attended reports whether a person is there to type.
func (d *Driver) attended() bool { return d.Lines != nil && !d.left.Load() }

// ready reports whether a turn has been worked.
func (d *Driver) ready() bool { return d.First == "" || d.current != nil }

// rest says that no turn is under way.
func (d *Driver) rest(ctx context.Context) {
	select {
	case <-d.free:
		return // it is said
	default:
	}
	d.note(ctx, hub.TurnInput{AgentID: d.Agent, Turn: hub.TurnIdle})
	if d.attended() {
		d.out.mark(string(d.Agent) + "> ")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.free)
}

// begin begins a turn.
func (d *Driver) begin(ctx context.Context, t text) {
	turn, cancel := context.WithCancel(ctx)
	d.turn, d.cancelled = cancel, false
	d.mu.Lock()
	select {
	case <-d.free:
		d.free = make(chan struct{})
	default:
	}
	d.current = turn
	d.mu.Unlock()
	if !d.attended() && !t.wake {
		d.out.say("> %s", peertext.Terminal(t.said))
	}
	d.note(ctx, hub.TurnInput{AgentID: d.Agent, Turn: hub.TurnWorking})
	go func() {
		why, err := d.conn.Prompt(ctx, d.id, t.said)
		d.over <- ended{t, why, err}
	}()
}

// ended notes the end of a turn.
func (d *Driver) ended(e ended) {
	d.turn()
	d.turn = nil
	d.out.turnEnds()
	var refused *acp.Error
	if !e.of.wake {
		d.unworked = nil
		switch {
		case errors.As(e.err, &refused):
			d.unworked = fmt.Errorf("%w: %s", ErrUnworked, peertext.Excerpt(refused.Error(), 2*maxTitle))
		case e.why == acp.Refusal:
			d.unworked = fmt.Errorf("%w: the model refuses the prompt", ErrUnworked)
		}
	}
	switch {
	case errors.As(e.err, &refused):
		d.out.say("[the turn has failed] %s", peertext.Excerpt(refused.Error(), 2*maxTitle))
		if e.of.failed++; e.of.wake && e.of.failed < tries && !d.cancelled {
			of := e.of
			time.AfterFunc(retry, func() { d.later <- of }) // one at most waits: there is one turn at a time
		}
	case e.err != nil: // the connection has ended, which is told by itself
	case e.why == acp.Cancelled:
		d.out.say("[cancelled]")
	case e.why != acp.EndOfTurn && e.why != "":
		d.out.say("[the turn has ended: %s]", peertext.Excerpt(string(e.why), maxStep))
	}
}

// typed takes a line of the person at the terminal.
func (d *Driver) typed(line string) {
	d.out.typed()
	line = strings.TrimSpace(line)
	switch {
	case d.answer(line):
	case line == "":
		if d.turn == nil {
			d.out.mark(string(d.Agent) + "> ")
		}
	case d.turn == nil:
		d.queue = append(d.queue, text{said: line})
	case len(d.queue) >= maxQueued:
		d.out.say("[dropped: %d texts wait already]", maxQueued)
	default:
		d.queue = append(d.queue, text{said: line})
		d.out.say("[waits for the end of the turn]")
	}
}

// interrupted cancels the turn, or ends the session.
func (d *Driver) interrupted() error {
	if d.turn != nil && !d.cancelled {
		d.cancelled = true
		d.turn() // open permission prompts end
		d.out.say("[the turn is to end; Ctrl-C once more ends the session]")
		return d.conn.Cancel(d.id)
	}
	if d.turn != nil || time.Since(d.interrupts) < again {
		return ErrInterrupted
	}
	d.interrupts = time.Now()
	d.out.say("[Ctrl-C once more ends the session]")
	return nil
}

// note tells the hub how far the turn is. The hub may be away.
func (d *Driver) note(ctx context.Context, in hub.TurnInput) {
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	_, _ = d.Hub.NoteTurn(ctx, in)
}
