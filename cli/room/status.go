package room

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

type roomStatusOptions struct {
	opt.BaseURL
	list.RoomRef
	agent opt.Agent
	all   bool
	json  bool
}

func newRoomStatus(env *term.Env) *cobra.Command {
	var o roomStatusOptions
	cmd := &cobra.Command{
		Use:   "status [room]",
		Short: "Show the work in a room",
		Long: `Show the work in a room on one page: the agents with a seat, their activity and
whether a message would wake them, the open tasks and runs, the leases with their
age, and the latest decisions. Long lists are cut; the numbers in their headings
count all rows.

An agent has a seat once it joins the room, or posts, claims or watches in it. An agent
that has been gone for more than ten minutes is only counted, unless --all is given.

Tasks that direct messages opened are shown to the operator: the command reads the
operator's secret in the store of the hub. With --agent or HUB_AGENT the page shows those
of that agent alone, and the number of its unread messages. The command registers nobody.`,
		Example: `  hubcli room status
  hubcli room status web-shop/checkout --agent dev-a
  hubcli room status checkout --json`,
		Args: opt.Between(0, "room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.TakeRoom(cmd, args); err != nil {
				return err
			}
			viewer, err := o.agent.Optional()
			if err != nil {
				return err
			}
			return runRoomStatus(cmd.Context(), env, &o, viewer)
		},
	}
	o.AddProject(cmd.Flags())
	o.agent.AddAs(env, cmd.Flags(), "agent", "`agent` that looks, if not the one in "+hook.EnvAgent)
	cmd.Flags().BoolVar(&o.all, "all", false, "also show agents that have been gone for more than ten minutes")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the status as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func runRoomStatus(ctx context.Context, env *term.Env, o *roomStatusOptions, viewer hub.AgentID) error {
	c, err := o.BaseURL.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := o.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	got, err := readRoomStatus(ctx, env, c, hub.StatusQuery{RoomID: room.RoomID, Viewer: viewer, All: o.all})
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, got)
	}
	return printRoomStatus(env.Stdout, &got, viewer != "", o.all, time.Now())
}

// readRoomStatus looks as the agent that is named, else as the operator. Where the operator's secret
// cannot be read, it says what is left out.
func readRoomStatus(ctx context.Context, env *term.Env, c *client.Client, q hub.StatusQuery) (hub.RoomStatus, error) {
	if q.Viewer != "" {
		return c.RoomStatus(ctx, q)
	}
	got, err := c.AsOperator().RoomStatus(ctx, q)
	if opt.NeedsSecret(err) {
		env.Note("tasks that direct messages opened are not shown: %s", err)
		return c.RoomStatus(ctx, q)
	}
	return got, err
}

// printRoomStatus writes the page. Each part has a heading with its count; an
// empty part is left out.
func printRoomStatus(w io.Writer, s *hub.RoomStatus, viewed, all bool, now time.Time) error {
	at := hub.TimeOf(now)
	p := &page{table: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	p.line("%s  %s  in %s", s.Room.RoomID, s.Room.Name, s.Project.Name)
	if s.Room.Archived {
		p.line("archived: out of lists, and no posts are taken")
	}
	if len(s.Room.AllowedHosts) > 0 {
		p.line("its browser reaches %s", reachText(&s.Room))
	}
	if s.Room.Topic != "" {
		p.line("%s", s.Room.Topic)
	}
	if viewed {
		p.line("%s unread", term.AtMost(s.Unread))
	}
	p.part("seat", s.SeatCount)
	for i := range s.Seats {
		p.seat(&s.Seats[i], at)
	}
	if s.GoneCount > 0 && !all {
		p.line("  and %d whose agents have been gone for more than ten minutes: --all shows them", s.GoneCount)
	}
	if len(s.NotListening) > 0 {
		p.line("")
		p.line("not listening: %s", joined(s.NotListening))
	}
	if len(s.Spawns) > 0 {
		p.part("spawn", len(s.Spawns))
	}
	for i := range s.Spawns {
		p.spawn(&s.Spawns[i], at)
	}
	p.part("open task", s.OpenTaskCount)
	for i := range s.OpenTasks {
		p.task(&s.OpenTasks[i])
	}
	p.part("running run", s.RunCount)
	for i := range s.Runs {
		r := &s.Runs[i]
		p.row(string(r.RunID), string(r.Status), fmt.Sprintf("%d of %d done%s", r.Counts.Done, r.Counts.Total, term.Failures(r.Counts)), r.Title)
	}
	p.leases("claim", s.ClaimCount, s.Claims)
	p.leases("lock", s.LockCount, s.Locks)
	if len(s.Decisions) > 0 {
		p.part("latest decision", len(s.Decisions))
	}
	for i := range s.Decisions {
		d := &s.Decisions[i]
		p.row(string(d.DecisionID), term.Span(at-d.CreatedAt)+" ago", term.OrNobody(d.By), d.Title)
	}
	if len(s.More) > 0 {
		p.line("")
		p.line("lists that are cut: %s; --json says how to read them whole", strings.Join(s.More.Lists(), ", "))
	}
	if p.err != nil {
		return p.err
	}
	return p.table.Flush()
}

// page writes lines and rows of columns; a line that is not a row ends a table.
type page struct {
	table *tabwriter.Writer
	err   error
}

func (p *page) line(format string, args ...any) {
	p.put(peertext.TerminalLine(fmt.Sprintf(format, args...)))
}

func (p *page) put(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.table, text)
	}
}

// part begins a part of the page.
func (p *page) part(what string, n int) {
	if n != 1 {
		what += "s"
	}
	p.line("")
	p.line("%d %s", n, what)
}

// row writes one line of columns. Tabs in texts of agents make no column.
func (p *page) row(columns ...string) {
	for i, c := range columns {
		columns[i] = peertext.TerminalLine(strings.ReplaceAll(c, "\t", " "))
	}
	p.put(strings.TrimRight("  "+strings.Join(columns, "\t"), "\t "))
}

func (p *page) seat(s *hub.Seat, at hub.Time) {
	doing := string(s.Activity)
	if s.PromptTool != "" {
		doing += " (" + peertext.TerminalLine(s.PromptTool) + ")"
	}
	if s.CurrentTaskID != nil {
		doing += fmt.Sprint(" on task ", *s.CurrentTaskID)
	}
	switch {
	case s.Presence == hub.PresenceGone && s.LastSeen != nil:
		doing += ", seen " + term.Span(at-*s.LastSeen) + " ago"
	case s.ActivitySince != nil:
		doing += " for " + term.Span(at-*s.ActivitySince)
	}
	waits := ""
	if len(s.Watching) > 0 {
		waits = "waits for " + strings.Join(s.Watching, " and ")
	}
	if s.Label != "" {
		waits = strings.TrimSpace(s.Label + ": " + waits)
	}
	where := ""
	if s.Where() != "" {
		where = "in " + s.Where()
	}
	p.row(string(s.AgentID), s.Role, string(s.Presence), doing, "listener "+string(s.Listener), term.AtMost(s.Unread)+" unread", waits, where)
}

func (p *page) spawn(s *hub.Spawn, at hub.Time) {
	doing := string(s.Status)
	if s.Stopping {
		doing += ", to be stopped"
	}
	p.row(string(s.SpawnID), string(s.AgentID), string(s.Harness), doing, "for "+term.Span(at-s.CreatedAt), "asked for by "+string(s.By), s.Title)
}

func (p *page) task(t *hub.Task) {
	who := "nobody"
	if t.Assignee != nil {
		who = string(*t.Assignee)
	}
	if t.OfferedTo != nil {
		who += ", offered to " + string(*t.OfferedTo)
	}
	title := t.Title
	if !t.Ready {
		others := "others"
		if len(t.BlockedBy) > 0 {
			others = joined(t.BlockedBy)
		}
		title += " (waits for " + others + ")"
	}
	p.row(fmt.Sprint(t.TaskID), string(t.Status), who, title)
}

func (p *page) leases(what string, n int, rows []hub.HeldRow) {
	if n == 0 {
		return
	}
	p.part(what, n)
	for i := range rows {
		l := &rows[i]
		task := ""
		if l.TaskMessageID != nil {
			task = fmt.Sprint("task ", *l.TaskMessageID)
		}
		p.row(cmp.Or(l.Key, "(a task of others)"), string(l.AgentID), "held "+term.Span(hub.Time(l.AgeSec*1000)), term.Span(hub.Time(l.ExpiresInSec*1000))+" left", task)
	}
}

func joined[T any](list []T) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ", ")
}
