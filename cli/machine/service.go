//go:build !carries && !hub_omit_service

package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/integrations/service"
	"hubcli/internal/hubfile"
	"hubcli/internal/peertext"
)

// NewService makes the command service.
func NewService(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Let systemd or launchd start the hub at each login",
		Long: `Write the file by which the service manager of this user starts the hub at each login
and again after a crash: a user unit of systemd on Linux, an agent of launchd on macOS.
Nothing is written before you have seen it, and only a file that hubcli wrote is removed.`,
		Example: `  hubcli app service preview
  hubcli app service install
  hubcli app service status
  hubcli app service uninstall`,
	}
	return opt.Group(cmd, newServicePreview(env), newServiceInstall(env), newServiceUninstall(env), newServiceStatus(env))
}

// serviceOptions are the flags of the hub that the service manager starts.
type serviceOptions struct {
	opt.AddressFlags
	opt.Storage
	opt.Spool
	allowRemote bool
	quiet       bool
	noAutoRooms bool
	manager     string
}

func (o *serviceOptions) add(env *term.Env, f *pflag.FlagSet) {
	o.AddressFlags.Add(env, f, 1)
	o.Storage.Add(f)
	o.Spool.Add(f)
	f.BoolVar(&o.allowRemote, "allow-remote", false, "let --host name an address that other machines reach")
	f.BoolVar(&o.quiet, "quiet", false, "log warnings and errors only")
	opt.AddNoAutoRooms(f, &o.noAutoRooms)
	o.manager = string(service.KindOf(runtime.GOOS))
	var kinds []string
	for _, kind := range service.Kinds() {
		kinds = append(kinds, string(kind))
	}
	f.Var(term.ChoiceValue{To: &o.manager, Choices: kinds}, "manager", "service manager: "+strings.Join(kinds, ", "))
}

// serviceFile is the service, and where its file belongs.
type serviceFile struct {
	service.Service
	path string
}

// settle decides what the file says.
func (o *serviceOptions) settle(env *term.Env, cmd *cobra.Command) (*serviceFile, error) {
	if o.manager == "" {
		return nil, term.Usage("start the hub at logon by a scheduled task: schtasks /create /tn hubcli /sc onlogon /tr \"hubcli ensure\"",
			"hubcli writes services for systemd and launchd, and %s has neither", runtime.GOOS)
	}
	if err := o.AddressFlags.Settle(true); err != nil {
		return nil, err
	}
	if !o.Loopback() && !o.allowRemote {
		return nil, opt.RemoteRefused(o.Host)
	}
	if err := o.Storage.Resolve(env, cmd); err != nil {
		return nil, err
	}
	exe, err := installed(env)
	if err != nil {
		return nil, err
	}
	s := &serviceFile{Service: service.Service{Kind: service.Kind(o.manager), Name: "hubcli", Exec: []string{exe}}}
	if own, _ := env.OwnPort(); o.Port != own {
		s.Name = fmt.Sprintf("hubcli-%d", o.Port)
	}
	start := StartOptions{
		AddressFlags: o.AddressFlags, Storage: o.Storage, Spool: o.Spool, AllowRemote: o.allowRemote, Quiet: o.quiet, NoAutoRooms: o.noAutoRooms,
	}
	args, err := start.serviceArgs(cmd)
	if err != nil {
		return nil, err
	}
	s.Exec = append(s.Exec, args...)
	if hubfile.DataRootMoved(env.Getenv, runtime.GOOS) { // the service manager has another environment
		root, err := env.DataRoot()
		if err != nil {
			return nil, err
		}
		s.Env = map[string]string{"HUB_DATA_ROOT": root}
	}
	home := env.Getenv("HOME")
	if home == "" {
		return nil, term.Usage("set HOME to your home folder", "the environment names no home folder, in which the file of a service belongs")
	}
	s.path = s.Path(home, env.Getenv)
	if err := s.Check(); err != nil {
		return nil, term.Usage("use other names for the folders, or write the file of the service yourself", "%v", err)
	}
	return s, nil
}

// installed returns the path under which the executable is found: the one in the
// PATH if it is the same file, because an update replaces that one.
func installed(e *term.Env) (string, error) {
	self, err := e.Executable()
	if err != nil {
		return "", term.Usage("start hubcli with its whole path", "the path of the executable is not known: %v", err)
	}
	named, err := exec.LookPath("hubcli")
	if err != nil || !filepath.IsAbs(named) {
		return self, nil
	}
	one, err := os.Stat(self)
	two, also := os.Stat(named)
	if err == nil && also == nil && os.SameFile(one, two) {
		return named, nil
	}
	return self, nil
}

func newServicePreview(env *term.Env) *cobra.Command {
	var o serviceOptions
	cmd := &cobra.Command{
		Use:   "preview",
		Short: "Print the exact file that install would write",
		Long: `Print the exact bytes that install would write to standard output, and on standard
error where. It writes nothing. --manager shows the file for another system.`,
		Example: `  hubcli app service preview
  hubcli app service preview --manager launchd --port 7001`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := o.settle(env, cmd)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Stderr, "the file is %s\n", peertext.TerminalLine(s.path))
			_, err = env.Stdout.Write(s.Content())
			return err
		},
	}
	o.add(env, cmd.Flags())
	return cmd
}

func newServiceInstall(env *term.Env) *cobra.Command {
	var o serviceOptions
	var yes, enable bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the file of the service",
		Long: `Show the file of the service, ask, and write it. It takes effect with the command that
is printed then, or at once with --enable. A file that hubcli did not write, or that
somebody has changed, is left alone.

The hub uses the store of "hubcli ensure". Stop a hub that runs before the service
starts its own: hubcli stop.`,
		Example: `  hubcli app service install
  hubcli app service install --yes --enable`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := o.settle(env, cmd)
			if err != nil {
				return err
			}
			if err := s.ours(); err != nil {
				return err
			}
			return runServiceInstall(cmd.Context(), env, s, yes, enable)
		},
	}
	f := cmd.Flags()
	o.add(env, f)
	f.BoolVarP(&yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	f.BoolVar(&enable, "enable", false, "start the hub now and at each login")
	return cmd
}

// ours refuses a service manager that is not this system's.
func (s *serviceFile) ours() error {
	if own := service.KindOf(runtime.GOOS); s.Kind != own {
		return term.Usage("leave --manager out; preview shows the file for other systems", "this system has no %s", s.Kind)
	}
	return nil
}

func runServiceInstall(ctx context.Context, env *term.Env, s *serviceFile, yes, enable bool) error {
	state, err := s.Look(s.path)
	if err != nil {
		return s.failure(err)
	}
	shown := peertext.TerminalLine(s.path)
	switch state {
	case service.Changed, service.Foreign:
		return s.failure(service.ErrNotOurs)
	case service.Installed:
		fmt.Fprintf(env.Stdout, "%s is installed already\n", shown)
	case service.Absent, service.Outdated:
		if !yes {
			question := fmt.Sprintf("%s\nWrite this to %s? Type yes to go on: ", peertext.Terminal(string(s.Content())), shown)
			if err := confirm(ctx, env, question, "nothing was written"); err != nil {
				return err
			}
		}
		if err := s.Install(s.path); err != nil {
			return s.failure(err)
		}
		fmt.Fprintf(env.Stdout, "wrote %s\n", shown)
	}
	commands := s.Enable(s.path, os.Getuid())
	if !enable {
		_, err := fmt.Fprintf(env.Stdout, "start the hub now and at each login: %s\n", commandLine(commands))
		return err
	}
	if err := runAll(ctx, commands); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "the hub is started now and at each login; see: hubcli app service status\n")
	return err
}

func newServiceUninstall(env *term.Env) *cobra.Command {
	var o serviceOptions
	var disable bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the file of the service",
		Long: `Remove the file of the service, if it is as hubcli wrote it. A service that is enabled
is not removed before it is disabled: --disable stops the hub and disables it first. The
store stays.`,
		Example: `  hubcli app service uninstall
  hubcli app service uninstall --disable`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := o.settle(env, cmd)
			if err != nil {
				return err
			}
			if err := s.ours(); err != nil {
				return err
			}
			return runServiceUninstall(cmd.Context(), env, s, disable)
		},
	}
	o.add(env, cmd.Flags())
	cmd.Flags().BoolVar(&disable, "disable", false, "stop the hub and disable the service first")
	return cmd
}

func runServiceUninstall(ctx context.Context, env *term.Env, s *serviceFile, disable bool) error {
	shown := peertext.TerminalLine(s.path)
	state, err := s.Look(s.path)
	switch {
	case err != nil:
		return s.failure(err)
	case state == service.Absent:
		_, err := fmt.Fprintf(env.Stdout, "there is no %s; nothing to remove\n", shown)
		return err
	case state == service.Changed, state == service.Foreign:
		return s.failure(service.ErrNotOurs)
	}
	commands := s.Disable(os.Getuid())
	if disable {
		if err := runAll(ctx, commands); err != nil {
			return err
		}
	} else if s.Kind == service.Systemd && s.Enabled(s.path) {
		return term.Fail(term.ExitRefused, "add --disable, or run first: "+commandLine(commands), "the service %s is enabled", s.Name)
	}
	if err := s.Remove(s.path); err != nil {
		return s.failure(err)
	}
	_, err = fmt.Fprintf(env.Stdout, "removed %s\n", shown)
	return err
}

func newServiceStatus(env *term.Env) *cobra.Command {
	var o serviceOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether the service is installed and whether its hub answers",
		Long: `Show the file of the service, whether it is as install would write it now, whether it is
enabled, and whether a hub answers at its address.`,
		Example: `  hubcli app service status
  hubcli app service status --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := o.settle(env, cmd)
			if err != nil {
				return err
			}
			state, err := s.Look(s.path)
			if err != nil {
				return s.failure(err)
			}
			status := serviceStatus{
				File: s.path, State: state, Enabled: s.Enabled(s.path),
				Answers: daemon.Probe(cmd.Context(), o.BaseURL()).Kind == daemon.Hub, BaseURL: o.BaseURL(),
			}
			if asJSON {
				return term.PrintJSON(env.Stdout, status)
			}
			return term.PrintRows(env.Stdout, [][2]string{
				{"file", status.File},
				{"state", string(status.State)},
				{"enabled", term.YesNo(status.Enabled)},
				{"hub", map[bool]string{true: "answers at ", false: "does not answer at "}[status.Answers] + status.BaseURL},
			})
		},
	}
	o.add(env, cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

// serviceStatus is what status shows.
type serviceStatus struct {
	File    string        `json:"file"`
	State   service.State `json:"state"`
	Enabled bool          `json:"enabled"`
	Answers bool          `json:"answers"`
	BaseURL string        `json:"base_url"`
}

func (s *serviceFile) failure(err error) error {
	if errors.Is(err, service.ErrNotOurs) {
		return term.Fail(term.ExitRefused, "look at the file; move it to another place if it may go",
			"%s is not as hubcli wrote it, and is left alone", s.path)
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return term.Fail(term.ExitRefused, "make the folder writable, or write what preview prints yourself", "%s cannot be used: %v", s.path, err)
}

// commandLine shows commands as a line for a shell.
func commandLine(commands [][]string) string {
	var lines []string
	for _, words := range commands {
		quoted := make([]string, len(words))
		for i, word := range words {
			if strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune("-./:_@", r) && !isPlain(r) }) {
				word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
			}
			quoted[i] = word
		}
		lines = append(lines, strings.Join(quoted, " "))
	}
	return strings.Join(lines, " && ")
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// runAll runs the commands of a service manager.
func runAll(ctx context.Context, commands [][]string) error {
	for _, words := range commands {
		out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			return term.Fail(term.ExitRefused, "run it yourself and see what it says", "%s failed: %v: %s", strings.Join(words, " "), err, said)
		}
	}
	return nil
}
