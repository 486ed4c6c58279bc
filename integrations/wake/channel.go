package wake

import (
	"slices"
	"strings"

	"hubcli/internal/process"
)

// channelFlags name, on the command line of Claude Code, the servers whose notifications a session
// takes for messages of people. The second one is for servers that are on no list of its maker.
var channelFlags = []string{"--channels", "--dangerously-load-development-channels"}

// Channel reports whether a session of Claude Code was begun so that it takes the channel of a
// server. parent is the process of the session.
func Channel(parent int, server string) bool {
	args, ok := process.Arguments(parent)
	return ok && takesChannel(args, server)
}

// takesChannel looks for a server in a command line. A flag takes all that follows up to the next one.
func takesChannel(args []string, server string) bool {
	within := false
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		values := arg
		if strings.HasPrefix(arg, "-") {
			flag, value, _ := strings.Cut(arg, "=")
			within, values = slices.Contains(channelFlags, flag), value
		}
		if within && slices.Contains(strings.FieldsFunc(values, func(r rune) bool { return r == ',' || r == ' ' }), "server:"+server) {
			return true
		}
	}
	return false
}
