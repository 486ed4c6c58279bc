package adapter

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// New makes the command adapter.
func New(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "adapter",
		Short: "Configure harness connections",
		Long: `Set the hub up in harnesses, the programs in which agents run: an entry that
starts the bridge (hubcli mcp), hooks that tell the agent about the work in its
room, and, for harnesses without hooks, a short text in the project.

Every change is shown before it is written, and an uninstall removes only what the
hub wrote. Files that cannot be parsed, symbolic links that lead elsewhere and
files of other users are not changed.`,
		Example: `  hubcli adapter list
  hubcli adapter preview claude-code
  hubcli adapter install claude-code
  hubcli adapter verify claude-code`,
	}
	return opt.Group(cmd, newAdapterList(env), newAdapterStatus(env),
		newAdapterPreview(env), newAdapterPreviewUninstall(env),
		newAdapterInstall(env), newAdapterUninstall(env), newAdapterVerify(env), newAdapterRepair(env))
}

// adapterPlace is the place of an adapter: --scope and --path.
type adapterPlace struct {
	scope string
	path  string
}

func (p *adapterPlace) add(f *pflag.FlagSet) {
	f.StringVar(&p.scope, "scope", "", "`scope` of the adapter: global or project (default global, or project with --path and for git)")
	f.StringVar(&p.path, "path", "", "`folder` of the project (default the current folder, for the scope project)")
}

// input makes the path absolute, because the hub's working folder is another. Git
// has an adapter in projects alone, so for Git the scope need not be named.
func (p *adapterPlace) input(h hub.Harness) (hub.AdapterInput, error) {
	in := hub.AdapterInput{Scope: hub.AdapterScope(p.scope)}
	if in.Scope == "" && h == hub.HarnessGit {
		in.Scope = hub.AdapterProject
	}
	switch in.Scope {
	case "", hub.AdapterGlobal, hub.AdapterProject:
	default:
		return in, term.Usage("use --scope global or --scope project", "--scope cannot be %q", p.scope)
	}
	if in.Scope == hub.AdapterGlobal && p.path != "" {
		return in, term.Usage("leave --path out, or use --scope project", "--path has no meaning for the scope global")
	}
	switch {
	case p.path != "":
		abs, err := opt.Absolute("--path", p.path)
		if err != nil {
			return in, err
		}
		in.Scope, in.Path = hub.AdapterProject, abs
	case in.Scope == hub.AdapterProject:
		dir, err := os.Getwd()
		if err != nil {
			return in, term.Usage("name the project with --path", "the current folder is not known: %v", err)
		}
		in.Path = dir
	}
	return in, nil
}

// harnessOf checks the name of a harness.
func harnessOf(name string) (hub.Harness, error) {
	h, ok := hub.ParseHarness(name)
	if !ok {
		return "", term.Usage("see: hubcli adapter list; generic is for every other MCP client", "there is no harness %q", name)
	}
	return h, nil
}
