package opt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/term"
	"hubcli/internal/near"
	"hubcli/internal/peertext"
)

// FlagFailure turns an error of pflag into a sentence with a fix.
func FlagFailure(cmd *cobra.Command, err error) error {
	if typed := cmd.Flags().Args(); cmd.HasSubCommands() && len(typed) > 0 {
		return UnknownCommand(cmd, typed) // the flag is that of a command that there is not
	}
	help := "see: " + cmd.CommandPath() + " --help"
	var missing *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &missing):
		name := missing.GetSpecifiedName()
		dashed := "--" + name
		if missing.GetSpecifiedShortnames() != "" {
			dashed = "-" + name
		}
		if meant := nearestFlag(cmd, name); meant != "" {
			help = "did you mean --" + meant + "? " + help
		}
		if text := "-" + missing.GetSpecifiedShortnames(); isText(text) && strings.Contains(cmd.Use, " ") {
			text = strconv.Quote(peertext.Excerpt(text, 30))
			return term.Usage(fmt.Sprintf("put -- before a text that begins with a dash: %s -- %s", cmd.CommandPath(), text), "%s takes %s for flags", cmd.CommandPath(), text)
		}
		return term.Usage(help, "%s has no flag %s", cmd.CommandPath(), dashed)
	case errors.As(err, &valueless):
		return term.Usage(help, "the flag --%s needs a value", valueless.GetSpecifiedName())
	case errors.As(err, &invalid):
		return term.Usage(help, "--%s cannot be %q: %v", invalid.GetFlag().Name, invalid.GetValue(), whyInvalid(invalid))
	case errors.As(err, &syntax):
		return term.Usage(help, "%q is no flag", syntax.GetSpecifiedFlag())
	}
	return term.Usage(help, "%v", err)
}

// isText reports whether what was taken for short flags is a text: a mistyped flag has no
// blanks and no digit behind its dash.
func isText(dashed string) bool {
	return strings.ContainsAny(dashed, " \t\n") || len(dashed) > 1 && dashed[1] >= '0' && dashed[1] <= '9'
}

func whyInvalid(e *pflag.InvalidValueError) string {
	var bad *term.BadValue
	if errors.As(e, &bad) {
		return bad.Why
	}
	return "it must be " + e.GetFlag().Value.Type()
}

// nearestFlag finds a flag of cmd that name may have meant.
func nearestFlag(cmd *cobra.Command, name string) string {
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	return near.Name(name, flags)
}
