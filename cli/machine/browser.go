//go:build !carries && !hub_omit_browser

package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/browser/engine"
)

// NewBrowser makes the command browser.
func NewBrowser(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "browser",
		Short: "Manage the room-browser engine",
		Long: `Find or install the browser engine with which the hub opens pages for agents. The hub
uses the engine that HUBCLI_BROWSER names, else the one that "hubcli browser install" has
installed, else the best one of the machine.`,
		Example: `  hubcli browser engines
  hubcli browser install`,
	}
	return opt.Group(cmd, newBrowserEngines(env), newBrowserInstall(env))
}

// dataRootFlag is --data-root.
type dataRootFlag struct {
	dir  string
	flag *pflag.Flag
}

func (d *dataRootFlag) add(f *pflag.FlagSet) {
	f.StringVar(&d.dir, "data-root", "", "`folder` of the data, if not that of: hubcli data-root")
	d.flag = f.Lookup("data-root")
}

// folder returns the data root.
func (d *dataRootFlag) folder(env *term.Env) (string, error) {
	if !d.flag.Changed {
		return env.DataRoot()
	}
	return opt.Absolute("--data-root", d.dir)
}

func newBrowserEngines(env *term.Env) *cobra.Command {
	var o struct {
		dataRootFlag
		json bool
	}
	cmd := &cobra.Command{
		Use:   "engines",
		Short: "List discovered browser engines in preference order",
		Long: `List the browser engines of this machine, the one that the hub prefers first, with the
version that each of them tells and, if it cannot be used, the reason.

The order: the engine that HUBCLI_BROWSER names (no other is used then), those that
CHROME_PATH, CHROME_BIN and PUPPETEER_EXECUTABLE_PATH name, the managed one of "hubcli
browser install", a headless shell of the system, Chrome, Chromium, Edge, Brave, their
beta, dev and canary versions, and what Playwright and Puppeteer have downloaded. A hub
looks with its own environment, and with its own data root.`,
		Example: `  hubcli browser engines
  HUBCLI_BROWSER=/opt/google/chrome/chrome hubcli browser engines
  hubcli browser engines --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := o.folder(env)
			if err != nil {
				return err
			}
			return runBrowserEngines(cmd.Context(), env, root, o.json)
		},
	}
	o.add(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, list.JSONRows)
	return cmd
}

func runBrowserEngines(ctx context.Context, env *term.Env, root string, asJSON bool) error {
	engines := engine.Discover(ctx, engine.Options{DataRoot: root, Getenv: env.Getenv, Pins: env.BrowserPins, AsNobody: os.Geteuid() == 0})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	chosen, err := engine.Choose(engines)
	switch {
	case asJSON:
		return term.PrintJSON(env.Stdout, engines)
	case len(engines) > 0:
		if err := printEngines(env, engines); err != nil {
			return err
		}
	}
	var none *hub.Error
	if errors.As(err, &none) {
		env.Note("%s; %s", none.Message, none.FixFor(hub.ForCLI))
		return nil
	}
	env.Note("the hub uses number %d", chosen.Preference)
	return err
}

func printEngines(env *term.Env, engines []hub.BrowserEngine) error {
	t := term.NewTable("", ">#", "USABLE", "KIND", "VERSION", "SOURCE", "PATH")
	for _, e := range engines {
		usable, path := "no", e.Path
		if e.Usable {
			usable = "yes"
		}
		if e.Reason != "" {
			path += " (" + e.Reason + ")"
		}
		t.Add(e.Preference, usable, e.Kind, e.Version, e.Source, path)
	}
	_, err := io.WriteString(env.Stdout, strings.Join(t.Lines(term.Screen{}), "\n")+"\n")
	return err
}

func newBrowserInstall(env *term.Env) *cobra.Command {
	var o dataRootFlag
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Download and verify the pinned browser engine",
		Long: `Download the headless shell of Chrome for Testing in the version that this hubcli pins,
and put it into the data root. It is about 125 MB to download and 275 MB on the disk. The
size and the SHA-256 of the archive must be the pinned ones before anything of it is
unpacked. Other versions in the data root are removed.

A download that breaks off goes on where it ended when you run the command again. Proxies
are those of HTTPS_PROXY and NO_PROXY. HUBCLI_BROWSER_MIRROR names a mirror, an https
address that has the archives as <version>/<platform>/<archive>; they must be the pinned
ones there, too.`,
		Example: `  hubcli browser install
  HTTPS_PROXY=http://proxy.example:3128 hubcli browser install
  HUBCLI_BROWSER_MIRROR=https://mirror.example/chrome hubcli browser install`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := o.folder(env)
			if err != nil {
				return err
			}
			return runBrowserInstall(cmd.Context(), env, root)
		},
	}
	o.add(cmd.Flags())
	return cmd
}

func runBrowserInstall(ctx context.Context, env *term.Env, root string) error {
	shown := term.NewMeter(env)
	in := engine.Installer{
		Options:  engine.Options{DataRoot: root, Getenv: env.Getenv, Pins: env.BrowserPins},
		Progress: func(p engine.Progress) { shown.Show(progressText(p), string(p.Stage)) },
	}
	done, err := in.Install(ctx)
	shown.End()
	if ctx.Err() != nil {
		env.Note("nothing was installed; what was downloaded is kept, and the next install goes on with it")
	}
	switch {
	case errors.Is(err, hub.NewError(hub.CodeInvalid, "")): // a variable of the environment
		return opt.AsUsage(err)
	case err != nil:
		return err
	}
	return reportInstalled(env, &done)
}

// progressText is a stage for people.
func progressText(p engine.Progress) string {
	switch {
	case p.Total == 0:
		return "waiting for another install into the same folder"
	case p.Stage == engine.Downloading:
		return fmt.Sprintf("downloading the browser engine: %d of %d MB, %d%%", p.Done/1_000_000, p.Total/1_000_000, p.Done*100/p.Total)
	}
	return fmt.Sprintf("%s the browser engine: %d%%", p.Stage, p.Done*100/p.Total)
}

func reportInstalled(env *term.Env, done *engine.Installed) error {
	what := "is already installed at"
	if done.Fresh {
		what = "is installed at"
	}
	for _, name := range done.Removed {
		env.Note("removed the other version %s", name)
	}
	for _, name := range done.Left {
		env.Note("the other version %s is in use and was left; the next install removes it", name)
	}
	if !done.Usable {
		return term.Fail(term.ExitRefused, "install the libraries that the system lacks, for example with the system's own package of chromium; then see: hubcli browser engines",
			"the browser engine %s %s, but %s", what, done.Path, done.Reason)
	}
	return term.PrintRows(env.Stdout, [][2]string{{"engine", fmt.Sprintf("%s %s %s %s", done.Kind, done.Version, what, done.Path)}})
}

// browserPins are the versions of engines that are installed.
