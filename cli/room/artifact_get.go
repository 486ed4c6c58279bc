package room

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

type artifactGetOptions struct {
	opt.BaseURL
	list.RoomRef
	title   string
	version int64
	out     string
	force   bool
}

func newArtifactGet(env *term.Env) *cobra.Command {
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
	o.AddRoom(f, list.RoomUsage)
	f.StringVar(&o.title, "title", "", "title of the artifact")
	f.Var(term.VersionValue{IDValue: term.IDValue{To: &o.version}}, "version", "version of the title; 0 is the latest")
	f.StringVar(&o.out, "out", "", "`file` to write to; - is standard output")
	f.BoolVar(&o.force, "force", false, "replace the regular file that is there")
	o.BaseURL.Add(env, f)
	return cmd
}

func (o *artifactGetOptions) check(cmd *cobra.Command, args []string) error {
	if err := o.CheckRoom(cmd); err != nil {
		return err
	}
	fix := "see: " + cmd.CommandPath() + " --help"
	byTitle := o.Room != "" || o.title != "" || cmd.Flags().Changed("version")
	switch {
	case len(args) > 1:
		return term.Usage(fix, "%s takes no argument %q", cmd.CommandPath(), args[1])
	case len(args) == 1 && byTitle:
		return term.Usage("give the id alone, or --title, with --room if needed", "the artifact is named twice")
	case len(args) == 0 && !byTitle:
		return term.Usage("give an artifact_id, or --title, with --room if needed", "no artifact is named")
	case len(args) == 0:
		if err := needed("title", o.title); err != nil {
			return err
		}
	}
	if err := opt.ValidText(cmd, args); err != nil {
		return err
	}
	if cmd.Flags().Changed("out") && o.out == "" {
		return term.Usage("leave --out out for standard output, or name a file", "--out cannot be empty")
	}
	return nil
}

func runArtifactGet(ctx context.Context, env *term.Env, o *artifactGetOptions, args []string) error {
	toFile := o.out != "" && o.out != "-"
	if toFile { // before the content is fetched
		if _, _, err := term.Replaceable(o.out, o.force); err != nil {
			return err
		}
	}
	c, err := o.Client()
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
		if err := term.WriteContent(o.out, content.Data, o.force); err != nil {
			return err
		}
		_, err := fmt.Fprintf(env.Stdout, "wrote %s version %d to %s, %d bytes\n",
			peertext.TerminalLine(content.Artifact.Title), content.Artifact.Version, peertext.TerminalLine(o.out), len(content.Data))
		return err
	}
	if env.StdoutTerminal != nil && env.StdoutTerminal() && peertext.Terminal(string(content.Data)) != string(content.Data) {
		return term.Usage("write it to a file with --out FILE, or into a pipe", "the content is not plain text and could control the terminal")
	}
	_, err = env.Stdout.Write(content.Data)
	return err
}

// find returns the artifact that --room, --title and --version name.
func (o *artifactGetOptions) find(ctx context.Context, c *client.Client) (hub.ArtifactID, error) {
	room, err := o.RoomID(ctx, c)
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
