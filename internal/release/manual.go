package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli"
)

// exitCodes is what every man page says of how a command ends.
const exitCodes = "0 success, 1 the hub answered with an error or another hub has the store, 2 bad input, 3 no hub, 4 a wait timed out, 70 the store failed, 130 interrupted."

// generate makes what is derived from the command tree: a man page of every command
// that help shows, and a script of completions for every shell.
func generate(s source) ([]file, error) {
	root := cli.Tree(s.version)
	var files []file
	for _, cmd := range shown(root) {
		files = append(files, file{path: "man/man1/" + pageName(cmd) + ".1", mode: 0o644, data: manPage(cmd, s)})
	}
	root.InitDefaultCompletionCmd()
	for _, shell := range []struct {
		path  string
		write func(*bytes.Buffer) error
	}{
		{"completions/hubcli.bash", func(b *bytes.Buffer) error { return cli.BashCompletion(root, b) }},
		{"completions/_hubcli", func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
		{"completions/hubcli.fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
		{"completions/hubcli.ps1", func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) }},
	} {
		var b bytes.Buffer
		if err := shell.write(&b); err != nil {
			return nil, err
		}
		files = append(files, file{path: shell.path, mode: 0o644, data: b.Bytes()})
	}
	return files, nil
}

// shown lists cmd and the commands below it that help shows.
func shown(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, shown(c)...)
		}
	}
	return list
}

// pageName is the name of a command's man page: hubcli-adapter-install.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage renders a page in the macros of man(7).
func manPage(cmd *cobra.Command, s source) []byte {
	var b bytes.Buffer
	section := func(name string) { fmt.Fprintf(&b, ".SH %s\n", name) }
	fmt.Fprintf(&b, ".TH %q 1 %q %q %q\n", strings.ToUpper(pageName(cmd)), s.time.Format("2006-01-02"), "hubcli "+s.version, "hubcli")
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, "\\fB%s\\fR%s\n", roff(cmd.CommandPath()), roff(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, ".br\n\\fB%s\\fR \\fIcommand\\fR\n", roff(cmd.CommandPath()))
	}
	section("DESCRIPTION")
	for i, paragraph := range strings.Split(strings.TrimSpace(cmd.Long), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		b.WriteString(roff(paragraph) + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		section("COMMANDS")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s\n", roff(pageName(c)), roff(c.Short))
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		section("OPTIONS")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
	}
	section("EXAMPLES")
	fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.Example))
	section("EXIT STATUS")
	b.WriteString(roff(exitCodes) + "\n")
	if cmd.HasParent() {
		section("SEE ALSO")
		fmt.Fprintf(&b, "\\fB%s\\fR(1)\n", roff(pageName(cmd.Parent())))
	}
	return b.Bytes()
}

// manFlag renders a flag with the kind of its value and its default.
func manFlag(b *bytes.Buffer, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	kind, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(b, "\\fB%s\\fR, ", roff("-"+f.Shorthand))
	}
	fmt.Fprintf(b, "\\fB%s\\fR", roff("--"+f.Name))
	if kind != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(kind))
	}
	switch f.DefValue {
	case "", "false", "[]", "0":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(b, "\n%s\n", roff(usage))
}

// roff protects what roff would take for commands: backslashes, hyphens that it
// would make dashes of, and a dot or a quote at the beginning of a line.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
