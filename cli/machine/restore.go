package machine

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/peertext"
)

// NewRestore makes the command restore.
func NewRestore(env *term.Env) *cobra.Command {
	var o struct {
		opt.Storage
		moveAside, check, adopt, json bool
	}
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a store of a backup",
		Long: `Make a store of a file that "hubcli app backup" has written. No hub may serve the
place. The store is made and verified beside its place and is renamed there at the end,
so an interrupted restore leaves what was there before.

A store that is in the place is never deleted: with --move-aside it gets another name.
The restored store has an identity of its own. Agents register with it anew, and it
passes over numbers that the original may have given out since the backup. Do not let
the original and the restored store serve the same agents at the same time.

A backup that a hub with another data root has made, on another machine or by somebody
else, is restored with --adopt alone: the first start drops the programs, rules,
connections and passes in it and renews its secrets. To keep them in a backup of your
own, bring the file maker.key of its data root into this one first, by a safe way.

With --check the command only says whether the backup is whole.`,
		Example: `  hubcli app restore hub.backup --check
  hubcli app restore hub.backup --storage ./restored
  hubcli stop && hubcli app restore hub.backup --move-aside && hubcli ensure`,
		Args: opt.Arity("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.check && (o.moveAside || o.adopt || cmd.Flags().Changed("storage")) {
				return term.Usage("leave --check out, or --storage, --move-aside and --adopt", "--check looks at the file and makes no store")
			}
			if o.check {
				return runCheckBackup(env, args[0], o.json)
			}
			if err := o.Storage.Resolve(env, cmd); err != nil {
				return err
			}
			return runAppRestore(env, args[0], o.Path, o.moveAside, o.adopt, o.json)
		},
	}
	f := cmd.Flags()
	o.Storage.Add(f)
	f.BoolVar(&o.moveAside, "move-aside", false, "give the store that is in the place another name")
	opt.AddAdopt(f, &o.adopt)
	f.BoolVar(&o.check, "check", false, "check the backup and make no store")
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

// openBackup opens a backup for reading.
func openBackup(file string) (*os.File, error) {
	f, err := os.Open(file)
	if err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		_ = f.Close()
	}
	if err != nil {
		return nil, term.Usage("name a file that `hubcli app backup` has written", "the backup cannot be read: %v", err)
	}
	return nil, term.Usage("name a file that `hubcli app backup` has written", "%s is not a regular file", file)
}

func runCheckBackup(env *term.Env, file string, asJSON bool) error {
	f, err := openBackup(file)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := env.CheckBackup(f)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, backupResult{File: file, Backup: b})
	}
	_, err = fmt.Fprintf(env.Stdout, "%s is whole: %s, made at %s of the store %s\n",
		peertext.TerminalLine(file), backupExtent(b), b.Made, peertext.TerminalLine(string(b.Instance)))
	return err
}

// restoreResult is what --json prints about a restore.
type restoreResult struct {
	Storage string `json:"storage_path"`
	daemon.Restored
}

func runAppRestore(env *term.Env, file, dir string, moveAside, adopt, asJSON bool) error {
	f, err := openBackup(file)
	if err != nil {
		return err
	}
	defer f.Close()
	made, err := env.RestoreStore(f, dir, moveAside, origin(env, adopt))
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, restoreResult{Storage: dir, Restored: made})
	}
	text := fmt.Sprintf("store restored: %s, with %s; its identity is new: %s\n", peertext.TerminalLine(dir), backupExtent(made.Backup), made.Instance)
	if made.Aside != "" {
		text += fmt.Sprintf("the store that was there is kept: %s\n", peertext.TerminalLine(made.Aside))
	}
	_, err = fmt.Fprint(env.Stdout, text)
	return err
}
