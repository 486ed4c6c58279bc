package machine

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/peertext"
)

// setting is one choice that commands, bridges and hooks of this user make, and where it comes from.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // empty: it is not set
	From  string `json:"from"`  // without a value, what holds instead
}

// variable is a variable of the environment, and what holds without it.
type variable struct{ name, unset string }

// variables are those of docs/operations.md that are one choice each. The keys of providers are not among them: a
// key is printed nowhere.
var variables = []variable{
	{"HUB_AGENT", "a command wants --agent"},
	{"HUB_ROOM", "an agent works in the room of its folder"},
	{"HUB_AUTO_ROOMS", "an agent that needs a room gets one for its repository"},
	{"HUB_ASK_HERE", "questions stand in the terminal where an answer elsewhere ends them"},
	{"HUB_MIRROR_TASKS", "tasks of a harness's own list stay there"},
	{"HUB_WITHOUT_TERMINAL", "a session whose terminal was quit is not woken"},
	{"HUB_SECRETS_FILE", "keys are in the credential store of the system"},
	{"HUB_SECRETS_IDENTITY", "no encrypted file is opened"},
	{"HUBCLI_BROWSER", "the first browser engine that is found is used"},
	{"HUBCLI_BROWSER_MIRROR", "engines come from their makers"},
	{"HUBCLI_BROWSER_NO_SANDBOX", "engines run in their sandbox"},
}

// NewConfig makes the command config.
func NewConfig(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings in force, and where each comes from",
		Long: `Print what commands, bridges and hooks that start here now would use: the address of
the hub, the data root and the store, the agent, and every other variable of the
environment that hubcli knows. Each line says where its value comes from: a flag, a
variable, a file of the data root, or the default.

A hub that runs keeps the environment in which it was started: "hubcli app status"
shows that hub. Keys of providers are not shown: "hubcli connection list" says where
each is. The command asks no hub and writes nothing.`,
		Example: `  hubcli app config
  hubcli config --json
  HUB_AGENT=lead hubcli config`,
		Args: opt.Arity(),
		RunE: func(*cobra.Command, []string) error {
			root, err := env.DataRoot()
			if err != nil {
				return err
			}
			if err := o.Check(); err != nil {
				return err
			}
			all := settings(env, &o.BaseURL, root)
			if o.json {
				return term.PrintJSON(env.Stdout, all)
			}
			return printSettings(env.Stdout, all)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON array of name, value and from")
	return cmd
}

func printSettings(w io.Writer, all []setting) error {
	width := 0
	for _, s := range all {
		width = max(width, len(s.Name))
	}
	for _, s := range all {
		value := peertext.TerminalLine(s.Value) + "  (" + s.From + ")"
		if s.Value == "" {
			value = "not set: " + s.From
		}
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, s.Name, value); err != nil {
			return err
		}
	}
	return nil
}

// settings lists what is in force.
func settings(env *term.Env, base *opt.BaseURL, root string) []setting {
	rootFrom := "the usual place of the system"
	switch {
	case env.Getenv("HUB_DATA_ROOT") != "":
		rootFrom = "HUB_DATA_ROOT"
	case runtime.GOOS == "linux" && env.Getenv("XDG_DATA_HOME") != "":
		rootFrom = "XDG_DATA_HOME"
	}
	all := []setting{
		{"hub", base.URL, base.Source()},
		{"data root", root, rootFrom},
		{"store", filepath.Join(root, opt.AppStore), "the data root; hubcli ensure --storage chooses another"},
	}
	for _, v := range variables {
		s := setting{v.name, env.Getenv(v.name), "the environment"}
		if s.Value == "" {
			s.From = v.unset
		}
		all = append(all, s)
	}
	return all
}
