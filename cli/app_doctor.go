package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"hubcli/cli/doctor"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
	"hubcli/internal/process"
)

func newAppDoctor(env *Env) *cobra.Command {
	var o struct {
		baseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong with this installation, and what to do",
		Long: `Look at the program, the hub and its store, the files in the data root, the adapters
and the disk. Each line says ok, warn or fail, what was found and what to do. The
command changes nothing. It ends with exit code 1 if a line says fail.`,
		Example: `  hubcli app doctor
  hubcli app doctor --json`,
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAppDoctor(cmd.Context(), env, &o.baseURL, o.json)
		},
	}
	o.baseURL.add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the findings as JSON")
	return cmd
}

// doctorReport is what --json prints.
type doctorReport struct {
	OK       bool             `json:"ok"` // no finding is fail
	Findings []doctor.Finding `json:"findings"`
}

func runAppDoctor(ctx context.Context, env *Env, base *baseURL, asJSON bool) error {
	m := doctor.Machine{
		Version: env.Version, Executable: env.Executable, Getenv: env.Getenv,
		BaseURL: base.url, Named: base.flag.Changed || env.Getenv(hook.EnvBaseURL) != "",
		Inspect: env.InspectStore, Stopped: env.machine().Stopped, Look: process.Look, FixOf: fixOf,
	}
	if root, err := env.dataRoot(); err == nil {
		m.DataRoot, m.Store = root, filepath.Join(root, appStore)
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
		err = printJSON(env.Stdout, r)
	} else {
		err = printFindings(env.Stdout, r.Findings)
	}
	if err == nil && !r.OK {
		err = &Failure{Exit: ExitRefused}
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
	var f *Failure
	if errors.As(err, &f) {
		return f.Fix
	}
	return ""
}
