package room

import (
	"context"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

// NewArtifact makes the command artifact.
func NewArtifact(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "artifact",
		Short: "Manage artifacts",
		Long: `Keep what a room has made: texts, or files of any bytes up to 4194304. Adding to a
title again makes its next version; every version stays.`,
		Example: `  hubcli artifact add --title plan --kind doc --file plan.md
  hubcli artifact list --room shop/checkout --latest
  hubcli artifact get --title plan`,
	}
	return opt.Group(cmd, newArtifactAdd(env), newArtifactList(env), newArtifactGet(env))
}

type artifactAddOptions struct {
	opt.BaseURL
	list.RoomRef
	title string
	kind  string
	by    opt.Agent
	body  string
	file  string
	json  bool
}

func newArtifactAdd(env *term.Env) *cobra.Command {
	var o artifactAddOptions
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Store the next version of a title",
		Long: `Store the next version of a title in a room, and tell the room's channel. The
content is --body, or the bytes of --file, of which - is standard input; at most
4194304 bytes. --by is taken as it is: no session is begun or ended.`,
		Example: `  hubcli artifact add --title plan --kind doc --file plan.md --by lead
  go test ./... | hubcli artifact add --room checkout --title "test log" --kind log --file -`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := o.input(cmd.Context(), env, cmd)
			if err != nil {
				return err
			}
			return runArtifactAdd(cmd.Context(), env, &o, in)
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomUsage)
	f.StringVar(&o.title, "title", "", "name of the thing; its versions share it (required)")
	f.StringVar(&o.kind, "kind", "", "kind of the content, in your own word (required)")
	o.by.AddAs(env, f, "by", "`agent` that stores it, if not the one in "+hook.EnvAgent)
	f.StringVar(&o.body, "body", "", "`text` to store")
	f.StringVar(&o.file, "file", "", "`path` of the file to store; - is standard input")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the stored row as JSON")
	return cmd
}

// input makes the hub's checks that need no hub, and reads the content.
func (o *artifactAddOptions) input(ctx context.Context, env *term.Env, cmd *cobra.Command) (hub.ArtifactInput, error) {
	if err := o.CheckRoom(cmd); err != nil {
		return hub.ArtifactInput{}, err
	}
	if err := needed("title", o.title, "kind", o.kind); err != nil {
		return hub.ArtifactInput{}, err
	}
	by, err := o.by.Optional()
	if err != nil {
		return hub.ArtifactInput{}, err
	}
	in := hub.ArtifactInput{RoomID: list.Somewhere, Title: o.title, Kind: o.kind, By: by}
	switch body, file := cmd.Flags().Changed("body"), cmd.Flags().Changed("file"); {
	case body == file:
		return in, term.Usage("give exactly one of --body TEXT and --file PATH", "an artifact needs one content")
	case body:
		if !utf8.ValidString(o.body) {
			return in, term.Usage("give the text as UTF-8, or the bytes with --file", "the body is not valid UTF-8")
		}
		in.Body = &o.body
	default:
		data, err := contentOf(ctx, env, o.file)
		if err != nil {
			return in, err
		}
		text := base64.StdEncoding.EncodeToString(data)
		in.ContentBase64 = &text
	}
	return in, opt.AsUsage(api.ValidateArtifact(&in, false))
}

// contentOf reads a file that is small enough to be an artifact; "-" is standard
// input.
func contentOf(ctx context.Context, env *term.Env, path string) ([]byte, error) {
	data, over, err := term.ReadInput(ctx, env, path, hub.MaxArtifactBytes)
	if over {
		return nil, term.Usage("keep it in its place, and add an artifact that says where that is",
			"%s has more than %d bytes, the most that an artifact may have", path, hub.MaxArtifactBytes)
	}
	return data, err
}

func runArtifactAdd(ctx context.Context, env *term.Env, o *artifactAddOptions, in hub.ArtifactInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if in.RoomID, err = o.RoomID(ctx, c); err != nil {
		return err
	}
	out, err := c.AddArtifact(ctx, in)
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "stored artifact %s: %s version %d, %d bytes, sha256 %s\n",
		out.Row.ArtifactID, peertext.TerminalLine(out.Row.Title), out.Row.Version, out.Row.Size, out.Row.SHA256)
	return err
}

type artifactListOptions struct {
	opt.BaseURL
	q hub.ArtifactsQuery
	list.RoomRef
	limit int
	json  bool
}

func newArtifactList(env *term.Env) *cobra.Command {
	var o artifactListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List artifacts, latest first",
		Long: `List the artifacts of a room, or without --room of any room, latest first and
without their content.`,
		Example: `  hubcli artifact list --room . --latest
  hubcli artifact list --room checkout --title plan --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			o.q.Limit = list.PageOf(o.limit)
			return runArtifactList(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	f.StringVar(&o.q.Title, "title", "", "only the versions of this title")
	f.StringVar(&o.q.Kind, "kind", "", "only artifacts of this kind")
	f.BoolVar(&o.q.Latest, "latest", false, "only the latest version of each title")
	list.AddLimit(f, &o.limit)
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, list.JSONRows)
	return cmd
}

func runArtifactList(ctx context.Context, env *term.Env, o *artifactListOptions) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if o.q.RoomID, err = o.OnlyRoom(ctx, c); err != nil {
		return err
	}
	rows := list.UpTo(o.limit, hub.Walk(ctx, c.Artifacts, o.q))
	return list.PrintList(env, o.json, "no artifacts", rows, func(a hub.Artifact) string {
		return fmt.Sprintf("%s %s %s%s: %s version %d, %s, %s, %d bytes", a.ArtifactID, a.CreatedAt, a.RoomID,
			byWhom(a.By), a.Title, a.Version, a.Kind, a.ContentType, a.Size)
	})
}
