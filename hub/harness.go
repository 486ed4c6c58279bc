package hub

import (
	"strings"
	"time"
)

// EnvWithoutTerminal is the variable by which the operator lets messages begin turns of sessions that
// no terminal follows any more, if it is 1.
const EnvWithoutTerminal = "HUB_WITHOUT_TERMINAL"

// EnvAskHere is the variable by which the user of a session has questions of hub_ask_human stand in its
// terminal too, also where only an answer there ends them, if it is 1.
const EnvAskHere = "HUB_ASK_HERE"

// Harness names a program in which agents run.
//
// API: A program in which agents run; generic is any other.
type Harness string

// HarnessFacts is what the project knows about a harness: one row of the table in
// harness_table.go. The hub, the bridge, the hooks and the adapters read it, and
// none of them keeps a list of harnesses of its own.
type HarnessFacts struct {
	ID    Harness
	Title string // its name for people

	// Aliases are other names that people, command lines and files use for it.
	// Names are compared in lower case with hyphens; see ParseHarness.
	Aliases []string
	// Clients are the names, besides ID, under which it introduces itself as an
	// MCP client (clientInfo.name). A name that continues one of them with a
	// hyphen matches too.
	Clients []string

	Surface Surface // the default; empty: SurfaceFull
	// ToolPrefix is what it puts before the names of the hub's tools; empty: nothing, or unknown.
	ToolPrefix string
	// ToolSearch is how its model loads tools that it does not see at once, as the end of the sentence
	// "load those that you do not see …"; empty: it sees all.
	ToolSearch string
	MaxWait    time.Duration // how long one tool call may wait; 0: unknown
	Hooks      *HookForm     // nil: it calls no hooks

	// Programs are the names of its executable, the usual one first. Opens are the arguments
	// by which a session in a terminal begins with a text, for $text; nil: unknown. ACP are
	// those by which the program speaks the Agent Client Protocol over its standard files;
	// nil: it does not, or in no known way.
	Programs []string
	Opens    []string
	ACP      []string

	Wakes      bool   // the end of a background process begins a new turn
	Queues     bool   // a command of its own begins a turn of an idle session; the bridge runs it
	TakesInput bool   // a session may be begun with a file from which it takes texts; the bridge writes there
	Channel    string // a session may be begun so that it takes notifications of a server for messages of people; the experimental capability
	WakeFile   string // what its adapter may install, in the folder of its settings: if it is there, messages begin turns of an idle session
	Streams    bool   // what its adapter installs begins a turn of an idle session with a message
	Offline    bool   // as a rule the agent's commands reach no network, not even this machine
	BeginsLate bool   // its hooks hear of a session with the first prompt only, so that it stands at none when it begins
	SubAgents  bool   // it starts sub-agents, whose calls of tools come over the bridge of their main agent

	// ProjectVariable is the environment variable that names the project to
	// hooks and MCP servers. HookVariables are others that only hooks get.
	// Every process that the harness starts inherits these variables, also
	// another harness in its shell. TerminalVariables are those of an editor's
	// terminals, in which other harnesses are often started.
	ProjectVariable   string
	HookVariables     []string
	Variables         []string
	TerminalVariables []string

	SessionVariable string   // names the session to MCP servers reliably
	SessionMembers  []string // of _meta in each call of a tool: the first that is there names the session. One process may run several sessions
	CallMember      string   // of _meta in each call of a tool: the id of the call, which the hook before the call gets too
	ExportVariable  string   // names the file from which later commands take variables
	HomeVariable    string   // names the folder of its settings and transcripts
	Homes           []string // names of the folders in which it keeps transcripts

	// ShowsBothForms says that it hands its model both forms of a tool's answer:
	// the text and the structured content. One of them is enough.
	ShowsBothForms bool

	// CancelsAnswered says that its MCP client cancels each call of a tool after the answer.
	CancelsAnswered bool

	RewritesServers bool // it writes the file of its MCP servers anew while it runs
	KillsServers    bool // it kills its MCP servers when a session ends, or leaves them running, so that the hook of the end ends what the bridge began
}

// HookForm describes how a harness calls a hook and reads the answer.
type HookForm struct {
	Silence string // printed when there is nothing to say
	Start   HookAnswer
	Stop    HookAnswer
	Prompt  HookAnswer // with a prompt, before the model reads it
	Tool    HookAnswer // after tools, before the model's next request
	Warn    HookAnswer // before a tool changes a file; the tool runs all the same
	Refuse  HookAnswer // the same; the tool does not run
	End     HookAnswer // after tools; the turn ends, and its user sees the text
	Sub     HookAnswer // to a sub-agent when it begins
	Allow   HookAnswer // in place of its question to the user: the tool runs
	Deny    HookAnswer // the same; the tool does not run
	Call    HookCall

	// DropsFailed says that the agent does not see Tool after a tool that failed.
	DropsFailed bool
	// Tagged is the member of the answer to HookCall.Call that replaces the _meta of the call.
	// The hook puts the id of the call there, under HarnessFacts.CallMember; empty: the harness
	// tells the bridge that id by itself.
	Tagged string
	// HoldsOnce says that it calls no hook when a turn ends that a hook has held.
	HoldsOnce bool
	// AsksFirst says that Permission comes before the harness's own rules decide whether it
	// asks its user, and so also where it does not ask. Then Notice tells that it asks.
	AsksFirst bool
}

// HookAnswer is the form of one answer. The zero value says that the harness does
// not show the agent what a hook answers to the event.
type HookAnswer struct {
	JSON string // printed with the text, as a JSON string, for $text
	Text bool   // the text itself is printed: on stdout, or on stderr if Exit is not 0
	Exit int    // the exit code that hands the text over; every other answer exits with 0

	// Ranks says that the text stands in the model's input as its user's or its developer's
	// own. Then a peer's message is named there, and its words are left to a tool's answer.
	Ranks bool
}

// Heard reports whether the agent sees the answer.
func (a HookAnswer) Heard() bool { return a != HookAnswer{} }

// HookCall is the input that a harness writes to a hook's stdin.
type HookCall struct {
	JSON string // with JSON strings for $session, $folder and $event
	// The harness's names of the events; empty: there is none, or the agent does
	// not see what a hook answers to it. A session begins with SessionStart.
	Stop, Prompt, Tool, End, Edit, Permission string
	// Failed is the event after a tool that failed, where Tool does not come then. Notice is
	// the event that the harness tells its user something, such as that it asks whether a tool
	// may run.
	Failed, Notice string
	// Failure is the event that a turn ends because the model failed.
	Failure string
	// Compact is the event that the harness is about to put a summary in place of what its model
	// has read, where no SessionStart comes after it.
	Compact string
	// TaskCreated and TaskDone are the events of the harness's own list of tasks.
	TaskCreated, TaskDone string
	// EditTools matches the tools that change files, in the harness's form.
	EditTools string
	// Call is the event before a tool of the hub is called, and HubTools matches these
	// tools. SubStart and SubStop are those of a sub-agent. A harness has all of them or none.
	Call, HubTools, SubStart, SubStop string
}

// Driven reports whether "hubcli run" drives the harness over the Agent Client Protocol
// unless its user wants something else: nothing that it has itself begins a turn of an idle
// session with a message.
func (f *HarnessFacts) Driven() bool {
	return f.ACP != nil && !f.Queues && !f.TakesInput && !f.Streams
}

// Harnesses lists the harnesses in the order in which they are shown.
func Harnesses() []Harness {
	list := make([]Harness, len(harnesses))
	for i := range harnesses {
		list[i] = harnesses[i].ID
	}
	return list
}

// AllHarnessFacts returns the rows of all harnesses, in the order of Harnesses.
// They are shared: callers must not change them.
func AllHarnessFacts() []HarnessFacts { return harnesses }

// Facts returns the row of h, or an empty row if there is none.
func (h Harness) Facts() HarnessFacts {
	for i := range harnesses {
		if harnesses[i].ID == h {
			return harnesses[i]
		}
	}
	return HarnessFacts{ID: h}
}

// HookForm returns how h calls hooks. A harness without known hooks gets the
// form of HarnessGeneric.
func (h Harness) HookForm() *HookForm {
	if own := h.Facts().Hooks; own != nil {
		return own
	}
	return HarnessGeneric.Facts().Hooks
}

// ParseHarness finds a harness by its id or an alias, in any case and with
// underscores or spaces for hyphens. It returns false for other names.
func ParseHarness(name string) (Harness, bool) {
	name = harnessName(name)
	for i := range harnesses {
		if string(harnesses[i].ID) == name {
			return harnesses[i].ID, true
		}
		for _, alias := range harnesses[i].Aliases {
			if alias == name {
				return harnesses[i].ID, true
			}
		}
	}
	return "", false
}

// HarnessOfClient finds a harness by the name of an MCP client (clientInfo.name).
// It returns HarnessGeneric for other names.
func HarnessOfClient(name string) Harness {
	name = harnessName(name)
	for i := range harnesses {
		if harnesses[i].ID == HarnessGit {
			continue // a server for Git's tools is none
		}
		if isClient(name, string(harnesses[i].ID)) {
			return harnesses[i].ID
		}
		for _, client := range harnesses[i].Clients {
			if isClient(name, client) {
				return harnesses[i].ID
			}
		}
	}
	if h, ok := ParseHarness(name); ok {
		return h
	}
	return HarnessGeneric
}

// isClient reports whether name is client, or client followed by a hyphen and
// more.
func isClient(name, client string) bool {
	rest, ok := strings.CutPrefix(name, client)
	return ok && (rest == "" || rest[0] == '-')
}

func harnessName(name string) string {
	return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}
