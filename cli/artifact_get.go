package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/osfile"
	"hubcli/internal/peertext"
)

type artifactGetOptions struct {
	baseURL
	roomRef
	title   string
	version int64
	out     string
	force   bool
}

func newArtifactGet(env *Env) *cobra.Command {
	var o artifactGetOptions
	cmd := &cobra.Command{
		Use:   "get [artifact_id]",
		Short: "Write the content of an artifact, byte for byte",
		Long: `Write the content of an artifact to standard output, or to a file with --out. The
artifact is named by its id, or by its --title in a --room, with --version or else the latest
version. An existing file is replaced only with --force; a link, or
anything that is not a regular file, never. --out - is standard output. Content that
a terminal cannot show unchanged goes only to a file or a pipe.`,
		Example: `  hubcli artifact get a_1f --out plan.md
  hubcli artifact get --title plan
  hubcli artifact get --room shop/checkout --title plan --version 2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			return runArtifactGet(cmd.Context(), env, &o, args)
		},
	}
	f := cmd.Flags()
	o.addRoom(f, roomUsage)
	f.StringVar(&o.title, "title", "", "title of the artifact")
	f.Var(versionValue{idValue{&o.version}}, "version", "version of the title; 0 is the latest")
	f.StringVar(&o.out, "out", "", "`file` to write to; - is standard output")
	f.BoolVar(&o.force, "force", false, "replace the regular file that is there")
	o.baseURL.add(env, f)
	return cmd
}

func (o *artifactGetOptions) check(cmd *cobra.Command, args []string) error {
	if err := o.checkRoom(cmd); err != nil {
		return err
	}
	fix := "see: " + cmd.CommandPath() + " --help"
	byTitle := o.room != "" || o.title != "" || cmd.Flags().Changed("version")
	switch {
	case len(args) > 1:
		return usage(fix, "%s takes no argument %q", cmd.CommandPath(), args[1])
	case len(args) == 1 && byTitle:
		return usage("give the id alone, or --title, with --room if needed", "the artifact is named twice")
	case len(args) == 0 && !byTitle:
		return usage("give an artifact_id, or --title, with --room if needed", "no artifact is named")
	case len(args) == 0:
		if err := needed("title", o.title); err != nil {
			return err
		}
	}
	if err := validText(cmd, args); err != nil {
		return err
	}
	if cmd.Flags().Changed("out") && o.out == "" {
		return usage("leave --out out for standard output, or name a file", "--out cannot be empty")
	}
	return nil
}

func runArtifactGet(ctx context.Context, env *Env, o *artifactGetOptions, args []string) error {
	toFile := o.out != "" && o.out != "-"
	if toFile { // before the content is fetched
		if _, _, err := replaceable(o.out, o.force); err != nil {
			return err
		}
	}
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	var id hub.ArtifactID
	if len(args) == 1 {
		id = hub.ArtifactID(args[0])
	} else if id, err = o.find(ctx, c); err != nil {
		return err
	}
	content, err := c.ArtifactContent(ctx, id)
	if err != nil {
		return err
	}
	if toFile {
		if err := writeContent(o.out, content.Data, o.force); err != nil {
			return err
		}
		_, err := fmt.Fprintf(env.Stdout, "wrote %s version %d to %s, %d bytes\n",
			peertext.TerminalLine(content.Artifact.Title), content.Artifact.Version, peertext.TerminalLine(o.out), len(content.Data))
		return err
	}
	if env.StdoutTerminal != nil && env.StdoutTerminal() && peertext.Terminal(string(content.Data)) != string(content.Data) {
		return usage("write it to a file with --out FILE, or into a pipe", "the content is not plain text and could control the terminal")
	}
	_, err = env.Stdout.Write(content.Data)
	return err
}

// find returns the artifact that --room, --title and --version name.
func (o *artifactGetOptions) find(ctx context.Context, c *client.Client) (hub.ArtifactID, error) {
	room, err := o.roomID(ctx, c)
	if err != nil {
		return "", err
	}
	rows, _, err := c.Artifacts(ctx, hub.ArtifactsQuery{
		RoomID: room, Title: o.title, Version: o.version, Latest: o.version == 0, Limit: 1,
	})
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", hub.NewError(hub.CodeArtifactNotFound, "the room has no such artifact").
			WithFix("see: hubcli artifact list --room " + peertext.TerminalLine(string(room)))
	}
	return rows[0].ArtifactID, nil
}

// writeContent writes a whole file or none, even if the command dies. With
// force it replaces a regular file and keeps the file's mode; it replaces
// nothing else.
func writeContent(path string, data []byte, force bool) error {
	mode, there, err := replaceable(path, force)
	if err != nil {
		return err
	}
	content := osfile.Content{Write: osfile.Bytes(data), Prefix: ".hubcli-", Mode: mode, Exactly: there}
	if force && there {
		err = osfile.Replace(osfile.Disk{}, path, content)
	} else {
		err = osfile.Create(path, content)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return fileExists(path)
	case err != nil:
		return cannotWrite(path, err)
	}
	return nil
}

// replaceable returns whether there is a file at path, and its mode. It refuses
// a path that must not be replaced.
func replaceable(path string, force bool) (mode fs.FileMode, there bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o644, false, nil
	case err != nil:
		return 0, false, cannotWrite(path, err)
	case !force:
		return 0, true, fileExists(path)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, true, usage("name the file that the link leads to", "%s is a symbolic link, which is not replaced", path)
	case !info.Mode().IsRegular():
		return 0, true, usage("name a file, or use --out - and a pipe", "%s is not a regular file, and is not replaced", path)
	}
	return info.Mode().Perm(), true, nil
}

// cannotWrite leaves out the name of the temporary file, which the user did not give.
func cannotWrite(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path != path {
		err = e.Err
	}
	return usage("name a file that can be written", "%s cannot be written: %v", path, err)
}

func fileExists(path string) error {
	return usage("name another file, or give --force to replace it", "%s is there already", path)
}
