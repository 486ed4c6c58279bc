package person

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

type permissionRuleOptions struct {
	permissionOptions
	path string
	at   int
}

// newPermissionRule makes the commands allow and deny.
func newPermissionRule(env *term.Env, decision hub.PermissionVerdict) *cobra.Command {
	var o permissionRuleOptions
	verb := string(decision)
	cmd := &cobra.Command{
		Use:   verb + " <tool> [words]",
		Short: map[hub.PermissionVerdict]string{hub.PermissionAllow: "Add a rule that lets a tool run", hub.PermissionDeny: "Add a rule that refuses a tool"}[decision],
		Long: `Add a rule about a tool, by its name in Claude Code or Codex, such as Bash, Read or
Write, or * for all tools. Words make it a rule about shell commands that begin with
them; put -- before words that begin with a hyphen. --path makes it a rule about files in
a folder. The folder is stored as an absolute path, so the rule is about this folder
alone. The rule comes after the others, or before rule N with --at N. If it decides
nothing there, the command says so; "hubcli app permissions move" moves it.

An allow rule matches only one plain command: without ; & | > $( quotes that hide a
variable, or patterns. Whatever follows its words is allowed, too, so name commands that
do no harm with any arguments. With --path it matches only a tool that touches one file,
which lies in the folder after all links are followed.

A deny rule looks at each part of a command, also behind sudo or in sh -c. Where its words
may be meant, you are asked, and no later rule allows.`,
		Example: "  hubcli app permissions " + verb + " Bash git push\n  hubcli app permissions " + verb + " Read --path .",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return opt.Arity("tool")(cmd, args)
			}
			return opt.ValidText(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			rule, err := o.rule(cmd, decision, args)
			if err != nil {
				return err
			}
			at := 0
			return o.change(cmd.Context(), env, func(in *hub.PermissionPolicyInput) error {
				if at = len(in.Rules); cmd.Flags().Changed("at") {
					at = min(o.at-1, at)
				}
				for i := range in.Rules {
					if in.Rules[i].String() == rule.String() {
						return term.Usage("leave it, or move it with: hubcli app permissions move", "rule %d is the same: %s", i+1, &rule)
					}
				}
				in.Rules = slices.Insert(in.Rules, at, rule)
				return nil
			}, func(rules []hub.PermissionRule) { noteIdle(env, rules, at) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.path, "path", "", "`folder` or file that the rule is about; {repo} is the work tree of the current folder")
	f.Var(term.IntValue{To: &o.at, Min: 1, Max: hub.MaxPermissionRules}, "at", "`number` that the rule gets (default: after the others)")
	o.add(env, cmd)
	return cmd
}

// rule reads the rule. Words may be given one by one, or within one argument.
func (o *permissionRuleOptions) rule(cmd *cobra.Command, decision hub.PermissionVerdict, args []string) (hub.PermissionRule, error) {
	words := strings.Fields(strings.Join(args, " "))
	if len(words) == 0 {
		return hub.PermissionRule{}, term.Usage("name a tool, such as Bash, or * for all tools", "the tool cannot be empty")
	}
	r := hub.PermissionRule{Decision: decision, Tool: words[0], Words: words[1:]}
	if cmd.Flags().Changed("path") {
		if len(r.Words) > 0 {
			return r, term.Usage("make two rules of it", "a rule has words or --path, and this one has both")
		}
		folder, err := o.folder()
		if err != nil {
			return r, err
		}
		r.Path = folder
	}
	if err := api.CheckPermissionRule(&r); err != nil {
		return r, opt.AsUsage(err)
	}
	return r, nil
}

// repoWord stands for the work tree of the current folder. It is looked up when the rule
// is made: if the hub did so with each prompt, an agent could move the rule elsewhere.
const repoWord = "{repo}"

// folder is the folder that --path names, absolute and without links.
func (o *permissionRuleOptions) folder() (string, error) {
	if rest, ok := strings.CutPrefix(o.path, repoWord); ok {
		top, err := workTree()
		return osfile.RealPath(filepath.Join(top, rest)), err
	}
	if o.path == "" {
		return "", term.Usage("leave --path out, or name a folder", "--path cannot be empty")
	}
	path, err := opt.Absolute("--path", o.path)
	return osfile.RealPath(path), err
}

// workTree is the first folder, from the current one upward, that has a .git.
func workTree() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", term.Usage("name a folder instead, such as --path .", "the folder %s is in no work tree of Git", dir)
		}
	}
}
