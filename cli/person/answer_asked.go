package person

import (
	"context"
	"errors"
	"strings"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// settled is the answer that a typed text means, as meant has it. On a terminal a person is asked
// about a word that is nearly an option, and about words where the question has options; elsewhere
// both are refused.
func (o *answerOptions) settled(ctx context.Context, env *term.Env, a *hub.Ask, text string) (string, error) {
	answer, err := meant(a, text, o.text)
	near := a.Near(text)
	switch {
	case err != nil && len(near) > 0 && canBeAsked(env):
		return agreed(ctx, env, near[0], "did you mean "+peertext.TerminalLine(near[0])+"?")
	case err != nil || o.text || !isFree(a, answer):
		return answer, err
	case canBeAsked(env):
		return agreed(ctx, env, answer, "that is none of the options of "+string(a.AskID)+". Send your words as they are?")
	}
	return "", term.Usage("give one of "+quoted(a.Choices())+"; --text sends your words as they are", "%q is none of the options of %s", text, a.AskID)
}

// isFree reports whether an answer is words of one's own to a question that has options. The reason
// behind deny, of a permission prompt, is not.
func isFree(a *hub.Ask, answer string) bool {
	_, chosen := a.Chosen(answer)
	return len(a.Choices()) > 0 && a.Permission == nil && !chosen && (a.Default == nil || strings.TrimSpace(answer) != *a.Default)
}

func canBeAsked(env *term.Env) bool { return env.Terminal != nil && env.Terminal() }

// agreed returns the answer if a person says yes to the question.
func agreed(ctx context.Context, env *term.Env, answer, question string) (string, error) {
	err := opt.Agree(ctx, env, question)
	if errors.Is(err, opt.ErrDeclined) {
		err = &term.Failure{Exit: term.ExitRefused, Sentence: "not answered; the question stays open", Fix: "give one of the options, or your words with --text"}
	}
	return answer, err
}

// onlyQuestion is the one question that is open, for a person who names none.
func onlyQuestion(ctx context.Context, c *client.Client) (hub.Ask, error) {
	open, err := openQuestions(ctx, c)
	switch {
	case err != nil:
		return hub.Ask{}, err
	case len(open) == 0:
		return hub.Ask{}, term.Fail(term.ExitRefused, "hubcli inbox --all shows those that are closed", "there is no open question")
	case len(open) > 1:
		return hub.Ask{}, term.Usage("name one: hubcli inbox lists them with their ids", "%d questions are open", len(open))
	}
	return open[0], nil
}

func openQuestions(ctx context.Context, c *client.Client) ([]hub.Ask, error) {
	return hub.All(ctx, c.Asks, hub.AsksQuery{State: hub.AskOpen, Limit: hub.MaxPageRows})
}

// aloneWith is the one open question, for words that are no id and none of its options. Without
// --text words are sent to no question that is not named: a mistyped id would be an answer.
func (o *answerOptions) aloneWith(open []hub.Ask, word string) (a hub.Ask, answers bool, err error) {
	if len(open) != 1 || open[0].Permission != nil {
		return a, false, nil
	}
	a = open[0]
	if o.text || len(a.Near(word)) > 0 {
		return a, true, nil
	}
	return a, false, term.Usage("name the question: hubcli inbox lists it; or add --text to send these words to "+string(a.AskID),
		"%q is no question, and none of the options of the one that is open", word)
}
