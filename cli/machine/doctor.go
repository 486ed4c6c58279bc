package machine

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hubcli/cli/doctor"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
	"hubcli/internal/process"
)

// NewDoctor makes the command doctor.
func NewDoctor(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		opt.Storage
		salvage string
		adopt   bool
		json    bool
	}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong with this installation, and what to do",
		Long: `Look at the program, the hub and its store, the files in the data root, the adapters
and the disk. Each line says ok, warn or fail, what was found and what to do. The
command changes nothing. It ends with exit code 1 if a line says fail. It reads all of a
store that no hub serves, and names the files of it that are damaged.

With --salvage it makes a new store, in a folder that does not exist yet, of all that is
whole in a damaged one, and lists what is missing. It does not change the damaged store.
The new store has an identity of its own and gives out no number again. A damaged store
that no hub of yours made is salvaged with --adopt alone: the first start drops the
programs, rules, connections and passes in it and renews its secrets.`,
		Example: `  hubcli app doctor
  hubcli app doctor --json
  hubcli app doctor --salvage ./salvaged
  hubcli app doctor --storage ./old --salvage ./salvaged`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Storage.Resolve(env, cmd); err != nil && (o.Given || o.salvage != "") {
				return err // without a data root the doctor looks at the rest
			}
			if !cmd.Flags().Changed("salvage") {
				if o.adopt {
					return term.Usage("leave --adopt out, or add --salvage", "--adopt is about the store that --salvage makes")
				}
				return runAppDoctor(cmd.Context(), env, &o.BaseURL, &o.Storage, o.json)
			}
			if cmd.Flags().Changed("base-url") {
				return term.Usage("leave --base-url out", "--salvage reads the folder of a store and asks no hub")
			}
			to, err := opt.Absolute("--salvage", o.salvage)
			if err != nil {
				return err
			}
			return runSalvage(env, o.Path, to, o.adopt, o.json)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	o.Storage.Add(cmd.Flags())
	cmd.Flags().StringVar(&o.salvage, "salvage", "", "make a store in this `folder` of everything that is whole in the damaged one")
	opt.AddAdopt(cmd.Flags(), &o.adopt)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the findings as JSON")
	return cmd
}

// doctorReport is what --json prints.
type doctorReport struct {
	OK       bool             `json:"ok"` // no finding is fail
	Findings []doctor.Finding `json:"findings"`
}

func runAppDoctor(ctx context.Context, env *term.Env, base *opt.BaseURL, store *opt.Storage, asJSON bool) error {
	m := doctor.Machine{
		Version: env.Version, Executable: env.Executable, Getenv: env.Getenv,
		BaseURL: base.URL, Named: base.Flag.Changed || env.Getenv(hook.EnvBaseURL) != "",
		Inspect: env.InspectStore, Examine: env.ExamineStore, Store: store.Path, StoreNamed: store.Given, Stopped: env.Machine().Stopped, Look: process.Look, FixOf: fixOf, LostCache: env.LostCache,
	}
	if root, err := env.DataRoot(); err == nil {
		m.DataRoot = root
	}
	r := doctorReport{OK: true, Findings: doctor.Examine(ctx, m)}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, f := range r.Findings {
		r.OK = r.OK && f.Level != doctor.Fail
	}
	var err error
	if asJSON {
		err = term.PrintJSON(env.Stdout, r)
	} else {
		err = printFindings(env.Stdout, r.Findings)
	}
	if err == nil && !r.OK {
		err = &term.Failure{Exit: term.ExitRefused}
	}
	return err
}

func printFindings(w io.Writer, findings []doctor.Finding) error {
	for _, f := range findings {
		line := fmt.Sprintf("%-4s  %-8s  %s", f.Level, f.Check, f.Text)
		if f.Fix != "" {
			line += " | fix: " + f.Fix
		}
		if _, err := fmt.Fprintln(w, peertext.TerminalLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// fixOf returns the way out that an error of this package carries.
func fixOf(err error) string {
	var f *term.Failure
	if errors.As(err, &f) {
		return f.Fix
	}
	return ""
}
