package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/term"
	"hubcli/hub"
)

// completeValues tells the shells which values the flags and arguments of a
// command tree take: choices, harnesses, folders, files, and what the hub knows. For
// all other values it offers nothing, not the files of the current folder.
func completeValues(env *term.Env, cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		// It fails only for a flag that already has values.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, flagValues(env, f))
	})
	if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = argumentValues(env, cmd.Use)
	}
	for _, c := range cmd.Commands() {
		completeValues(env, c)
	}
}

// flagValues completes the value of a flag. Its usage names the kind of its value:
// "`folder` of the store".
func flagValues(env *term.Env, f *pflag.Flag) cobra.CompletionFunc {
	if v, ok := f.Value.(term.ChoiceValue); ok {
		return cobra.FixedCompletions(v.Choices, cobra.ShellCompDirectiveNoFileComp)
	}
	if find := liveFlags()[f.Name]; find != nil {
		return live(env, find)
	}
	switch kind, _ := pflag.UnquoteUsage(f); {
	case f.Name == "harness":
		return harnessNames
	case f.Name == "scope":
		return cobra.FixedCompletions([]string{string(hub.AdapterGlobal), string(hub.AdapterProject)}, cobra.ShellCompDirectiveNoFileComp)
	case kind == "folder":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case kind == "file" || kind == "path":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	return cobra.NoFileCompletions
}

// argumentValues completes the arguments that a usage names after the command:
// "bind <room> [path]" or "hook session-start|stop".
func argumentValues(env *term.Env, use string) cobra.CompletionFunc {
	names := strings.Fields(use)[1:]
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at := len(args)
		if last := len(names) - 1; at > last && last >= 0 && strings.HasSuffix(names[last], "...") {
			at = last
		}
		if at >= len(names) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		name := names[at]
		if find := liveArguments()[name]; find != nil {
			values, directive := live(env, find)(cmd, args, prefix)
			if next := at + 1; name[0] == '[' && next < len(names) && strings.Contains(names[next], "|") {
				values = append(values, beginning(prefix, words(names[next]))...)
			}
			return values, directive
		}
		switch name {
		case "<harness>":
			return harnessNames(cmd, args, prefix)
		case "[path]":
			return nil, cobra.ShellCompDirectiveFilterDirs
		case "<file>":
			return nil, cobra.ShellCompDirectiveDefault
		}
		if strings.Contains(name, "|") {
			return words(name), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// words returns the words between which an argument is a choice. A word in capitals, such
// as CHARS, stands for a value, and is none of them.
func words(choice string) []string {
	return slices.DeleteFunc(strings.Split(strings.Trim(choice, "[]<>"), "|"), func(w string) bool { return w == strings.ToUpper(w) })
}

// harnessNames returns the names of the harnesses.
func harnessNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, h := range hub.Harnesses() {
		names = append(names, string(h))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
