package smoke

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/pause"
)

const (
	pageLimit    = 200                    // rows of one poll
	firstRetry   = 100 * time.Millisecond // after a call that the hub did not answer
	lastRetry    = time.Second
	farewellTime = 2 * time.Second // for telling the others and giving up leases after a failure
)

// player is one role on its way through the steps.
type player struct {
	cfg       Config
	anonymous *client.Client // proves no session
	hub       *client.Client // proves the session, where the way carries one
	began     time.Time
	at        int    // number of the step, from 1
	step      string // its name
	skipped   int

	nonce    string // of this process
	run      string // of the run, once the roles have met
	features []hub.Feature
	session  hub.SessionID // full

	begin hub.MessageID // the last message before this process came
	since hub.MessageID // where the next poll begins
	last  hub.MessageID // the highest id that was seen
	heard []line        // what the roles and the hub have said since, in its order
	fence hub.Fence     // of the claim, as this role knows it
	owner hub.AgentID   // of the claim after the race
	cut   bool          // the last call was not answered

	answered time.Time // when the last answer came
}

func newPlayer(cfg Config) *player {
	p := &player{cfg: cfg, anonymous: cfg.Client.As(cfg.Role, ""), began: time.Now(), nonce: newKey()}
	p.hub = p.anonymous
	return p
}

// me is the role's agent id.
func (p *player) me() hub.AgentID { return p.cfg.Role }

// newKey is a name that no other process chooses.
func newKey() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// wrong is what a hub did against the contract.
func wrong(format string, args ...any) error { return fmt.Errorf(format, args...) }

// ask makes a call until the hub answers it, one way or the other. A write that
// is sent again has the key that it had.
func ask[T any](ctx context.Context, p *player, what string, call func(context.Context) (T, error)) (T, error) {
	keyed := hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: "smoke-" + newKey()}})
	for delay := firstRetry; ; delay = min(2*delay, lastRetry) {
		got, err := call(keyed)
		var refused *hub.Error
		switch {
		case err == nil:
			p.cut, p.answered = false, time.Now()
			return got, nil
		case !errors.As(err, &refused):
			return got, fmt.Errorf("%s: %w", what, err)
		case !passing(refused) || p.at == 1: // a hub that is not there at the beginning is none
			return got, fmt.Errorf("%s: %w", what, err)
		}
		// An answer that is late because the time is over is no trouble.
		end, ends := ctx.Deadline()
		if over := ends && time.Until(end) < lastRetry; !p.cut && p.cfg.Trouble != nil && !(over && late(refused)) {
			p.cfg.Trouble(err)
		}
		p.cut = true
		if !pause.For(ctx, delay) {
			return got, fmt.Errorf("%s: %w", what, err)
		}
	}
}

// passing reports whether the same call may succeed later: the hub or the way to
// it is away, or busy.
func passing(e *hub.Error) bool {
	const firstOfSpool = 597 // 597 to 599 are the answers of a spool that no hub gave
	return e.Status == 0 || e.Status == http.StatusServiceUnavailable || e.Status >= firstOfSpool ||
		e.Code == hub.CodeInProgress || e.Code == hub.CodeTooManyPolls
}

// late reports whether a call got no answer in time, rather than found nobody.
func late(e *hub.Error) bool {
	const noAnswerFromSpool = 598
	return e.Code == hub.CodeNoAnswer || e.Status == noAnswerFromSpool
}

// refusedAs reports whether the hub refused a call with this code. Any other end
// of the call is the error.
func refusedAs(err error, code hub.Code, what string) error {
	var e *hub.Error
	switch {
	case err == nil:
		return wrong("%s succeeded, want %s", what, code)
	case errors.As(err, &e) && e.Code == code:
		return nil
	}
	return fmt.Errorf("want %s: %w", code, err)
}

// post stores a message of this role in the run's channel, or to one agent.
func (p *player) post(ctx context.Context, in hub.PostInput, n note) (hub.Message, error) {
	in.FromAgent, in.Channel = p.me(), p.cfg.Channel
	n.Run, n.Step = p.run, p.step
	in.Metadata = n.encode()
	if in.Body == "" {
		in.Body = strings.TrimSpace(n.Step + " " + n.Word)
	}
	out, err := ask(ctx, p, "posting "+n.Word, func(ctx context.Context) (hub.Posted, error) {
		return p.hub.Post(ctx, in)
	})
	if err != nil {
		return hub.Message{}, err
	}
	row, err := out.Row.Decode()
	switch {
	case err != nil:
		return row, wrong("the row of a post is none: %v", err)
	case row.ID < 1 || row.FromAgent != in.FromAgent || row.Body != in.Body || row.Channel != in.Channel:
		return row, wrong("a post of %q to %s was answered with the row %s", in.Body, in.Channel, out.Row)
	}
	return row, nil
}

// say posts a note to all.
func (p *player) say(ctx context.Context, n note) (hub.Message, error) {
	return p.post(ctx, hub.PostInput{}, n)
}

// together tells the others that this role has come to a point and waits until
// all have.
func (p *player) together(ctx context.Context, word string) error {
	if _, err := p.say(ctx, note{Word: word}); err != nil {
		return err
	}
	return p.all(ctx, word)
}

// all waits until each role has said word in this step.
func (p *player) all(ctx context.Context, word string) error {
	for _, role := range Roles() {
		if _, err := p.await(ctx, role, word); err != nil {
			return err
		}
	}
	return nil
}

// await waits for what a role says in this step.
func (p *player) await(ctx context.Context, from hub.AgentID, word string) (line, error) {
	var found line
	err := p.until(ctx, fmt.Sprintf("%q of %s", word, from), func() bool {
		var ok bool
		found, ok = p.said(from, word)
		return ok
	})
	return found, err
}

// giveUp is best effort: what is left after a failure is no failure of its own.
func (p *player) giveUp(ctx context.Context, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	if p.run != "" && p.session != "" {
		_, _ = p.anonymous.Post(ctx, hub.PostInput{
			FromAgent: p.me(), Channel: p.cfg.Channel, Body: cause.Error(),
			Metadata: note{Run: p.run, Step: p.step, Word: wordFailed, Text: cause.Error()}.encode(),
		})
	}
	if p.session == "" {
		return
	}
	_, _ = p.anonymous.ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: p.cfg.Claim, OwnerAgentID: p.me()})
	_, _ = p.anonymous.ReleaseLock(ctx, hub.LockHoldInput{FilePath: p.file(), AgentID: p.me()})
	_, _ = p.anonymous.CloseSession(ctx, p.session, "")
}

// file is the path that the roles lock.
func (p *player) file() string { return "smoke/" + string(p.cfg.Claim) }
