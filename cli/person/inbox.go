package person

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

// NewInbox makes the command inbox.
func NewInbox(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		list.RoomRef
		all   bool
		agent string
	}
	cmd := &cobra.Command{
		Use:   "inbox [question]",
		Short: "List the questions of agents to you",
		Long: `List the open questions of agents to the operator, the oldest first. AGE is the time
since a question was asked. LEFT is the time until its deadline, when its default is
taken. OPTIONS are the suggested answers: "hubcli answer ID 2" chooses the second. With
--all, ANSWER and BY show how questions ended, and by whom. With the id of a question,
show all of it.

Agents ask with the tool hub_ask_human, or with a direct message to "operator". Answer
with "hubcli answer". The command needs the secret of the hub, which it reads from the
store.`,
		Example: `  hubcli app inbox
  hubcli app inbox --watch
  hubcli app inbox ask_1f
  hubcli app inbox --all --from dev-a`,
		Args: opt.Between(0, "question"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return showQuestion(cmd, env, &o.Listing, args[0])
			}
			q := hub.AsksQuery{State: hub.AskOpen, Limit: hub.MaxPageRows, AgentID: hub.AgentID(o.agent)}
			if o.all {
				q.State = ""
			}
			if cmd.Flags().Changed("from") {
				if err := hub.CheckSender("--from", q.AgentID); err != nil {
					return opt.AsUsage(err)
				}
			}
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			o.Sees = list.SightOfSecrets
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (got list.Found, err error) {
				if q.RoomID, err = o.OnlyRoom(ctx, s.Client); err != nil {
					return list.Found{}, err
				}
				got, err = findQuestions(ctx, s, q)
				return s.OrUnknown(ctx, got, err, q.AgentID)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "also list questions that are closed")
	f.StringVar(&o.agent, "from", "", "only questions of this `agent`")
	o.AddRoom(f, list.RoomOnlyUsage)
	o.AddIDs(env, f, "ask_id")
	return cmd
}

func findQuestions(ctx context.Context, s *list.Spectator, q hub.AsksQuery) (list.Found, error) {
	asks, err := hub.All(ctx, s.Asks, q)
	if err != nil {
		return list.Found{}, err
	}
	slices.Reverse(asks)
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	now := s.Now()
	if q.State == "" {
		return list.Found{Rows: asks, Text: endedQuestions(asks, now)}, nil
	}
	t := term.NewTable("there is no open question", "QUESTION", "STATE?", ">AGE", ">LEFT", "FROM(8)", "ROOM(8)?", "OPTIONS(8)", "TEXT(16)")
	for i := range asks {
		a := &asks[i]
		t.Add(a.AskID, askState(a.State), term.Age(now, a.CreatedAt), timeLeft(a, now), a.AgentID, rooms.Of(a.RoomID), overview.Choices(a.Options), a.Question)
	}
	return list.Found{Rows: asks, Text: t}, nil
}

// endedQuestions shows how each question ended, and by whom.
func endedQuestions(asks []hub.Ask, now hub.Time) *term.Table {
	t := term.NewTable("there is no question", "QUESTION", "STATE", ">AGE", ">LEFT", "FROM(8)", "ANSWER(8)", "BY(12)", "TEXT(16)")
	for i := range asks {
		a := &asks[i]
		t.Add(a.AskID, askState(a.State), term.Age(now, a.CreatedAt), timeLeft(a, now), a.AgentID, term.Optional(a.Answer), a.ClosedBy, a.Question)
	}
	return t
}

func askState(s hub.AskState) term.Cell {
	return term.Cell{Text: string(s), Color: map[hub.AskState]string{hub.AskOpen: term.SGRYellow, hub.AskExpired: term.SGRRed, hub.AskWithdrawn: term.SGRDim, hub.AskAnswered: term.SGRGreen}[s]}
}

// timeLeft is the time until the deadline of a question, or "".
func timeLeft(a *hub.Ask, now hub.Time) string {
	if a.DeadlineAt == nil {
		return ""
	}
	return term.Span(*a.DeadlineAt - now)
}

// AskID reads the id of a question as a person types it: ask_1f or 1f.
func AskID(text string) hub.AskID {
	return hub.AskID(askPrefix + strings.TrimPrefix(text, askPrefix))
}

const askPrefix = "ask_" // of the id of a question

func showQuestion(cmd *cobra.Command, env *term.Env, l *list.Listing, id string) error {
	for _, name := range []string{"all", "from", "room", "watch"} {
		if cmd.Flags().Changed(name) {
			return term.Usage("leave one of them out", "--%s is for the list, and %q names one question", name, id)
		}
	}
	c, err := l.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	a, err := c.AsOperator().AskByID(cmd.Context(), AskID(id), "")
	if err != nil {
		return err
	}
	if l.JSON {
		return term.PrintJSON(env.Stdout, a)
	}
	text, err := wholeQuestion(cmd.Context(), c, &a)
	if err != nil {
		return err
	}
	room, err := roomOfQuestion(cmd.Context(), env, c, &a)
	if err != nil {
		return err
	}
	return printQuestion(env.Stdout, &a, text, room, hub.TimeOf(env.Now()))
}

// roomOfQuestion is the name of the room that a question is about, or "".
func roomOfQuestion(ctx context.Context, env *term.Env, c *client.Client, a *hub.Ask) (string, error) {
	if a.RoomID == nil {
		return "", nil
	}
	names, err := (&list.Spectator{Client: c, Env: env}).RoomNames(ctx)
	return names.Of(a.RoomID), err
}

// wholeQuestion is the text of a question. Its row has only the beginning of a long
// direct message.
func wholeQuestion(ctx context.Context, c *client.Client, a *hub.Ask) (string, error) {
	if a.MessageID == 0 || !strings.HasSuffix(a.Question, "…") {
		return a.Question, nil
	}
	encoded, err := c.AsOperator().Message(ctx, a.MessageID, "")
	if err != nil {
		return "", err
	}
	m, err := encoded.Decode()
	if err != nil {
		return "", opt.UnknownShape(err)
	}
	if begin := strings.TrimSuffix(a.Question, "…"); !strings.HasPrefix(m.Body, begin) {
		return a.Question, nil
	}
	return m.Body, nil
}

// printQuestion shows all of a question: its agent, the text, and the options by numbers.
func printQuestion(w io.Writer, a *hub.Ask, text, room string, now hub.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  from %s  %s ago", a.AskID, a.State, peertext.TerminalLine(string(a.AgentID)), term.Age(now, a.CreatedAt))
	if left := timeLeft(a, now); left != "" {
		fmt.Fprintf(&b, "  %s left", left)
	}
	b.WriteString("\n")
	folder := ""
	if a.Permission != nil {
		folder = a.Permission.Folder
	}
	for _, row := range [][2]string{
		{"user", a.User}, {"folder", folder}, {"room", room}, {"task", term.Optional(a.Blocks)}, {"artifact", term.Optional(a.ArtifactID)}, {"default", term.Optional(a.Default)},
	} {
		if row[1] != "" {
			fmt.Fprintf(&b, "%-9s %s\n", row[0], peertext.TerminalLine(row[1]))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", peertext.Terminal(text))
	if len(a.Options) > 0 {
		b.WriteString("\n")
	}
	for i, option := range a.Options {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, peertext.TerminalLine(option))
	}
	if a.State != hub.AskOpen {
		fmt.Fprintf(&b, "\n%s\n", peertext.TerminalLine(howAskEnded(a, now)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// howAskEnded says how a question was closed, by which person or agent, and when.
func howAskEnded(a *hub.Ask, now hub.Time) string {
	said := string(a.State)
	if a.ClosedBy != "" {
		said += " by " + a.ClosedBy
	}
	if a.ClosedAt != nil {
		said += " " + term.Age(now, *a.ClosedAt) + " ago"
	}
	switch {
	case a.Answer != nil && a.State == hub.AskExpired:
		said += ", and its default was taken"
		fallthrough
	case a.Answer != nil:
		said += ": " + *a.Answer
	case a.Reason != "":
		said += ": " + a.Reason
	}
	return said
}
