package person

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

type answerOptions struct {
	opt.BaseURL
	opt.MessageBody
	by      string
	text    bool
	digest  string
	dismiss bool
	reason  string
	back    bool
	json    bool
}

// NewAnswer makes the command answer.
func NewAnswer(env *term.Env) *cobra.Command {
	var o answerOptions
	cmd := &cobra.Command{
		Use:   "answer [question] [option or text]",
		Short: "Answer a question of an agent",
		Long: `Answer an open question as the operator. The answer is the number of an option, or an
option; - reads it from standard input. A question without options takes any text. Without
an answer the command shows the question and asks for one. The agent gets the answer as a
direct message and is woken by it.

A word that is nearly an option is asked about on a terminal, and refused elsewhere, and so
are words that are none of the options: --text sends them as they are. If one question is
open, it need not be named: "hubcli answer yes".

An answer is final once an agent has read it. With --take-back you take it back within a
minute, if nobody has: the question is open again.

The first answer counts. If the question is closed already, the exit code is 1, and the
error says who closed it. Agents that your answer keeps apart may go on earlier: answer
the same question with "let them go on". With --dismiss the question is closed without an
answer, and the agent is told.

The command needs the secret of the hub, which it reads from the store. It refuses to
answer where HUB_AGENT is set: agents do not answer for people.`,
		Example: `  hubcli app answer ask_1f yes
  hubcli app answer ask_1f 2
  hubcli app answer ask_1f --text "yes, but only the staging cluster"
  hubcli app answer yes
  hubcli app answer ask_1f --take-back
  hubcli app answer ask_1f --dismiss --reason "ask the tests"`,
		Args: answerArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			return runAnswer(cmd.Context(), env, &o, args)
		},
	}
	f := cmd.Flags()
	o.MessageBody.Add(f)
	f.StringVar(&o.by, "as", "", "`name` of the person who answers (default: the name of the user)")
	f.BoolVar(&o.text, "text", false, "send the words as they are, also if they are none of the options")
	f.StringVar(&o.digest, "digest", "", "the `digest` of the question as you read it with inbox --json; another question refuses the answer")
	f.BoolVar(&o.dismiss, "dismiss", false, "close the question without an answer")
	f.BoolVar(&o.back, "take-back", false, "take the answer back that was given in the last minute, if nobody has read it")
	f.StringVar(&o.reason, "reason", "", "`text` that tells the agent why there is no answer; for --dismiss")
	f.BoolVar(&o.json, "json", false, "print the question as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

// answerArguments takes a question, and an answer unless a flag gives it.
func answerArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 2 {
		return opt.Between(0, "question", "answer")(cmd, args)
	}
	return opt.ValidText(cmd, args)
}

// check checks what can be checked without the hub.
func (o *answerOptions) check(cmd *cobra.Command, args []string) error {
	given := len(args) == 2 || cmd.Flags().Changed("body-file")
	switch {
	case len(args) == 2 && cmd.Flags().Changed("body-file"):
		return term.Usage("leave the argument or --body-file out", "the question has two answers, %q and that of --body-file", args[1])
	case o.back && (given || o.dismiss || o.text || o.digest != ""):
		return term.Usage("give the question alone: hubcli answer --take-back ask_1f", "--take-back takes an answer back, and gives none")
	case o.dismiss && given:
		return term.Usage("leave one of them out; --reason tells the agent why", "--dismiss closes the question without an answer, and there is one")
	case !o.dismiss && cmd.Flags().Changed("reason"):
		return term.Usage("add --dismiss, or leave --reason out", "--reason is for --dismiss only")
	case utf8.RuneCountInString(o.by) > hub.MaxHumanChars:
		return term.Usage("give a shorter name", "--as has more than %d characters", hub.MaxHumanChars)
	}
	if o.by == "" {
		o.by = userName()
	}
	return nil
}

// userName names the person at this terminal; empty: unknown.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

func runAnswer(ctx context.Context, env *term.Env, o *answerOptions, args []string) error {
	anyone, err := o.Client()
	if err != nil {
		return err
	}
	defer anyone.Close()
	c := anyone.AsOperator()
	if o.back {
		return o.takeBack(ctx, env, c, args)
	}
	a, args, err := o.questionOf(ctx, c, args, !o.dismiss && o.MessageBody.File == "")
	if err != nil {
		return err
	}
	if o.digest == "" {
		o.digest = a.Digest
	}
	if a.State != hub.AskOpen && o.digest == a.Digest && !mayGoOn(&a, args) {
		return askIsClosed(&a, hub.TimeOf(env.Now()))
	}
	var out hub.Outcome[hub.Ask]
	if o.dismiss {
		out, err = c.WithdrawAsk(ctx, a.AskID, hub.AskWithdrawInput{By: o.by, Reason: o.reason, Digest: o.digest})
	} else {
		var answer string
		if answer, err = o.answer(ctx, env, c, &a, args); err == nil {
			out, err = c.AnswerAsk(ctx, a.AskID, hub.AskAnswerInput{Answer: answer, By: o.by, Digest: o.digest})
		}
	}
	if errors.Is(err, &hub.Error{Code: hub.CodeAskClosed}) {
		if a, readErr := c.AskByID(ctx, a.AskID, ""); readErr == nil { // another person was first
			return askIsClosed(&a, hub.TimeOf(env.Now()))
		}
	}
	switch {
	case err != nil:
		return err
	case o.json:
		return term.PrintJSON(env.Stdout, out.Row)
	}
	return printAnswered(env, &out.Row)
}

// mayGoOn reports whether the answer may end what an earlier one has kept apart: agents that
// the hub itself has asked about. The hub decides.
func mayGoOn(a *hub.Ask, args []string) bool {
	return a.AgentID == hub.AgentSystem && a.State == hub.AskAnswered && len(args) > 0
}

// answer finds the answer: an option by its number or its text, or any other text.
func (o *answerOptions) answer(ctx context.Context, env *term.Env, c *client.Client, a *hub.Ask, args []string) (string, error) {
	if len(args) == 0 && o.MessageBody.File == "" {
		return o.askForAnswer(ctx, env, c, a)
	}
	text, err := o.MessageBody.Read(ctx, env, args)
	if err != nil {
		return "", err
	}
	return o.settled(ctx, env, a, text)
}

// askForAnswer shows the question and asks on the terminal.
func (o *answerOptions) askForAnswer(ctx context.Context, env *term.Env, c *client.Client, a *hub.Ask) (string, error) {
	if env.Terminal == nil || !env.Terminal() {
		return "", term.Usage("give it behind the question: hubcli answer "+string(a.AskID)+" TEXT", "the answer is missing, and stdin is not a terminal")
	}
	text, err := wholeQuestion(ctx, c, a)
	if err != nil {
		return "", err
	}
	room, err := roomOfQuestion(ctx, env, c, a)
	if err != nil {
		return "", err
	}
	if err := printQuestion(env.Stderr, a, text, room, hub.TimeOf(env.Now())); err != nil {
		return "", err
	}
	prompt := "\nanswer: "
	if len(a.Choices()) > 0 {
		prompt = "\nanswer (a number or a text): "
	}
	answer, err := opt.Ask(ctx, env, prompt)
	if err == nil && answer == "" {
		err = &term.Failure{Exit: term.ExitRefused, Sentence: "not answered; the question stays open", Fix: "give an answer, or close it with --dismiss"}
	}
	if err != nil {
		return "", err
	}
	return o.settled(ctx, env, a, answer)
}

// askIsClosed says who was first.
func askIsClosed(a *hub.Ask, now hub.Time) error {
	return term.Fail(term.ExitRefused, "the first answer counts; to say more: hubcli say --to "+string(a.AgentID)+" TEXT",
		"%s is closed: %s", a.AskID, howAskEnded(a, now))
}

func printAnswered(env *term.Env, a *hub.Ask) error {
	what := "closed " + string(a.AskID) + " of " + string(a.AgentID) + " without an answer"
	if a.Answer != nil {
		what = answerTo(a)
	}
	_, err := fmt.Fprintln(env.Stdout, peertext.TerminalLine(what))
	return err
}
