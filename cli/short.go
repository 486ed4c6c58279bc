package cli

import "slices"

// short are the commands that agents and their harnesses run all the time, and that need nothing of a store on
// this machine: they ask a hub. "hubcli status" is "hubcli app overview".
var short = []string{
	"hook", "mcp", "post", "poll", "watch", "whoami", "resolve", "data-root",
	"status", "agents", "inbox", "answer", "ask", "say", "claim", "claims", "lock", "locks", "tasks", "log",
}

// brief are those of them that only make some calls, and end. A signal that comes before their first answer
// need not be heard.
var brief = []string{"hook", "post", "whoami", "resolve", "data-root"}

// Brief reports whether the arguments name a command that only makes some calls, and ends.
func Brief(args []string) bool { return len(args) > 0 && slices.Contains(brief, args[0]) }

// Short reports whether the arguments name one of the commands that a program without a store can run: the
// fields Daemon and those about stores of Env may be nil then.
func Short(args []string) bool { return len(args) > 0 && slices.Contains(short, args[0]) }
