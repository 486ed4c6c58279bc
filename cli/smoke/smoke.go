package smoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
)

// The three roles. A role's name is its agent id.
const (
	RoleA hub.AgentID = "smoke-a"
	RoleB hub.AgentID = "smoke-b"
	RoleC hub.AgentID = "smoke-c"
)

// Roles lists them in their order.
func Roles() []hub.AgentID { return []hub.AgentID{RoleA, RoleB, RoleC} }

// What a role does when it is not told (SPEC section 4.2).
const (
	DefaultChannel      hub.ChannelName = "smoke-room"
	DefaultThread       hub.ThreadID    = "smoke-relay-001"
	DefaultClaim        hub.ClaimKey    = "smoke-claim-001"
	DefaultTimeout                      = 120 * time.Second
	DefaultPollInterval                 = time.Second
)

// Config says which role to play, and where. All fields are required but Sessions
// and Trouble.
type Config struct {
	Role hub.AgentID
	// Client speaks to the hub, over HTTP or through a spool.
	Client *client.Client
	// Sessions says that the client's way carries X-Hub-Session: HTTP does, a
	// spool does not.
	Sessions bool
	// Channel, Thread and Claim are what the roles of one run share. The claim's
	// key also names the file that they lock.
	Channel hub.ChannelName
	Thread  hub.ThreadID
	Claim   hub.ClaimKey
	// Timeout is for the whole run, the wait for the other roles included.
	Timeout time.Duration
	// PollInterval is how long one poll, and one wait for a claim, is parked.
	PollInterval time.Duration
	// Out gets a line for every step and one at the end.
	Out io.Writer
	// Trouble is told when the hub does not answer and is tried again; nil is
	// told nothing.
	Trouble func(err error)
}

// step is one line of the protocol.
type step struct {
	name  string
	needs hub.Feature // the step is skipped if hub-info does not list it; empty: never
	alone bool        // the roles do not wait for each other at its beginning
	do    func(*player, context.Context) (string, error)
}

// steps is the protocol, in its order. docs/smoke.md says the same in words.
var steps = []step{
	{name: "hub-info", alone: true, do: (*player).hubInfo},
	{name: "register", alone: true, do: (*player).register},
	{name: "meet", alone: true, do: (*player).meet},
	{name: "presence", do: (*player).presence},
	{name: "channel", do: (*player).channel},
	{name: "thread", do: (*player).thread},
	{name: "direct", do: (*player).direct},
	{name: "claim-race", do: (*player).claimRace},
	{name: "hand-over", do: (*player).handOver},
	{name: "task", needs: hub.FeatureRPCKinds, do: (*player).task},
	{name: "rollup", needs: hub.FeatureSubtaskRollup, do: (*player).rollup},
	{name: "lock", do: (*player).lock},
	{name: "leave", do: (*player).leave},
	{name: "end", alone: true, do: (*player).end},
}

// Steps names the steps in their order.
func Steps() []string {
	names := make([]string, len(steps))
	for i := range steps {
		names[i] = steps[i].name
	}
	return names
}

// Run plays a role to the end. The error is a *Failure, or the cause of ctx if ctx
// has ended. A role that fails tells the others, gives up what it holds, and
// deregisters.
func Run(ctx context.Context, cfg Config) error {
	if !slices.Contains(Roles(), cfg.Role) {
		return fmt.Errorf("smoke: there is no role %q", cfg.Role)
	}
	p := newPlayer(cfg)
	bounded, cancel := context.WithTimeoutCause(ctx, cfg.Timeout, fmt.Errorf("the %g s that the run may take are over", cfg.Timeout.Seconds()))
	defer cancel()
	for i := range steps {
		p.at, p.step = i+1, steps[i].name
		if err := p.perform(bounded, &steps[i]); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			} else {
				err = p.failed(err)
			}
			p.giveUp(ctx, err)
			return err
		}
	}
	skipped := ""
	if p.skipped > 0 {
		skipped = fmt.Sprintf(" (%d skipped)", p.skipped)
	}
	fmt.Fprintf(cfg.Out, "%s ok: %d steps%s, %.1f s\n", cfg.Role, len(steps), skipped, time.Since(p.began).Seconds())
	return nil
}

// perform does one step and prints what came of it.
func (p *player) perform(ctx context.Context, s *step) error {
	if s.needs != "" && !slices.Contains(p.features, s.needs) {
		p.skipped++
		p.print("skipped: the hub does not list " + string(s.needs))
		return nil
	}
	if !s.alone {
		if err := p.together(ctx, "ready"); err != nil {
			return err
		}
	}
	said, err := s.do(p, ctx)
	if err != nil {
		return err
	}
	p.print(said)
	return nil
}

func (p *player) print(text string) {
	fmt.Fprintf(p.cfg.Out, "%s %02d %s: %s\n", p.cfg.Role, p.at, p.step, text)
}

// Failure is the end of a role that could not finish.
type Failure struct {
	Role hub.AgentID
	Step string // its name
	At   int    // its number, from 1
	Why  string // what was wrong, or what was waited for, and what was seen instead
	Err  error  // what the hub or the way to it answered; may be nil
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s %02d %s FAILED: %s", f.Role, f.At, f.Step, f.Why)
}

func (f *Failure) Unwrap() error { return f.Err }

// failed names the step in which err came.
func (p *player) failed(err error) *Failure {
	f := &Failure{Role: p.cfg.Role, Step: p.step, At: p.at, Why: err.Error()}
	var h *hub.Error
	if errors.As(err, &h) {
		f.Err = h
		f.Why += fmt.Sprintf(" (%s)", h.Code)
	}
	return f
}
