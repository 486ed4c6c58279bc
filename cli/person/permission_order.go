package person

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
)

// idleRule says why a rule of a policy decides nothing, or less than its words say; empty:
// nothing is wrong with it. Rules are counted from 0 here.
func idleRule(rules []hub.PermissionRule, at int) string {
	r := &rules[at]
	number := fmt.Sprintf("rule %d, %s,", at+1, r)
	switch {
	case len(r.Words) > 0 && hook.FileTool(r.Tool):
		return number + " never decides: " + r.Tool + " runs no command, and words are about commands"
	case r.Decision == hub.PermissionAllow && r.Path != "" && r.Tool != hub.AnyTool && !hook.FileTool(r.Tool):
		return number + " never decides: the hub does not know which one file " + r.Tool + " touches"
	}
	for before := range rules[:at] {
		b := &rules[before]
		if !covers(b, r) {
			continue
		}
		first := fmt.Sprintf(" rule %d, %s, comes first; see: hubcli app permissions move --help", before+1, b)
		if b.Decision == hub.PermissionAllow && r.Decision == hub.PermissionDeny {
			return number + " does not refuse what is allowed before:" + first
		}
		return number + " never decides:" + first
	}
	if r.Decision == hub.PermissionAllow && slices.ContainsFunc(r.Words, func(w string) bool { return strings.ContainsAny(w, "*?") }) {
		return number + " has a word with a pattern, which stands for itself: whatever follows the words is allowed without it"
	}
	return ""
}

// covers reports whether a rule is about everything that another names.
func covers(b, r *hub.PermissionRule) bool {
	sameTool := b.Tool == hub.AnyTool || b.Tool == r.Tool || b.Decision == hub.PermissionDeny && strings.EqualFold(b.Tool, r.Tool)
	switch {
	case !sameTool:
		return false
	case len(b.Words) > 0:
		return len(r.Words) >= len(b.Words) && slices.Equal(r.Words[:len(b.Words)], b.Words)
	case b.Path != "":
		inside, err := filepath.Rel(b.Path, r.Path)
		return r.Path != "" && err == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator))
	}
	return true
}

// noteIdle tells of the rules that decide nothing where a rule is now: of this one, and of
// those behind it for which it is the reason.
func noteIdle(env *term.Env, rules []hub.PermissionRule, at int) {
	for i := at; i < len(rules); i++ {
		why := idleRule(rules, i)
		if why != "" && (i == at || covers(&rules[at], &rules[i])) {
			env.Note("%s", why)
		}
	}
}

func newPermissionsMove(env *term.Env) *cobra.Command {
	var o struct {
		permissionOptions
		before      int
		first, last bool
	}
	cmd := &cobra.Command{
		Use:   "move <number>",
		Short: "Move a rule before another",
		Long: `Move a rule, by its number in "hubcli app permissions list", before another one, or to
the first or the last place. The first rule that is about a prompt decides, so a rule
about less belongs before one about more.`,
		Example: `  hubcli app permissions move 3 --before 1
  hubcli app permissions move 1 --last`,
		Args: opt.Arity("number"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := ruleNumber(args[0])
			if err != nil {
				return err
			}
			places := 0
			for _, name := range []string{"before", "first", "last"} {
				if cmd.Flags().Changed(name) {
					places++
				}
			}
			if places != 1 {
				return term.Usage("give one of --before, --first and --last", "a rule is moved to one place")
			}
			at := 0
			err = o.change(cmd.Context(), env, func(in *hub.PermissionPolicyInput) error {
				to := max(o.before, 1)
				if o.last {
					to = len(in.Rules) + 1
				}
				for _, number := range []int{n, to} {
					if number > len(in.Rules) && (number != to || !o.last) {
						return noRule(number)
					}
				}
				in.Rules, at = movedRule(in.Rules, n-1, to-1)
				return nil
			}, func(rules []hub.PermissionRule) { noteIdle(env, rules, at) })
			return err
		},
	}
	f := cmd.Flags()
	f.Var(term.IntValue{To: &o.before, Min: 1, Max: hub.MaxPermissionRules}, "before", "`number` of the rule that comes behind it then")
	f.BoolVar(&o.first, "first", false, "move it before all others")
	f.BoolVar(&o.last, "last", false, "move it behind all others")
	o.add(env, cmd)
	return cmd
}

// movedRule moves a rule before the one at to, and returns where it is then.
func movedRule(rules []hub.PermissionRule, from, to int) ([]hub.PermissionRule, int) {
	rule := rules[from]
	rules = slices.Delete(rules, from, from+1)
	if to > from {
		to--
	}
	return slices.Insert(rules, to, rule), to
}

// ruleNumber reads the number of a rule.
func ruleNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, term.Usage(seeRules, "%q is no number of a rule", text)
	}
	return n, nil
}

const seeRules = "hubcli app permissions list shows the rules with their numbers"

func noRule(n int) error { return term.Usage(seeRules, "there is no rule %d", n) }
