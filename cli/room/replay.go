//go:build !carries

package room

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"hubcli/capsule/replayfile"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/osfile"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

type roomReplayOptions struct {
	opt.BaseURL
	list.RoomRef
	out  string
	json bool
}

func newRoomReplay(env *term.Env) *cobra.Command {
	var o roomReplayOptions
	cmd := &cobra.Command{
		Use:   "replay [room]",
		Short: "Save the history of a room as one page that a browser replays",
		Long: `Save the history of a room as one HTML file. A browser shows it without a hub and without
a network: a slider over time, the messages, and the seats, tasks, claims, locks,
decisions, artifacts and memory as they stood. The file holds the latest 20,000 messages
and what stood beside them at up to 400 moments: those of messages, and some between.
Direct messages are not in it. Nothing else is left out and nothing is replaced: a reader of
the file reads what the agents wrote. For a copy without secrets, see project export.

A file that is there is not replaced. Only you can read the new one.`,
		Example: `  hubcli room replay web-shop/checkout
  hubcli room replay web-shop/checkout --out ~/checkout.html`,
		Args: opt.Between(0, "room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.TakeRoom(cmd, args); err != nil {
				return err
			}
			if o.out == "" && cmd.Flags().Changed("out") {
				return term.Usage("name the file, or leave --out out", "--out cannot be empty")
			}
			return runRoomReplay(cmd.Context(), env, &o)
		},
	}
	o.AddProject(cmd.Flags())
	cmd.Flags().StringVar(&o.out, "out", "", "`file` to write (default ./<slug>-replay.html)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print what was written as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

// writtenReplay is what the command prints with --json.
type writtenReplay struct {
	RoomID   hub.RoomID `json:"room_id"`
	Path     string     `json:"path"`
	Messages int        `json:"messages"`
	Moments  int        `json:"moments"`
	Bytes    int64      `json:"bytes"`
	LeftOut  bool       `json:"left_out"` // the room has earlier messages
}

func runRoomReplay(ctx context.Context, env *term.Env, o *roomReplayOptions) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := o.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	project, err := c.Project(ctx, string(room.ProjectID))
	if err != nil {
		return err
	}
	path := o.out
	if path == "" {
		if err := hub.CheckSlug("slug", room.Slug); err != nil { // it becomes the name of a file
			return err
		}
		path = room.Slug + "-replay.html"
	}
	if _, err := os.Lstat(path); err == nil {
		return replayExists(path)
	}
	shown := term.NewMeter(env)
	replay, err := replayfile.Collect(ctx, c, &room, project.Name, func(done, all int) {
		shown.Show(fmt.Sprintf("reading what was there: %d of %d moments", done, all), "")
	})
	shown.End()
	if err != nil {
		return err
	}
	bytes, err := writeReplay(path, replay)
	if err != nil {
		return err
	}
	made := writtenReplay{RoomID: room.RoomID, Path: path, Messages: len(replay.Messages), Moments: len(replay.Moments), Bytes: bytes, LeftOut: replay.LeftOut}
	if o.json {
		return term.PrintJSON(env.Stdout, made)
	}
	_, err = fmt.Fprintf(env.Stdout, "wrote %s: %s and %s, %d bytes\n", peertext.TerminalLine(path), overview.Count(made.Messages, "message"),
		overview.Count(made.Moments, "moment"), bytes)
	if err == nil && made.LeftOut {
		env.Note("the room has earlier messages, which the file does not hold")
	}
	return err
}

// writeReplay writes the whole file or none, and returns its size.
func writeReplay(path string, replay *replayfile.Replay) (bytes int64, err error) {
	err = osfile.Create(path, osfile.Content{Prefix: ".hubcli-", Mode: 0o600, Exactly: true, Write: func(w io.Writer) error {
		counted := &countedWriter{w: w}
		err := replay.Write(counted)
		bytes = counted.n
		return err
	}})
	switch {
	case errors.Is(err, fs.ErrExist):
		return 0, replayExists(path)
	case osfile.IsFull(err):
		return 0, term.Fail(term.ExitRefused, "free some space there, or name a file on another disk", "the disk of %s is full, so there is no replay", path)
	case err != nil:
		return 0, term.CannotWrite(path, err)
	}
	return bytes, nil
}

func replayExists(path string) error {
	return term.Usage("name another file with --out", "%s is there already", path)
}

// countedWriter counts what it passes on.
type countedWriter struct {
	w io.Writer
	n int64
}

func (c *countedWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
