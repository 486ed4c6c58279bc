package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// capsuleImport are the flags of capsule import.
type capsuleImport struct {
	baseURL
	yes, json bool
}

func newCapsuleImport(env *Env) *cobra.Command {
	o := &capsuleImport{}
	cmd := &cobra.Command{
		Use:   "import <path>",
		Short: "Make a new project of a capsule",
		Long: `Make a new project of a capsule. The project is there as a whole or not at all, whatever
happens meanwhile.

The hub checks the whole file first, says exactly what it holds and what it becomes here,
and asks. Everything gets new ids, and texts that name ids name the new ones. If the slug
or the name is taken, the project gets a number. Times, order, authors and threads stay.

An imported project is history that can go on: its tasks oblige nobody, its authors are
names under which nobody can act, and nobody is shown its messages as news. It has no
bindings, seats, invites, claims and locks. Bind a folder to a room to work there.

The command reads the operator token in the store of the hub, so only the user who
started the hub can use it.`,
		Example: `  hubcli capsule import web-shop.hubpack
  hubcli capsule import web-shop.hubpack --yes --json`,
		Args: arity("path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := personOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			path, err := filepath.Abs(args[0])
			if err != nil {
				return usage("give the path as an absolute one", "the path cannot be resolved: %v", err)
			}
			return runCapsuleImport(cmd.Context(), env, o, path)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	f.BoolVar(&o.json, "json", false, "print the plan that was carried out as JSON")
	o.baseURL.add(env, f)
	return cmd
}

func runCapsuleImport(ctx context.Context, env *Env, o *capsuleImport, path string) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	plan, err := c.PlanImport(ctx, hub.CapsuleImportInput{Path: path})
	for n := 1; ; n++ {
		if err == nil {
			plan, err = followImport(ctx, env, c, plan)
		}
		if err == nil {
			err = agreeToImport(ctx, env, c, o, &plan)
		}
		if err != nil {
			return err
		}
		done, err := c.ConfirmImport(ctx, plan.PlanID, hub.CapsuleConfirmInput{Confirm: plan.PlanDigest})
		if err == nil {
			done, err = followImport(ctx, env, c, done)
		}
		if err == nil {
			return printImported(env, o, &done)
		}
		again, changed := changedImport(err)
		if !changed || n == maxPlans {
			cancelImport(c, plan.PlanID)
			return err
		}
		fmt.Fprintln(env.Stderr, "the hub has changed since; this is the new plan")
		plan = again
	}
}

// followImport waits until what is under way has ended, and says how far it is. An import that
// is interrupted is cancelled: nothing of it stays.
func followImport(ctx context.Context, env *Env, c *client.Client, plan hub.CapsuleImportPlan) (hub.CapsuleImportPlan, error) {
	const look = 200 * time.Millisecond
	doing := map[hub.CapsulePlanState]string{hub.CapsulePlanning: "checking: %d of %d bytes\n", hub.CapsuleImporting: "importing: %d of %d rows\n"}
	told := env.Now()
	for doing[plan.State] != "" {
		if now := env.Now(); now.Sub(told) >= time.Second && plan.Total > 0 {
			told = now
			fmt.Fprintf(env.Stderr, doing[plan.State], plan.Done, plan.Total)
		}
		if !pause.For(ctx, look) {
			cancelImport(c, plan.PlanID)
			return plan, context.Cause(ctx)
		}
		next, err := c.ImportPlan(ctx, plan.PlanID)
		if err != nil {
			cancelImport(c, plan.PlanID)
			return plan, err
		}
		plan = next
	}
	if plan.State == hub.CapsuleFailed {
		cancelImport(c, plan.PlanID)
		return plan, fail(ExitRefused, "nothing of it is in the hub; mend that, and import again", "the capsule could not be imported: %s", peertext.TerminalLine(plan.Error))
	}
	return plan, nil
}

// agreeToImport asks about a plan, word for word. A plan that is not agreed to is cancelled.
func agreeToImport(ctx context.Context, env *Env, c *client.Client, o *capsuleImport, plan *hub.CapsuleImportPlan) error {
	if o.yes {
		return nil
	}
	err := agreeToPrompt(ctx, env, plan.Prompt, "Import it?")
	if err != nil {
		cancelImport(c, plan.PlanID)
	}
	return err
}

// cancelImport ends a plan whether or not the command was interrupted. A plan that cannot be
// cancelled ends by itself.
func cancelImport(c *client.Client, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, _ = c.CancelImport(ctx, id)
}

// changedImport returns the plan that could be confirmed instead of one that no longer fits.
func changedImport(err error) (plan hub.CapsuleImportPlan, ok bool) {
	var refused *hub.Error
	if !errors.As(err, &refused) || refused.Code != hub.CodePlanChanged {
		return plan, false
	}
	raw, err := json.Marshal(refused.Detail["plan"])
	return plan, err == nil && json.Unmarshal(raw, &plan) == nil && plan.PlanID != ""
}

func printImported(env *Env, o *capsuleImport, plan *hub.CapsuleImportPlan) error {
	if o.json {
		return printJSON(env.Stdout, plan)
	}
	_, err := fmt.Fprintf(env.Stdout, "imported project %s (%s): %s, %s\n",
		peertext.TerminalLine(plan.Project.Slug), plan.Project.ProjectID, some(plan.Counts.Rooms, "room"), some(plan.Counts.Messages, "message"))
	return err
}

// some is a number of things.
func some(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
