//go:build !carries && !hub_omit_capsule

package capsule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// maxPlans is how often something is planned again because the hub has changed meanwhile.
const maxPlans = 5

// cancelWait is how long a plan may take to end. Of an import under way the hub deletes what
// it has written.
const cancelWait = 10 * time.Second

// planView is what the plans of exports and imports have in common.
type planView struct {
	ID, Digest, Prompt, Error string
	State                     hub.CapsulePlanState
	Done, Total               int64
}

// A planFlow has something planned, asks, and has it carried out. P is a plan on the wire.
type planFlow[P any] struct {
	env      *term.Env
	yes      bool // do not ask
	question string
	view     func(*P) planView
	get      func(ctx context.Context, id string) (P, error)
	cancel   func(ctx context.Context, id string) (P, error)
	confirm  func(ctx context.Context, id string, in hub.CapsuleConfirmInput) (P, error)
	// doing has a line for each state that passes by itself, with verbs for done and total.
	doing  map[hub.CapsulePlanState]string
	failed string // says what could not be done
	fix    string // after that
}

// run carries out a plan that has been begun, and returns it as it ended. If the hub says that
// the plan no longer fits, run asks about the new one.
func (f *planFlow[P]) run(ctx context.Context, plan P) (P, error) {
	for n := 1; ; n++ {
		var err error
		plan, err = f.follow(ctx, plan)
		if err == nil {
			err = f.agree(ctx, &plan)
		}
		if err != nil {
			return plan, err
		}
		at := f.view(&plan)
		done, err := f.confirm(ctx, at.ID, hub.CapsuleConfirmInput{Confirm: at.Digest})
		if err == nil {
			return f.follow(ctx, done)
		}
		again, changed := f.changed(err)
		if !changed || n == maxPlans {
			f.end(at.ID)
			return plan, err
		}
		fmt.Fprintln(f.env.Stderr, "the plan no longer fits; this is the new plan")
		plan = again
	}
}

// follow waits until a plan is in no state that passes by itself, and says how far it is.
func (f *planFlow[P]) follow(ctx context.Context, plan P) (P, error) {
	const look = 200 * time.Millisecond
	told := f.env.Now()
	at := f.view(&plan)
	for f.doing[at.State] != "" {
		if now := f.env.Now(); now.Sub(told) >= time.Second && at.Total > 0 {
			told = now
			fmt.Fprintf(f.env.Stderr, f.doing[at.State], at.Done, at.Total)
		}
		if !pause.For(ctx, look) {
			f.end(at.ID)
			return plan, context.Cause(ctx)
		}
		next, err := f.get(ctx, at.ID)
		if err != nil {
			f.end(at.ID)
			return plan, err
		}
		plan, at = next, f.view(&next)
	}
	if at.State == hub.CapsuleFailed {
		f.end(at.ID)
		return plan, term.Fail(term.ExitRefused, f.fix, "%s: %s", f.failed, peertext.TerminalLine(at.Error))
	}
	return plan, nil
}

// agree asks about a plan. A plan that is not agreed to ends.
func (f *planFlow[P]) agree(ctx context.Context, plan *P) (err error) {
	at := f.view(plan)
	if err = opt.AgreeToPlan(ctx, f.env, f.yes, at.Prompt, f.question); err != nil {
		f.end(at.ID)
	}
	return err
}

// end cancels a plan whether or not the command was interrupted. A plan that cannot be cancelled
// ends by itself.
func (f *planFlow[P]) end(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelWait)
	defer cancel()
	_, _ = f.cancel(ctx, id)
}

// changed returns the plan that could be confirmed instead of one that no longer fits.
func (f *planFlow[P]) changed(err error) (plan P, ok bool) {
	var refused *hub.Error
	if !errors.As(err, &refused) || refused.Code != hub.CodePlanChanged {
		return plan, false
	}
	raw, err := json.Marshal(refused.Detail["plan"])
	return plan, err == nil && json.Unmarshal(raw, &plan) == nil && f.view(&plan).ID != ""
}
