package machine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// logLook is the time between two looks at a log file that is followed.
const logLook = 250 * time.Millisecond

type logsOptions struct {
	opt.BaseURL
	storage string
	tail    int
	all     bool
	follow  bool
}

// NewLogs makes the command logs.
func NewLogs(env *term.Env) *cobra.Command {
	o := logsOptions{tail: list.LogTail}
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show the hub's own log, and follow it",
		Long: `Show the last lines of the log that a hub in the background writes to hub.log in its
store: of the hub that answers at the address; of the store that --storage names; or, if
no hub answers and no address is given, of the store in the data root. What agents say
is in "hubcli log".

With -f it goes on with new lines until Ctrl-C, also when the hub begins a new file.`,
		Example: `  hubcli app logs
  hubcli app logs -f
  hubcli app logs --all | grep WARN`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.all && cmd.Flags().Changed("tail") {
				return term.Usage("leave one of them out", "--all and --tail exclude each other")
			}
			path, err := o.path(cmd.Context(), env, cmd)
			if err != nil {
				return err
			}
			return runAppLogs(cmd.Context(), env, &o, path)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with new lines until Ctrl-C")
	f.Var(term.IntValue{To: &o.tail, Min: 0, Max: math.MaxInt32}, "tail", "how many of the last `lines` to show")
	f.BoolVar(&o.all, "all", false, "show all lines of the file")
	f.StringVar(&o.storage, "storage", "", "`folder` of the store (default that of the hub that answers)")
	o.BaseURL.Add(env, f)
	return cmd
}

// path finds the log file.
func (o *logsOptions) path(ctx context.Context, env *term.Env, cmd *cobra.Command) (string, error) {
	if cmd.Flags().Changed("storage") {
		store, err := opt.Absolute("--storage", o.storage)
		return daemon.LogPath(store), err
	}
	c, err := o.Client()
	if err != nil {
		return "", err
	}
	defer c.Close()
	info, err := c.Info(ctx)
	switch {
	case err == nil && !client.OnThisMachine(o.URL):
		return "", term.Usage("run the command there, or name a store with --storage", "the hub at %s writes its log on its own machine", c.BaseURL())
	case err == nil && !c.Proved(): // it could name any file
		return "", term.Usage("name a store with --storage", "the hub at %s is not known to be yours", c.BaseURL())
	case err == nil:
		return daemon.LogPath(info.StoragePath), nil
	case o.Flag.Changed || o.Inherited || ctx.Err() != nil:
		return "", err
	}
	root, err := env.DataRoot()
	return daemon.LogPath(filepath.Join(root, opt.AppStore)), err
}

func runAppLogs(ctx context.Context, env *term.Env, o *logsOptions, path string) error {
	file, err := os.Open(path)
	if err != nil {
		why := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			why = "there is none"
		}
		return term.Fail(term.ExitRefused, "a hub in the foreground logs to its stderr; one that hubcli ensure starts writes the file", "the log file %s cannot be read: %s", path, why)
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReader(file)
	if err := printTail(env.Stdout, in, o.tail, o.all); err != nil || !o.follow {
		return err
	}
	for pause.For(ctx, logLook) {
		newer, err := replacedBy(file, path)
		if err != nil {
			return err
		}
		if err := printTail(env.Stdout, in, 0, true); err != nil {
			return err
		}
		if newer != nil {
			_ = file.Close()
			file = newer
			in.Reset(file)
		}
	}
	return nil
}

// replacedBy opens the file that has taken the place of an open one. It returns nil if
// none has.
func replacedBy(file *os.File, path string) (*os.File, error) {
	there, err := os.Stat(path)
	if err != nil {
		return nil, nil //nolint:nilerr // the new file comes in a moment
	}
	open, err := file.Stat()
	if err != nil || os.SameFile(there, open) {
		return nil, err
	}
	return os.Open(path)
}

// printTail reads to the end and prints the last n lines, or all. A last line without an
// end is printed too.
func printTail(w io.Writer, in *bufio.Reader, n int, all bool) error {
	var last []string
	for {
		line, err := in.ReadString('\n')
		if line != "" && all {
			if _, err := fmt.Fprint(w, peertext.Terminal(line)); err != nil {
				return err
			}
		} else if line != "" {
			last = append(last, line)
			last = last[max(0, len(last)-n):]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
	}
	_, err := io.WriteString(w, peertext.Terminal(strings.Join(last, "")))
	return err
}
