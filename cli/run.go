package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Run runs the command that args name (without the program's own name) and
// returns the exit code. Canceling ctx with ErrInterrupted ends a command early
// and a daemon cleanly.
func Run(ctx context.Context, env *Env, args []string) int {
	own := *env
	out := &output{w: env.Stdout}
	own.Stdout = out
	root := newRoot(&own)
	root.SetArgs(args)
	root.SetIn(own.Stdin)
	root.SetOut(own.Stdout)
	root.SetErr(own.Stderr)

	cmd, err := root.ExecuteContextC(ctx)
	err = settle(ctx, cmd, err)
	if lost := out.failure(); err == nil && lost != nil {
		err = &Failure{
			Exit: ExitRefused, Err: lost,
			Sentence: "the answer could not be written to stdout: " + lost.Error(),
		}
	}
	if err != nil {
		report(own.Stderr, err)
	}
	return exitOf(err)
}

// settle says what an error of the command tree means.
func settle(ctx context.Context, cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	if isFlagError(err) {
		return flagFailure(cmd, err)
	}
	return err
}

// isFlagError: cobra returns some of pflag's errors without asking the
// command's own handler, such as those of flags before a subcommand.
func isFlagError(err error) bool {
	var missing *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	return errors.As(err, &missing) || errors.As(err, &valueless) || errors.As(err, &invalid) || errors.As(err, &syntax)
}
