package person

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

// meant is the answer that a typed text means: a choice by its number or by its words, or words of
// one's own. A number that no choice has is refused, and so is a word that is nearly a choice: an
// answer is final. With asIt the text is the answer as it stands.
func meant(a *hub.Ask, text string, asIt bool) (string, error) {
	if asIt {
		return text, nil
	}
	if choice, ok := a.Chosen(text); ok {
		return choice, nil
	}
	choices := a.Choices()
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && len(choices) > 0 {
		if n >= 1 && n <= len(choices) {
			return choices[n-1], nil
		}
		return "", term.Usage("choose a number from 1 to "+strconv.Itoa(len(choices))+", or answer in words; --text sends a number as words",
			"%s has %d options, and none of them is %d", a.AskID, len(choices), n)
	}
	if near := a.Near(text); len(near) > 0 {
		return "", term.Usage("give the option, or its number; --text sends your words as they are", "%q is no option of %s: did you mean %s?", text, a.AskID, quoted(near))
	}
	return text, nil
}

// quoted names choices for a sentence.
func quoted(choices []string) string {
	names := make([]string, len(choices))
	for i, choice := range choices {
		names[i] = peertext.TerminalLine(choice)
	}
	return strings.Join(names, " or ")
}

// answerTo says what was answered to whom, with the beginning of the question.
func answerTo(a *hub.Ask) string {
	answer := ""
	if a.Answer != nil {
		answer = *a.Answer
	}
	said := fmt.Sprintf("answered %s of %s: %s", a.AskID, a.AgentID, answer)
	if asked := strings.Join(strings.Fields(a.Question), " "); asked != "" {
		said += " (" + overview.Clip(overview.Safe(asked), 60) + ")"
	}
	return peertext.TerminalLine(said)
}

// questionOf returns the question and the answer that arguments mean. Where a word alone may be
// an answer, it is that of the one question that is open, if it is one of its options. A
// permission prompt is always named: others come and go while a person types.
func (o *answerOptions) questionOf(ctx context.Context, c *client.Client, args []string, word bool) (hub.Ask, []string, error) {
	if len(args) == 0 {
		a, err := onlyQuestion(ctx, c)
		return a, nil, err
	}
	id, rest := AskID(args[0]), args[1:]
	if word && len(rest) == 0 && !strings.HasPrefix(args[0], askPrefix) {
		open, err := openQuestions(ctx, c)
		if err != nil {
			return hub.Ask{}, nil, err
		}
		named := slices.ContainsFunc(open, func(a hub.Ask) bool { return a.AskID == id })
		takes := slices.DeleteFunc(slices.Clone(open), func(a hub.Ask) bool { _, ok := a.Chosen(args[0]); return !ok })
		switch {
		case named:
		case len(takes) == 0:
			if a, answers, err := o.aloneWith(open, args[0]); answers || err != nil {
				return a, args, err
			}
		case len(open) > 1:
			return hub.Ask{}, nil, term.Usage("name the question: hubcli answer "+string(takes[len(takes)-1].AskID)+" "+args[0], "%d questions are open, so %q may be the answer to another one than you mean", len(open), args[0])
		case open[0].Permission != nil:
			return hub.Ask{}, nil, term.Usage("name it: hubcli answer "+string(open[0].AskID)+" "+args[0], "the open question is a permission prompt")
		default:
			return open[0], args, nil
		}
	}
	a, err := c.AskByID(ctx, id, "")
	return a, rest, err
}
