package adapter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// AdapterTarget is one place in which an adapter changes.
type AdapterTarget struct {
	Harness hub.Harness
	In      hub.AdapterInput
}

// manyFlag is a flag that changes many adapters in place of the one that the
// argument names.
type manyFlag struct {
	given *bool
	name  string // with its hyphens
	place string // what the flag says about --scope and --path
}

// manyInstead lets the command call run, without an argument, if the flag is given.
func (o *AdapterChange) manyInstead(cmd *cobra.Command, f manyFlag, run func(context.Context) error) {
	one, takesOne := cmd.RunE, cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !*f.given:
			return takesOne(cmd, args)
		case len(args) > 0:
			return term.Usage("leave out "+f.name+" or the harness", "%s is for every harness, not for %s alone", f.name, peertext.TerminalLine(args[0]))
		case o.scope != "" || o.path != "":
			return term.Usage("leave out "+f.name+", --scope and --path, or name a harness", "%s %s", f.name, f.place)
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *f.given {
			return run(cmd.Context())
		}
		return one(cmd, args)
	}
}

// detected returns the harnesses on this machine. The file for other clients
// belongs to no harness and is never detected.
func detected(rows []hub.Adapter, in hub.AdapterInput) []AdapterTarget {
	var list []AdapterTarget
	for _, row := range rows {
		if row.Detected {
			list = append(list, AdapterTarget{row.Harness, in})
		}
	}
	return list
}

// ChangeMany changes several adapters after one question that shows the plan of
// each. An adapter that the hub refuses to change does not stop the others.
// The number of refusals is the second result.
func ChangeMany(ctx context.Context, env *term.Env, c *client.Client, o *AdapterChange, action hub.AdapterAction, all []AdapterTarget) (refused int, err error) {
	refuse := func(t AdapterTarget, err error) error {
		var refusal *hub.Error
		if !errors.As(err, &refusal) {
			return err
		}
		refused++
		env.Note("%s: %s", t.Harness, peertext.TerminalLine(refusal.Error()))
		return nil
	}
	var asked []AdapterTarget
	var prompts []string
	for _, t := range all {
		done, err := c.ChangeAdapter(ctx, t.Harness, action, t.In)
		if prompt, digest, ok := opt.NeedsAnswer(err); ok {
			t.In.Confirm = digest
			asked, prompts = append(asked, t), append(prompts, prompt)
			continue
		}
		if err != nil {
			if err := refuse(t, err); err != nil {
				return refused, err
			}
			continue
		}
		if err := printOne(env, o, t.Harness, action, done); err != nil {
			return refused, err
		}
	}
	if len(asked) > 0 && !o.Yes {
		if err := opt.Agree(ctx, env, strings.Join(prompts, "\n")+fmt.Sprintf("\nAll of this, in %d adapters?", len(asked))); err != nil {
			return refused, err
		}
	}
	for _, t := range asked {
		done, err := c.ChangeAdapter(ctx, t.Harness, action, t.In)
		var e *hub.Error
		if errors.As(err, &e) && e.Code == hub.CodePlanChanged {
			// Two adapters share a file, and the first has changed it. So the
			// question is asked again with what is left to do.
			t.In.Confirm = ""
			done, err = askedChange(ctx, env, c, o, action, t)
		}
		if err == nil {
			err = printOne(env, o, t.Harness, action, done)
		} else {
			err = refuse(t, err)
		}
		if err != nil {
			return refused, err
		}
	}
	return refused, nil
}

// askedChange asks the hub for the change, shows its question, and sends the
// confirmation. The hub then makes exactly the shown change, or none.
func askedChange(ctx context.Context, env *term.Env, c *client.Client, o *AdapterChange, action hub.AdapterAction, t AdapterTarget) (hub.AdapterResult, error) {
	done, err := c.ChangeAdapter(ctx, t.Harness, action, t.In)
	prompt, digest, ok := opt.NeedsAnswer(err)
	if !ok {
		return done, err
	}
	if !o.Yes {
		if err := opt.Agree(ctx, env, prompt+"\nGo on?"); err != nil {
			return hub.AdapterResult{}, err
		}
	}
	t.In.Confirm = digest
	return c.ChangeAdapter(ctx, t.Harness, action, t.In)
}

func printOne(env *term.Env, o *AdapterChange, h hub.Harness, action hub.AdapterAction, done hub.AdapterResult) error {
	if o.JSON {
		return term.PrintJSON(env.Stdout, done)
	}
	return printChanged(env.Stdout, h, action, done)
}

// LeftAsTheyAre is the failure of a command for several adapters.
func LeftAsTheyAre(refused, of int) error {
	if refused == 0 {
		return nil
	}
	return &term.Failure{
		Exit: term.ExitRefused, Sentence: fmt.Sprintf("%d of %d adapters were left as they are", refused, of),
		Fix: "see: hubcli adapter list",
	}
}
