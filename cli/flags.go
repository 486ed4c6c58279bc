package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/internal/lazy"
)

// Defaults of SPEC section 4.2.
const (
	defaultHost     = "127.0.0.1"
	defaultPort     = 6969
	defaultStorage  = "hub.sqlite3" // of bare hubcli, in the current folder
	defaultSpoolDir = ".hub-relay"
	appStore        = "app.db" // in the data root
)

// Bounds of the limits that an operator may set. The journal still refuses a
// message that is too large for one record.
const (
	mostBodyChars       = 4_000_000
	mostAttachmentChars = 4_000_000
	mostAttachments     = 1_000
)

// address is where a hub listens: --host and --port.
type address struct {
	host string
	port int
}

func (a *address) add(f *pflag.FlagSet, minPort int) {
	a.host, a.port = defaultHost, defaultPort
	f.StringVar(&a.host, "host", a.host, "address that the hub listens on")
	f.Var(intValue{&a.port, minPort, 65535}, "port", "port that the hub listens on")
}

func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

// baseURL is how a client on this machine reaches the hub.
func (a address) baseURL() string { return daemon.BaseURL(a.host, a.port) }

var hostName = lazy.Regexp{Pattern: `^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`}

// check refuses a malformed host.
func (a address) check() error {
	if a.host == "" {
		return usage("leave --host out, or name an address such as 127.0.0.1", "--host cannot be empty")
	}
	if net.ParseIP(a.host) == nil && !hostName.MatchString(a.host) {
		return usage("name an address such as 127.0.0.1", "--host %q is no address", a.host)
	}
	return nil
}

// isName reports whether the host is a name other than localhost.
func (a *address) isName() bool { return a.host != "localhost" && net.ParseIP(a.host) == nil }

// resolve replaces a host name by its first address, an IPv4 address if it has one.
func (a *address) resolve() error {
	if net.ParseIP(a.host) != nil {
		return nil
	}
	if a.host == "localhost" { // without the resolver
		a.host = defaultHost
		return nil
	}
	ips, err := net.LookupIP(a.host)
	if err != nil || len(ips) == 0 {
		return usage("name an address such as 127.0.0.1", "--host %s is a name that has no address here", a.host)
	}
	named := ips[0]
	for _, ip := range ips {
		if ip.To4() != nil {
			named = ip
			break
		}
	}
	a.host = named.String()
	return nil
}

// loopback compares the exact name or the parsed address.
func (a address) loopback() bool {
	ip := net.ParseIP(a.host)
	return a.host == "localhost" || ip != nil && ip.IsLoopback()
}

// storage is --storage of the commands whose default lies in the data root.
type storage struct {
	path  string
	given bool
}

func (s *storage) add(f *pflag.FlagSet) {
	f.StringVar(&s.path, "storage", "", "`folder` of the store (default <data-root>/"+appStore+")")
}

// resolve makes the path absolute and fills in the default.
func (s *storage) resolve(env *Env, cmd *cobra.Command) error {
	s.given = cmd.Flags().Changed("storage")
	if !s.given {
		root, err := env.dataRoot()
		if err != nil {
			return err
		}
		s.path = filepath.Join(root, appStore)
		return nil
	}
	abs, err := absolute("--storage", s.path)
	s.path = abs
	return err
}

// absolute refuses an empty path and takes a relative one from the current
// folder.
func absolute(flag, path string) (string, error) {
	if path == "" {
		return "", usage("leave "+flag+" out for the default, or name a folder", "%s cannot be empty", flag)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", usage("give "+flag+" as an absolute path", "%s cannot be resolved: %v", flag, err)
	}
	return abs, nil
}

// limits are the three --max flags.
type limits struct{ hub.Limits }

func (l *limits) add(f *pflag.FlagSet) {
	l.Limits = hub.DefaultLimits()
	f.Var(intValue{&l.MaxBodyChars, 1, mostBodyChars}, "max-body-chars", "most characters in a message body")
	f.Var(intValue{&l.MaxAttachmentChars, 1, mostAttachmentChars}, "max-attachment-chars", "most characters of an attachment, as JSON")
	f.Var(intValue{&l.MaxAttachments, 0, mostAttachments}, "max-attachments", "most attachments of a message")
}

// spool is --spool-dir.
type spool struct{ dir string }

func (s *spool) add(f *pflag.FlagSet) {
	f.StringVar(&s.dir, "spool-dir", defaultSpoolDir, "`folder` of the file spool for sandboxed agents")
}

// addAdopt adds --adopt.
func addAdopt(f *pflag.FlagSet, adopt *bool) {
	f.BoolVar(adopt, "adopt", false, "take over a store that no hub of yours made; its programs, rules and passes are dropped")
}

// lifeline is the hidden --stop-with-stdin, for programs that start this one as their
// child.
type lifeline struct{ given bool }

func (l *lifeline) add(f *pflag.FlagSet) {
	const name = "stop-with-stdin"
	f.BoolVar(&l.given, name, false, "")
	f.Lookup(name).Hidden = true
}

// tie returns a context that ends with stdin if the flag was given.
func (l *lifeline) tie(ctx context.Context, stdin io.Reader) (context.Context, context.CancelFunc) {
	if !l.given {
		return ctx, func() {}
	}
	return daemon.EndWithInput(ctx, stdin, errInterrupted)
}

// asUsage turns the refusal of a check made here into a usage failure, because
// no hub was called.
func asUsage(err error) error {
	var h *hub.Error
	if errors.As(err, &h) {
		return &Failure{Exit: ExitUsage, Sentence: h.Message, Fix: h.Fix, Err: h}
	}
	return err
}

// arity refuses more or fewer arguments than the names given.
func arity(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// between is arity where only the first least arguments must be given.
func between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		fix := "see: " + cmd.CommandPath() + " --help"
		if err := validText(cmd, args); err != nil {
			return err
		}
		if len(args) < least {
			return usage(fix, "%s needs its argument %s", cmd.CommandPath(), names[len(args)])
		}
		if len(args) > len(names) {
			if len(names) == 1 {
				fix = "put quotes around the " + names[0]
			}
			return usage(fix, "%s takes no argument %q", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// pathFlags name files, whose names need not be UTF-8.
var pathFlags = []string{"storage", "spool-dir", "relay-dir", "file", "body-file", "out", "profile", "data-root", logFileFlag, spoolHereFlag}

// validText refuses text that is not UTF-8, because JSON would change it on the
// way to the hub.
func validText(cmd *cobra.Command, args []string) (err error) {
	const fix = "give it in UTF-8"
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return usage(fix, "an argument is not valid UTF-8: %q", arg)
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !utf8.ValidString(f.Value.String()) && !slices.Contains(pathFlags, f.Name) {
			err = usage(fix, "--%s is not valid UTF-8", f.Name)
		}
	})
	return err
}
