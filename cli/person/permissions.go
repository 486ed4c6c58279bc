package person

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewPermissions makes the command permissions.
func NewPermissions(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Decide here when agents may use their tools",
		Long: `Let the permission prompts of Claude Code and Codex come to "hubcli inbox", and decide
about some of them by rules. It is off until you turn it on, and it needs the hook
permission, which "hubcli adapter install" writes.

The first rule that is about a prompt decides. Without one the prompt is a question to
you: answer it with "hubcli answer", by allow or deny. Without an answer in time the
program asks its user, as if there were no hub. "hubcli inbox --all" shows who decided
what and when. The commands need the secret of the hub, which they read from the store.`,
		Example: `  hubcli app permissions on --wait 30s
  hubcli app permissions deny Bash git push
  hubcli app permissions allow Read --path .
  hubcli app permissions list
  hubcli app permissions move 2 --first
  hubcli app permissions remove 2
  hubcli app permissions off`,
	}
	return opt.Group(cmd, newPermissionsOn(env), newPermissionsOff(env), newPermissionRule(env, hub.PermissionAllow),
		newPermissionRule(env, hub.PermissionDeny), newPermissionsList(env), newPermissionsMove(env), newPermissionsRemove(env))
}

// permissionOptions are the flags of all commands about permission prompts.
type permissionOptions struct {
	opt.BaseURL
	json bool
}

func (o *permissionOptions) add(env *term.Env, cmd *cobra.Command) {
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the rules as JSON")
}

// change reads the policy, changes it and stores it. told are called with the rules then.
func (o *permissionOptions) change(ctx context.Context, env *term.Env, change func(*hub.PermissionPolicyInput) error, told ...func([]hub.PermissionRule)) error {
	var rules []hub.PermissionRule
	err := o.with(ctx, env, func(c *client.Client) (hub.PermissionPolicy, error) {
		p, err := c.PermissionPolicy(ctx)
		if err != nil {
			return p, err
		}
		in := hub.PermissionPolicyInput(p)
		if err := change(&in); err != nil {
			return p, err
		}
		out, err := c.SetPermissionPolicy(ctx, in)
		rules = out.Row.Rules
		return out.Row, err
	})
	for _, tell := range told {
		if err == nil {
			tell(rules)
		}
	}
	return err
}

// with prints the policy that a call returns.
func (o *permissionOptions) with(_ context.Context, env *term.Env, call func(*client.Client) (hub.PermissionPolicy, error)) error {
	anyone, err := o.Client()
	if err != nil {
		return err
	}
	defer anyone.Close()
	p, err := call(anyone.AsOperator())
	switch {
	case err != nil:
		return err
	case o.json:
		return term.PrintJSON(env.Stdout, p)
	}
	return printPermissions(env, &p)
}

func printPermissions(env *term.Env, p *hub.PermissionPolicy) error {
	text := "permission prompts: off\n"
	if p.On {
		text = fmt.Sprintf("permission prompts: on, an answer is waited for %d s\n", p.AnswerSec)
	}
	for i := range p.Rules {
		text += fmt.Sprintf("%3d  %s\n", i+1, peertext.TerminalLine(p.Rules[i].String()))
	}
	_, err := fmt.Fprint(env.Stdout, text)
	return err
}

func newPermissionsOn(env *term.Env) *cobra.Command {
	var o struct {
		permissionOptions
		wait time.Duration
	}
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Let permission prompts come to the inbox",
		Long: `Let the permission prompts of Claude Code and Codex come to "hubcli inbox" from now on,
and let the rules decide. While a prompt waits for your answer its agent waits, too:
Codex shows its own prompt only after that.`,
		Example: `  hubcli app permissions on
  hubcli app permissions on --wait 45s`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.change(cmd.Context(), env, func(in *hub.PermissionPolicyInput) error {
				if in.On = true; cmd.Flags().Changed("wait") {
					in.AnswerSec = int(o.wait / time.Second)
				}
				return nil
			})
		},
	}
	o.wait = hub.DefaultPermissionWait * time.Second
	cmd.Flags().Var(term.DurationValue{To: &o.wait, Min: time.Second, Max: hub.MaxPermissionWaitSec * time.Second, Style: term.InUnits}, "wait", "`time` for which a prompt waits for your answer, such as 45 or 45s; without it the last one stays")
	o.add(env, cmd)
	return cmd
}

func newPermissionsOff(env *term.Env) *cobra.Command {
	var o permissionOptions
	cmd := &cobra.Command{
		Use:     "off",
		Short:   "Let programs ask their own users again",
		Long:    `Let programs ask their own users, as if there were no hub. The rules stay for the next time.`,
		Example: `  hubcli app permissions off`,
		Args:    opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.change(cmd.Context(), env, func(in *hub.PermissionPolicyInput) error {
				in.On = false
				return nil
			})
		},
	}
	o.add(env, cmd)
	return cmd
}

func newPermissionsList(env *term.Env) *cobra.Command {
	var o permissionOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show whether prompts come here, and the rules",
		Long: `Show whether permission prompts come to the inbox, and the rules by their numbers.
Of rules that never decide it says why.`,
		Example: `  hubcli app permissions list
  hubcli app permissions list --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			ctx := cmd.Context()
			var rules []hub.PermissionRule
			err := o.with(ctx, env, func(c *client.Client) (hub.PermissionPolicy, error) {
				p, err := c.PermissionPolicy(ctx)
				rules = p.Rules
				return p, err
			})
			for i := range rules {
				if why := idleRule(rules, i); err == nil && why != "" {
					env.Note("%s", why)
				}
			}
			return err
		},
	}
	o.add(env, cmd)
	return cmd
}

func newPermissionsRemove(env *term.Env) *cobra.Command {
	var o permissionOptions
	cmd := &cobra.Command{
		Use:   "remove <number>",
		Short: "Remove a rule",
		Long: `Remove a rule by its number in "hubcli app permissions list". The rules behind it
move up by one.`,
		Example: `  hubcli app permissions remove 2`,
		Args:    opt.Arity("number"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := ruleNumber(args[0])
			if err != nil {
				return err
			}
			return o.change(cmd.Context(), env, func(in *hub.PermissionPolicyInput) error {
				if n > len(in.Rules) {
					return noRule(n)
				}
				in.Rules = append(in.Rules[:n-1], in.Rules[n:]...)
				return nil
			})
		},
	}
	o.add(env, cmd)
	return cmd
}
