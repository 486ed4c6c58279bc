package opt

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/daemon"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/lazy"
	"hubcli/internal/osfile"
)

// Defaults of SPEC section 4.2.
const (
	DefaultHost     = "127.0.0.1"
	DefaultStorage  = "hub.sqlite3" // of bare hubcli, in the current folder
	DefaultSpoolDir = ".hub-relay"
	AppStore        = "app.db" // in the data root
)

// Bounds of the limits that an operator may set. The journal still refuses a
// message that is too large for one record.
const (
	MostBodyChars       = 4_000_000
	mostAttachmentChars = 4_000_000
	mostAttachments     = 1_000
)

// Address is where a hub listens: --host and --port.
type Address struct {
	Host string
	Port int
}

func (a *Address) add(f *pflag.FlagSet, minPort int) {
	a.Host, a.Port = DefaultHost, term.DefaultPort
	f.StringVar(&a.Host, "host", a.Host, "address that the hub listens on")
	f.Var(term.IntValue{To: &a.Port, Min: minPort, Max: 65535}, "port", "port that the hub listens on")
}

func (a Address) String() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// BaseURL is how a client on this machine reaches the hub.
func (a Address) BaseURL() string { return daemon.BaseURL(a.Host, a.Port) }

var hostName = lazy.Regexp{Pattern: `^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`}

// check refuses a malformed host.
func (a Address) check() error {
	if a.Host == "" {
		return term.Usage("leave --host out, or name an address such as 127.0.0.1", "--host cannot be empty")
	}
	if net.ParseIP(a.Host) == nil && !hostName.MatchString(a.Host) {
		return term.Usage("name an address such as 127.0.0.1", "--host %q is no address", a.Host)
	}
	return nil
}

// isName reports whether the host is a name other than localhost.
func (a *Address) isName() bool { return a.Host != "localhost" && net.ParseIP(a.Host) == nil }

// resolve replaces a host name by its first address, an IPv4 address if it has one.
func (a *Address) resolve() error {
	if net.ParseIP(a.Host) != nil {
		return nil
	}
	if a.Host == "localhost" { // without the resolver
		a.Host = DefaultHost
		return nil
	}
	ips, err := net.LookupIP(a.Host)
	if err != nil || len(ips) == 0 {
		return term.Usage("name an address such as 127.0.0.1", "--host %s is a name that has no address here", a.Host)
	}
	named := ips[0]
	for _, ip := range ips {
		if ip.To4() != nil {
			named = ip
			break
		}
	}
	a.Host = named.String()
	return nil
}

// Loopback compares the exact name or the parsed address.
func (a Address) Loopback() bool {
	ip := net.ParseIP(a.Host)
	return a.Host == "localhost" || ip != nil && ip.IsLoopback()
}

// Storage is --storage of the commands whose default lies in the data root.
type Storage struct {
	Path  string
	Given bool
}

// Add declares the flags.
func (s *Storage) Add(f *pflag.FlagSet) {
	f.StringVar(&s.Path, "storage", "", "`folder` of the store (default <data-root>/"+AppStore+")")
}

// Resolve makes the path absolute and fills in the default.
func (s *Storage) Resolve(env *term.Env, cmd *cobra.Command) error {
	s.Given = cmd.Flags().Changed("storage")
	if !s.Given {
		root, err := env.DataRoot()
		if err != nil {
			return err
		}
		s.Path = filepath.Join(root, AppStore)
		return nil
	}
	abs, err := Absolute("--storage", s.Path)
	s.Path = abs
	return err
}

// Absolute refuses an empty path and takes a relative one from the current
// folder.
func Absolute(flag, path string) (string, error) {
	if path == "" {
		return "", term.Usage("leave "+flag+" out for the default, or name a folder", "%s cannot be empty", flag)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", term.Usage("give "+flag+" as an absolute path", "%s cannot be resolved: %v", flag, err)
	}
	return abs, nil
}

// LimitFlags are the three --max flags.
type LimitFlags struct{ hub.Limits }

// Add declares the flags.
func (l *LimitFlags) Add(f *pflag.FlagSet) {
	l.Limits = hub.DefaultLimits()
	f.Var(term.IntValue{To: &l.MaxBodyChars, Min: 1, Max: MostBodyChars}, "max-body-chars", "most characters in a message body")
	f.Var(term.IntValue{To: &l.MaxAttachmentChars, Min: 1, Max: mostAttachmentChars}, "max-attachment-chars", "most characters of an attachment, as JSON")
	f.Var(term.IntValue{To: &l.MaxAttachments, Min: 0, Max: mostAttachments}, "max-attachments", "most attachments of a message")
}

// Spool is --spool-dir.
type Spool struct{ Dir string }

// Add declares the flags.
func (s *Spool) Add(f *pflag.FlagSet) {
	f.StringVar(&s.Dir, "spool-dir", DefaultSpoolDir, "`folder` of the file spool for sandboxed agents")
}

// AddAdopt adds --adopt.
func AddAdopt(f *pflag.FlagSet, adopt *bool) {
	f.BoolVar(adopt, "adopt", false, "take over a store that no hub of yours made; its programs, rules and passes are dropped")
}

// Lifeline is the hidden --stop-with-stdin, for programs that start this one as their
// child.
type Lifeline struct{ given bool }

// Add declares the flags.
func (l *Lifeline) Add(f *pflag.FlagSet) {
	const name = "stop-with-stdin"
	f.BoolVar(&l.given, name, false, "")
	f.Lookup(name).Hidden = true
}

// Tie returns a context that ends with stdin if the flag was given.
func (l *Lifeline) Tie(ctx context.Context, stdin io.Reader) (context.Context, context.CancelFunc) {
	if !l.given {
		return ctx, func() {}
	}
	return daemon.EndWithInput(ctx, stdin, term.ErrInterrupted)
}

// AsUsage turns the refusal of a check made here into a usage failure, because
// no hub was called.
func AsUsage(err error) error {
	var h *hub.Error
	if errors.As(err, &h) {
		return &term.Failure{Exit: term.ExitUsage, Sentence: h.Message, Fix: h.Fix, Err: h}
	}
	return err
}

// Arity refuses more or fewer arguments than the names given.
func Arity(names ...string) cobra.PositionalArgs { return Between(len(names), names...) }

// Between is arity where only the first least arguments must be given.
func Between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		fix := "see: " + cmd.CommandPath() + " --help"
		if err := ValidText(cmd, args); err != nil {
			return err
		}
		if len(args) < least {
			return term.Usage(fix, "%s needs its argument %s", cmd.CommandPath(), names[len(args)])
		}
		if len(args) > len(names) {
			if len(names) == 1 {
				fix = "put quotes around the " + names[0]
			}
			return term.Usage(fix, "%s takes no argument %q", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// pathFlags name files, whose names need not be UTF-8.
var pathFlags = []string{"storage", "spool-dir", "relay-dir", "file", "body-file", "out", "profile", "data-root", LogFileFlag, SpoolHereFlag}

// ValidText refuses text that is not UTF-8, because JSON would change it on the
// way to the hub.
func ValidText(cmd *cobra.Command, args []string) (err error) {
	const fix = "give it in UTF-8"
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return term.Usage(fix, "an argument is not valid UTF-8: %q", arg)
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !utf8.ValidString(f.Value.String()) && !slices.Contains(pathFlags, f.Name) {
			err = term.Usage(fix, "--%s is not valid UTF-8", f.Name)
		}
	})
	return err
}

// PathArgument makes the path of an optional argument absolute; without one it is
// the current folder.
func PathArgument(args []string) (string, error) {
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	if path == "" {
		return "", term.Usage("leave the path out for the current folder", "the path cannot be empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", term.Usage("name a folder", "the path has a zero byte")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", term.Usage("give the whole path", "the current folder cannot be found: %v", err)
	}
	return abs, nil
}

// LogFileFlag is a flag that only the start of a hub gives.
const LogFileFlag = "log-file"

// SpoolHereFlag is a flag that only the start of a hub gives.
const SpoolHereFlag = "spool-here"

// LockArgument returns the one name of the file that a path of the command line leads to.
func LockArgument(given string) (string, error) {
	if _, err := PathArgument([]string{given}); err != nil {
		return "", err
	}
	dir, _ := os.Getwd() // PathArgument has found it
	path, err := osfile.LockPath(given, dir)
	if err != nil {
		return "", term.Usage("give the path that the file has on this system", "%s cannot be locked: %v", given, err)
	}
	return path, nil
}

// AddAlwaysJSON adds --json to a command that prints JSON in any case, for those who give it to
// every command.
func AddAlwaysJSON(f *pflag.FlagSet) {
	f.Bool("json", false, "print JSON, as the command does in any case")
}
