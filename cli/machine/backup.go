package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/osfile"
	"hubcli/internal/peertext"
)

// NewBackup makes the command backup.
func NewBackup(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		force, json bool
	}
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a backup of the running hub to a file",
		Long: `Write everything that the running hub knows at this moment to a file. Agents go on
working meanwhile. The command reads the file back and checks all of it before the file
gets its name, so a file of that name is a whole backup.

The file holds direct messages and the secret key of the store: keep it as you keep a
password. It has the mode 0600. The command reads the operator token in the store of the
hub, so only the user who started the hub can use it.`,
		Example: `  hubcli app backup hub.backup
  hubcli app backup ~/backups/hub.backup --force`,
		Args: opt.Arity("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAppBackup(cmd.Context(), env, &o.BaseURL, args[0], o.force, o.json)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.force, "force", false, "replace the regular file that is there")
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

// backupResult is what --json prints about a backup.
type backupResult struct {
	File string `json:"file"`
	daemon.Backup
}

func runAppBackup(ctx context.Context, env *term.Env, base *opt.BaseURL, file string, force, asJSON bool) error {
	path, err := opt.Absolute("FILE", file)
	if err != nil {
		return err
	}
	if _, _, err := term.Replaceable(path, force); err != nil { // before the hub begins
		return err
	}
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	made, err := writeBackup(ctx, env, c, path, force)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, backupResult{File: path, Backup: made})
	}
	_, err = fmt.Fprintf(env.Stdout, "backed up the hub at %s to %s: %s, verified\n",
		peertext.TerminalLine(c.BaseURL()), peertext.TerminalLine(path), backupExtent(made))
	return err
}

func backupExtent(b daemon.Backup) string {
	return fmt.Sprintf("everything up to record %d and message %d, %d bytes", b.Seq, b.Message, b.Bytes)
}

// writeBackup puts a verified backup under a name. The name keeps what it has
// until then.
func writeBackup(ctx context.Context, env *term.Env, c *client.Client, path string, force bool) (made daemon.Backup, err error) {
	var told error // an error that is not the file's
	content := osfile.Content{
		Prefix: ".hubcli-", Mode: 0o600, Exactly: true,
		Write: func(w io.Writer) error {
			file := &fileWriter{w: w}
			err := c.Backup(ctx, file)
			if file.err == nil {
				told = err
			}
			return err
		},
		Check: func(r io.Reader) error {
			made, told = env.CheckBackup(r)
			return told
		},
	}
	if force {
		err = osfile.Replace(osfile.Disk{}, path, content)
	} else {
		err = osfile.Create(path, content)
	}
	switch {
	case told != nil:
		return made, told
	case errors.Is(err, fs.ErrExist):
		return made, term.FileExists(path)
	case osfile.IsFull(err):
		return made, term.Fail(term.ExitRefused, "free some space there, or name a file on another disk", "the disk of %s is full, so there is no backup", path)
	case err != nil:
		return made, term.CannotWrite(path, err)
	}
	return made, nil
}

// fileWriter remembers that it was the file that failed.
type fileWriter struct {
	w   io.Writer
	err error
}

func (f *fileWriter) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if err != nil {
		f.err = err
	}
	return n, err
}
