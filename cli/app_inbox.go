package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

func newAppInbox(env *Env) *cobra.Command {
	var o struct {
		listing
		roomRef
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
		Args: between(0, "question"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return showQuestion(cmd, env, &o.listing, args[0])
			}
			q := hub.AsksQuery{State: hub.AskOpen, Limit: hub.MaxPageRows, AgentID: hub.AgentID(o.agent)}
			if o.all {
				q.State = ""
			}
			if cmd.Flags().Changed("from") {
				if err := hub.CheckSender("--from", q.AgentID); err != nil {
					return asUsage(err)
				}
			}
			if err := o.checkRoom(cmd); err != nil {
				return err
			}
			o.sees = sightOfSecrets
			return o.run(cmd, env, func(ctx context.Context, s *spectator) (got found, err error) {
				if q.RoomID, err = o.onlyRoom(ctx, s.Client); err != nil {
					return found{}, err
				}
				got, err = findQuestions(ctx, s, q)
				return s.orUnknown(ctx, got, err, q.AgentID)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "also list questions that are closed")
	f.StringVar(&o.agent, "from", "", "only questions of this `agent`")
	o.addRoom(f, roomOnlyUsage)
	o.listing.add(env, f)
	return cmd
}

func findQuestions(ctx context.Context, s *spectator, q hub.AsksQuery) (found, error) {
	asks, err := hub.All(ctx, s.Asks, q)
	if err != nil {
		return found{}, err
	}
	slices.Reverse(asks)
	rooms, err := s.roomNames(ctx)
	if err != nil {
		return found{}, err
	}
	now := s.now()
	if q.State == "" {
		return found{rows: asks, text: endedQuestions(asks, now)}, nil
	}
	t := newTable("there is no open question", "QUESTION", "STATE?", ">AGE", ">LEFT", "FROM(8)", "ROOM(8)?", "OPTIONS(8)", "TEXT(16)")
	for i := range asks {
		a := &asks[i]
		t.add(a.AskID, askState(a.State), age(now, a.CreatedAt), timeLeft(a, now), a.AgentID, rooms.of(a.RoomID), overview.Choices(a.Options), a.Question)
	}
	return found{rows: asks, text: t}, nil
}

// endedQuestions shows how each question ended, and by whom.
func endedQuestions(asks []hub.Ask, now hub.Time) *table {
	t := newTable("there is no question", "QUESTION", "STATE", ">AGE", ">LEFT", "FROM(8)", "ANSWER(8)", "BY(12)", "TEXT(16)")
	for i := range asks {
		a := &asks[i]
		t.add(a.AskID, askState(a.State), age(now, a.CreatedAt), timeLeft(a, now), a.AgentID, optional(a.Answer), a.ClosedBy, a.Question)
	}
	return t
}

func askState(s hub.AskState) cell {
	return cell{string(s), map[hub.AskState]string{hub.AskOpen: sgrYellow, hub.AskExpired: sgrRed, hub.AskWithdrawn: sgrDim, hub.AskAnswered: sgrGreen}[s]}
}

// timeLeft is the time until the deadline of a question, or "".
func timeLeft(a *hub.Ask, now hub.Time) string {
	if a.DeadlineAt == nil {
		return ""
	}
	return span(*a.DeadlineAt - now)
}

// askID reads the id of a question as a person types it: ask_1f or 1f.
func askID(text string) hub.AskID {
	return hub.AskID(askPrefix + strings.TrimPrefix(text, askPrefix))
}

const askPrefix = "ask_" // of the id of a question

func showQuestion(cmd *cobra.Command, env *Env, l *listing, id string) error {
	for _, name := range []string{"all", "from", "room", "watch"} {
		if cmd.Flags().Changed(name) {
			return usage("leave one of them out", "--%s is for the list, and %q names one question", name, id)
		}
	}
	c, err := l.client()
	if err != nil {
		return err
	}
	defer c.Close()
	a, err := c.AsOperator().AskByID(cmd.Context(), askID(id), "")
	if err != nil {
		return err
	}
	if l.json {
		return printJSON(env.Stdout, a)
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
func roomOfQuestion(ctx context.Context, env *Env, c *client.Client, a *hub.Ask) (string, error) {
	if a.RoomID == nil {
		return "", nil
	}
	names, err := (&spectator{c, env}).roomNames(ctx)
	return names.of(a.RoomID), err
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
		return "", fmt.Errorf("the hub's answer has an unknown shape: %w", err)
	}
	if begin := strings.TrimSuffix(a.Question, "…"); !strings.HasPrefix(m.Body, begin) {
		return a.Question, nil
	}
	return m.Body, nil
}

// printQuestion shows all of a question: its agent, the text, and the options by numbers.
func printQuestion(w io.Writer, a *hub.Ask, text, room string, now hub.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  from %s  %s ago", a.AskID, a.State, peertext.TerminalLine(string(a.AgentID)), age(now, a.CreatedAt))
	if left := timeLeft(a, now); left != "" {
		fmt.Fprintf(&b, "  %s left", left)
	}
	b.WriteString("\n")
	folder := ""
	if a.Permission != nil {
		folder = a.Permission.Folder
	}
	for _, row := range [][2]string{
		{"user", a.User}, {"folder", folder}, {"room", room}, {"task", optional(a.Blocks)}, {"artifact", optional(a.ArtifactID)}, {"default", optional(a.Default)},
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
		said += " " + age(now, *a.ClosedAt) + " ago"
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
