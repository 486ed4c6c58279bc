package person

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newTaskShow(env *term.Env) *cobra.Command {
	var o taskOptions
	cmd := &cobra.Command{
		Use:   "show <task>",
		Short: "Show a task with what is to be done",
		Long: `Show one task: its status, who has it, what it waits for, and the whole text that
opened it. Nothing is changed, and nothing counts as read.`,
		Example: `  hubcli app task show 12
  hubcli app task show 12 --json`,
		Args: opt.Arity("task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := taskArgument(args[0])
			if err != nil {
				return err
			}
			return o.show(cmd.Context(), env, id)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the task as JSON")
	return cmd
}

func (o *taskOptions) show(ctx context.Context, env *term.Env, id hub.TaskID) error {
	anyone, err := o.Client()
	if err != nil {
		return err
	}
	defer anyone.Close()
	c := anyone.AsOperator()
	t, err := c.Task(ctx, id, hub.AgentOperator)
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, t)
	}
	encoded, err := c.Message(ctx, id, "")
	if err != nil {
		return err
	}
	opened, err := encoded.Decode()
	if err != nil {
		return opt.UnknownShape(err)
	}
	room := ""
	if t.RoomID != nil {
		if row, err := c.Room(ctx, hub.RoomRef{Room: string(*t.RoomID)}); err == nil {
			room = row.Slug
		}
	}
	return printTask(env.Stdout, &t, room, opened.Body, hub.TimeOf(env.Now()))
}

// printTask prints a task, one line for each thing that is known, and its text.
func printTask(w io.Writer, t *hub.Task, room, body string, now hub.Time) error {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-11s %s\n", name, peertext.TerminalLine(text))
		}
	}
	line("task", fmt.Sprintf("%d  %s", t.TaskID, t.Title))
	line("status", statusOf(t))
	if t.OfferedTo != nil {
		line("offered to", string(*t.OfferedTo))
	}
	line("room", room)
	line("opened by", string(t.CreatedBy)+" "+term.Age(now, t.CreatedAt)+" ago")
	if t.ParentTaskID != nil {
		line("part of", fmt.Sprintf("#%d", *t.ParentTaskID))
	}
	line("waits for", numbered(t.OpenBlockers))
	line("blocks", numbered(t.Blocks))
	if t.RunID != nil {
		line("run", string(*t.RunID))
	}
	if t.CompletedAt != nil {
		line("ended", term.Age(now, *t.CompletedAt)+" ago")
	}
	b.WriteString("\n" + peertext.Terminal(body) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}
