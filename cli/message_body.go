package cli

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// messageBody is the text of a message that a command posts: its argument, standard input
// for the argument -, or the file that --body-file names.
type messageBody struct{ file string }

func (b *messageBody) add(f *pflag.FlagSet) {
	f.StringVar(&b.file, "body-file", "", "`file` with the body; - is standard input")
}

// bodyArgument takes one argument, or none beside --body-file.
func bodyArgument(cmd *cobra.Command, args []string) error {
	if !cmd.Flags().Changed("body-file") {
		return arity("body")(cmd, args)
	}
	if len(args) > 0 {
		return usage("leave the argument or --body-file out", "the message has two bodies, %q and that of --body-file", args[0])
	}
	return validText(cmd, args)
}

// read returns the text.
func (b *messageBody) read(ctx context.Context, env *Env, args []string) (string, error) {
	file, text := b.file, ""
	if len(args) > 0 {
		file, text = "", args[0]
		if text == stdinName {
			file = stdinName
		}
	}
	if len(args) == 0 && file == "" {
		return "", usage("name a file, or - for standard input", "--body-file cannot be empty")
	}
	if file != "" {
		data, over, err := readInput(ctx, env, file, mostBodyChars*utf8.UTFMax)
		switch {
		case err != nil:
			return "", err
		case over:
			return "", usage("keep it with hubcli artifact add, and post its id", "the body has more than %d characters, the most that any hub takes", mostBodyChars)
		}
		text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	switch {
	case !utf8.ValidString(text):
		return "", usage("give the text as UTF-8", "the body is not valid UTF-8")
	case text == "":
		return "", usage("give the text of the message", "the body cannot be empty")
	case strings.TrimSpace(text) == "":
		return "", usage("give the text of the message", "the body cannot be blank: it has only white space")
	}
	return text, nil
}
