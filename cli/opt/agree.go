package opt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NeedsAnswer reports whether err asks for a confirmation, with the question and
// the digest of the plan.
func NeedsAnswer(err error) (prompt, digest string, ok bool) {
	var asked *hub.Error
	if !errors.As(err, &asked) || asked.Code != hub.CodeConfirmRequired {
		return "", "", false
	}
	prompt, _ = asked.Detail["prompt"].(string)
	digest, _ = asked.Detail["digest"].(string)
	return prompt, digest, true
}

// ErrDeclined is the cause of the failure of a question that was not answered by y.
var ErrDeclined = errors.New("declined")

// Agree shows a question about a plan and takes y or yes as a yes.
func Agree(ctx context.Context, env *term.Env, question string) error {
	text := peertext.Terminal(question)
	if env.Colors(env.StderrTerminal) {
		text = term.Paint(text)
	}
	answer, err := Ask(ctx, env, text+" [y/N] ")
	if err != nil {
		return err
	}
	if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		return &term.Failure{Exit: term.ExitRefused, Sentence: "not confirmed; nothing was changed", Fix: "answer y, or add --yes", Err: ErrDeclined}
	}
	return nil
}

// Ask asks on the terminal and returns the answer without blanks around it.
func Ask(ctx context.Context, env *term.Env, question string) (string, error) {
	if env.Terminal == nil || !env.Terminal() {
		return "", term.Usage("add --yes", "no question is possible: stdin is not a terminal")
	}
	fmt.Fprint(env.Stderr, question)
	answers := make(chan string, 1)
	// The read cannot be interrupted. If a signal ends the command first, the
	// goroutine ends with the process.
	go func() {
		line, err := bufio.NewReader(env.Stdin).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answers <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(env.Stderr)
		return "", context.Cause(ctx)
	case answer := <-answers:
		return answer, nil
	}
}

// AgreeToPlan asks about a plan, word for word. Without a terminal it shows the plan and says
// how to agree to it.
func AgreeToPlan(ctx context.Context, env *term.Env, yes bool, prompt, question string) error {
	switch {
	case yes:
		return nil
	case env.Terminal != nil && env.Terminal():
		return Agree(ctx, env, prompt+"\n"+question)
	}
	fmt.Fprint(env.Stderr, peertext.Terminal(prompt))
	return term.Usage("look at the plan above, and add --yes", "no question is possible: stdin is not a terminal")
}
