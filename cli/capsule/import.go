//go:build !carries && !hub_omit_capsule

package capsule

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// capsuleImport are the flags of capsule import.
type capsuleImport struct {
	opt.BaseURL
	trustFlags
	yes, json bool
}

func newCapsuleImport(env *term.Env) *cobra.Command {
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

If a signature is beside the capsule, under its name and .minisig, and you know its key,
the hub checks it, and refuses a file that it does not fit. --key names whose signature you
want to see. --identity names the file that opens an encrypted capsule; what is in it is
decrypted where it is read, and is never written anywhere as a file.

The command reads the operator token in the store of the hub, so only the user who
started the hub can use it.`,
		Example: `  hubcli capsule import web-shop.hubpack
  hubcli capsule import web-shop.hubpack --yes --json
  hubcli capsule import web-shop.hubpack --key ann.pub
  hubcli capsule import web-shop.hubpack.age --identity ~/.config/age/key.txt`,
		Args: opt.Arity("path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			in, err := o.input(env, args[0])
			if err != nil {
				return err
			}
			return runCapsuleImport(cmd.Context(), env, o, hub.CapsuleImportInput(in))
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	f.BoolVar(&o.json, "json", false, "print the plan that was carried out as JSON")
	o.trustFlags.add(f)
	o.BaseURL.Add(env, f)
	return cmd
}

func runCapsuleImport(ctx context.Context, env *term.Env, o *capsuleImport, in hub.CapsuleImportInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	plan, err := c.PlanImport(ctx, in)
	if err != nil {
		return err
	}
	flow := planFlow[hub.CapsuleImportPlan]{
		env: env, yes: o.yes, question: "Import it?", get: c.ImportPlan, cancel: c.CancelImport, confirm: c.ConfirmImport,
		view: func(p *hub.CapsuleImportPlan) planView {
			return planView{ID: p.PlanID, Digest: p.PlanDigest, Prompt: p.Prompt, Error: p.Error, State: p.State, Done: p.Done, Total: p.Total}
		},
		doing: map[hub.CapsulePlanState]string{
			hub.CapsulePlanning: "checking: %d of %d bytes\n", hub.CapsuleImporting: "importing: %d of %d rows\n",
		},
		failed: "the capsule could not be imported", fix: "nothing of it is in the hub; mend that, and import again",
	}
	if plan, err = flow.run(ctx, plan); err != nil {
		return err
	}
	return printImported(env, o, &plan)
}

func printImported(env *term.Env, o *capsuleImport, plan *hub.CapsuleImportPlan) error {
	if o.json {
		return term.PrintJSON(env.Stdout, plan)
	}
	_, err := fmt.Fprintf(env.Stdout, "imported project %s (%s): %s, %s\n",
		peertext.TerminalLine(plan.Project.Slug), plan.Project.ProjectID, term.Some(plan.Counts.Rooms, "room"), term.Some(plan.Counts.Messages, "message"))
	return err
}
