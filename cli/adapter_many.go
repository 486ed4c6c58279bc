package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// adapterTarget is one place in which an adapter changes.
type adapterTarget struct {
	harness hub.Harness
	in      hub.AdapterInput
}

// manyFlag is a flag that changes many adapters in place of the one that the
// argument names.
type manyFlag struct {
	given *bool
	name  string // with its hyphens
	place string // what the flag says about --scope and --path
}

// manyInstead lets the command call run, without an argument, if the flag is given.
func (o *adapterChange) manyInstead(cmd *cobra.Command, f manyFlag, run func(context.Context) error) {
	one, takesOne := cmd.RunE, cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !*f.given:
			return takesOne(cmd, args)
		case len(args) > 0:
			return usage("leave out "+f.name+" or the harness", "%s is for every harness, not for %s alone", f.name, peertext.TerminalLine(args[0]))
		case o.scope != "" || o.path != "":
			return usage("leave out "+f.name+", --scope and --path, or name a harness", "%s %s", f.name, f.place)
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
func detected(rows []hub.Adapter, in hub.AdapterInput) []adapterTarget {
	var list []adapterTarget
	for _, row := range rows {
		if row.Detected {
			list = append(list, adapterTarget{row.Harness, in})
		}
	}
	return list
}

// changeMany changes several adapters after one question that shows the plan of
// each. An adapter that the hub refuses to change does not stop the others.
// The number of refusals is the second result.
func changeMany(ctx context.Context, env *Env, c *client.Client, o *adapterChange, action hub.AdapterAction, all []adapterTarget) (refused int, err error) {
	refuse := func(t adapterTarget, err error) error {
		var refusal *hub.Error
		if !errors.As(err, &refusal) {
			return err
		}
		refused++
		env.note("%s: %s", t.harness, peertext.TerminalLine(refusal.Error()))
		return nil
	}
	var asked []adapterTarget
	var prompts []string
	for _, t := range all {
		done, err := c.ChangeAdapter(ctx, t.harness, action, t.in)
		if prompt, digest, ok := needsAnswer(err); ok {
			t.in.Confirm = digest
			asked, prompts = append(asked, t), append(prompts, prompt)
			continue
		}
		if err != nil {
			if err := refuse(t, err); err != nil {
				return refused, err
			}
			continue
		}
		if err := printOne(env, o, t.harness, action, done); err != nil {
			return refused, err
		}
	}
	if len(asked) > 0 && !o.yes {
		if err := agree(ctx, env, strings.Join(prompts, "\n")+fmt.Sprintf("\nAll of this, in %d adapters?", len(asked))); err != nil {
			return refused, err
		}
	}
	for _, t := range asked {
		done, err := c.ChangeAdapter(ctx, t.harness, action, t.in)
		var e *hub.Error
		if errors.As(err, &e) && e.Code == hub.CodePlanChanged {
			// Two adapters share a file, and the first has changed it. So the
			// question is asked again with what is left to do.
			t.in.Confirm = ""
			done, err = askedChange(ctx, env, c, o, action, t)
		}
		if err == nil {
			err = printOne(env, o, t.harness, action, done)
		} else {
			err = refuse(t, err)
		}
		if err != nil {
			return refused, err
		}
	}
	return refused, nil
}

// needsAnswer reports whether err asks for a confirmation, with the question and
// the digest of the plan.
func needsAnswer(err error) (prompt, digest string, ok bool) {
	var asked *hub.Error
	if !errors.As(err, &asked) || asked.Code != hub.CodeConfirmRequired {
		return "", "", false
	}
	prompt, _ = asked.Detail["prompt"].(string)
	digest, _ = asked.Detail["digest"].(string)
	return prompt, digest, true
}

// askedChange asks the hub for the change, shows its question, and sends the
// confirmation. The hub then makes exactly the shown change, or none.
func askedChange(ctx context.Context, env *Env, c *client.Client, o *adapterChange, action hub.AdapterAction, t adapterTarget) (hub.AdapterResult, error) {
	done, err := c.ChangeAdapter(ctx, t.harness, action, t.in)
	prompt, digest, ok := needsAnswer(err)
	if !ok {
		return done, err
	}
	if !o.yes {
		if err := agree(ctx, env, prompt+"\nGo on?"); err != nil {
			return hub.AdapterResult{}, err
		}
	}
	t.in.Confirm = digest
	return c.ChangeAdapter(ctx, t.harness, action, t.in)
}

// errDeclined is the cause of the failure of a question that was not answered by y.
var errDeclined = errors.New("declined")

// agree shows a question about a plan and takes y or yes as a yes.
func agree(ctx context.Context, env *Env, question string) error {
	text := peertext.Terminal(question)
	if env.colors(env.StderrTerminal) {
		text = paint(text)
	}
	answer, err := ask(ctx, env, text+" [y/N] ")
	if err != nil {
		return err
	}
	if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		return &Failure{Exit: ExitRefused, Sentence: "not confirmed; nothing was changed", Fix: "answer y, or add --yes", Err: errDeclined}
	}
	return nil
}

func printOne(env *Env, o *adapterChange, h hub.Harness, action hub.AdapterAction, done hub.AdapterResult) error {
	if o.json {
		return printJSON(env.Stdout, done)
	}
	return printChanged(env.Stdout, h, action, done)
}

// leftAsTheyAre is the failure of a command for several adapters.
func leftAsTheyAre(refused, of int) error {
	if refused == 0 {
		return nil
	}
	return &Failure{
		Exit: ExitRefused, Sentence: fmt.Sprintf("%d of %d adapters were left as they are", refused, of),
		Fix: "see: hubcli adapter list",
	}
}
