package adapter

import (
	"slices"
	"sync"

	"hubcli/hub"
)

// row says how one harness is found and which entries its files get. Other
// facts about it are in its row in package hub.
type row struct {
	harness hub.Harness
	// folders detect the harness, and so do its programs: one of them is enough.
	folders []place
	global  *setup // nil: it has no such scope
	project *setup
	// strict is the name of the files that the harness skips if they hold comments or trailing
	// commas; empty: it reads those.
	strict string
	asks   *question // how the harness says whether it takes the entry; nil: in no known way
}

// setup holds the pieces of one scope. An empty part is not supported; lacking
// says why.
type setup struct {
	mcp   []piece
	hooks []piece
	// elsewhere replaces hooks while the hooks' file does not exist and another
	// file holds hooks that it would hide.
	elsewhere *elsewhere
	// repo says that the hooks are those of a Git repository, which says where they lie.
	repo  bool
	teach []place // where the text for the agent goes
	// permit, allow and approve are the permissions: rules of their own in a list,
	// a member of the server's entry, or such a member that lists tools. At most
	// one of them is set.
	permit  []piece
	allow   *allowance
	approve *approval
	plugin  []piece // written only if the user asks for it
	// own is the same in files of the hub's own; nil: the harness would lose something by it.
	own       *ownForm
	lacking   map[hub.AdapterPartName]string
	warnings  []string
	followUps []string // steps left to the user
}

// elsewhere is another file that may hold a harness's hooks.
type elsewhere struct {
	file  place
	key   string // of its hooks
	hooks []piece
}

// Reasons for which a part is not supported.
const (
	noHooks     = "this harness calls no command when a session begins or a turn ends"
	noTurnHooks = "the hooks of this harness cannot reach the agent"
	hooksGlobal = "this harness reads hooks from the user's settings alone"
	hooksTeach  = "the hook of the session's beginning tells the agent"
	perProject  = "the text belongs into a project; install with the scope project"
	onlyOwnFile = "the file belongs to no harness"
)

func lacks(pairs ...string) map[hub.AdapterPartName]string {
	m := map[hub.AdapterPartName]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[hub.AdapterPartName(pairs[i])] = pairs[i+1]
	}
	return m
}

// committed is said of files in a project.
const committed = "the project's files may be committed: the path of the executable is that of this machine"

// title is the name of the harness for people.
func (r *row) title() string { return r.harness.Facts().Title }

// rowOf finds the row of a harness.
func rowOf(h hub.Harness) (*row, bool) {
	i := slices.IndexFunc(rows(), func(r row) bool { return r.harness == h })
	if i < 0 {
		return nil, false
	}
	return &rows()[i], true
}

// Values that several rows have.
var (
	inServers = []string{"mcpServers"}
	agentsMD  = []place{"./AGENTS.md"}
)

// setup returns the row's setup in a scope; nil if it has none.
func (r *row) setup(s hub.AdapterScope) *setup {
	if s == hub.AdapterProject {
		return r.project
	}
	return r.global
}

// scopes lists the scopes that the harness has.
func (r *row) scopes() []hub.AdapterScope {
	var list []hub.AdapterScope
	if r.global != nil {
		list = append(list, hub.AdapterGlobal)
	}
	if r.project != nil {
		list = append(list, hub.AdapterProject)
	}
	return list
}

// rows is the one table of harnesses, in the order of hub.Harnesses. Each row is in
// the file of its harness. The facts come from the vendors' documentation and
// sources of 2026. If a harness was renamed or moved its files, the older places
// follow the newer ones.
var rows = sync.OnceValue(func() []row {
	return []row{
		genericRow(),
		claudeCodeRow(),
		codexRow(),
		vscodeRow(),
		copilotCLIRow(),
		cursorRow(),
		geminiCLIRow(),
		antigravityRow(),
		qwenCodeRow(),
		openCodeRow(),
		windsurfRow(),
		clineRow(),
		zedRow(),
		gooseRow(),
		ampRow(),
		droidRow(),
		kimiRow(),
		crushRow(),
		continueRow(),
		kiroRow(),
		gitRow(),
	}
})
