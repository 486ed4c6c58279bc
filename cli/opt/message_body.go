package opt

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/term"
)

// MessageBody is the text of a message that a command posts: its argument, standard input
// for the argument -, or the file that --body-file names.
type MessageBody struct{ File string }

// Add declares the flags.
func (b *MessageBody) Add(f *pflag.FlagSet) {
	f.StringVar(&b.File, "body-file", "", "`file` with the body; - is standard input")
}

// BodyArgument takes one argument, or none beside --body-file.
func BodyArgument(cmd *cobra.Command, args []string) error {
	if !cmd.Flags().Changed("body-file") {
		return Arity("body")(cmd, args)
	}
	if len(args) > 0 {
		return term.Usage("leave the argument or --body-file out", "the message has two bodies, %q and that of --body-file", args[0])
	}
	return ValidText(cmd, args)
}

// Read returns the text.
func (b *MessageBody) Read(ctx context.Context, env *term.Env, args []string) (string, error) {
	file, text := b.File, ""
	if len(args) > 0 {
		file, text = "", args[0]
		if text == term.StdinName {
			file = term.StdinName
		}
	}
	if len(args) == 0 && file == "" {
		return "", term.Usage("name a file, or - for standard input", "--body-file cannot be empty")
	}
	if file != "" {
		data, over, err := term.ReadInput(ctx, env, file, MostBodyChars*utf8.UTFMax)
		switch {
		case err != nil:
			return "", err
		case over:
			return "", term.Usage("keep it with hubcli artifact add, and post its id", "the body has more than %d characters, the most that any hub takes", MostBodyChars)
		}
		text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	switch {
	case !utf8.ValidString(text):
		return "", term.Usage("give the text as UTF-8", "the body is not valid UTF-8")
	case text == "":
		return "", term.Usage("give the text of the message", "the body cannot be empty")
	case strings.TrimSpace(text) == "":
		return "", term.Usage("give the text of the message", "the body cannot be blank: it has only white space")
	}
	return text, nil
}
