package archtest

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// layer says what one package, or one folder of packages, may import of the
// module, and the reason that is printed when an import breaks the rule.
type layer struct {
	dir  string   // from the root; the longest that fits a package holds
	may  []string // folders it may import besides its own; "*" is all
	why  string
	pure bool // no goroutine, clock, random source, file or socket
}

var (
	server = []string{"hub", "api", "actors", "actors/core", "actors/capsules", "capsule/transfer", "persistence", "persistence/search", "integrations/folders", "supervisor", "httpapi"}
	client = []string{"hub", "api", "api/client"}

	// floor holds packages that know nothing of the project, or its vocabulary alone, and that all delivered
	// code may import, but for the pure cores and the vocabulary.
	floor = []string{"internal/answers", "internal/bounded", "internal/circle", "internal/gitdir", "internal/hubfile", "internal/lazy", "internal/near", "internal/osfile", "internal/pause", "internal/peertext", "internal/peeruser", "internal/process", "internal/strictjson"}
)

// layers is the drawing of the architecture as a table: imports point down.
var layers = []layer{
	{dir: "hub", pure: true, why: "hub is the vocabulary that everybody imports; it knows nobody"},
	{dir: "actors/core", may: []string{"hub"}, pure: true, why: "the cores are pure state machines over the vocabulary"},
	{dir: "api", may: []string{"hub"}, why: "the wire structs are the vocabulary's, on both sides of the wire"},
	{dir: "api/gen", may: []string{"hub", "api"}, why: "it reads the table of operations and the vocabulary, and writes files; nothing delivered needs it"},
	{dir: "api/client", may: []string{"hub", "api"}, why: "the client knows the hub over HTTP only"},
	{dir: "actors/view", may: []string{"hub", "actors/core"}, why: "views show committed records and know no owner: they never decide"},
	{dir: "actors/engine", may: []string{"hub", "actors/core"}, why: "the engine runs owners and knows no view: it sees one through its interface Views"},
	{dir: "actors/gate", may: []string{"hub", "actors/core", "actors/engine", "actors/view"}, why: "it asks the views what the operator rules, and sends commands to the engine; of resources it knows their names in the table alone"},
	{dir: "actors/index", may: []string{"hub", "actors/core", "actors/engine", "actors/view"}, why: "the indexer reads what the views show and decides nothing"},
	{dir: "actors/leases", may: []string{"hub", "actors/core", "actors/engine", "actors/gate", "actors/view"}, why: "a request for a lease is a command of its own kind; the queue is the extension of an owner"},
	{dir: "actors/lists", may: []string{"hub", "actors/core", "actors/engine", "actors/view"}, why: "a list shows committed rows and decides nothing; of the engine it uses the clock"},
	{dir: "actors/replay", may: []string{"hub", "actors/core", "actors/view"}, why: "a replay shows what records and rows say and decides nothing"},
	{dir: "actors/seats", may: []string{"hub", "actors/core", "actors/engine", "actors/gate", "actors/view"}, why: "it learns of committed records and has rooms decide; watches and spawns it sees as functions"},
	{dir: "actors/asleep", may: []string{"hub", "actors/core", "actors/engine", "actors/view"}, why: "it learns of committed records, looks at the views and submits its notice; it asks the hub for the rest by functions"},
	{dir: "actors/watch", may: []string{"hub", "actors/core", "actors/engine", "actors/view"}, why: "a watch looks at the views and submits its notice; the hub hands it everything else as functions"},
	{dir: "actors/spawns", may: []string{"hub", "actors/core", "actors/engine", "actors/gate", "actors/view"}, why: "a process manager has owners decide and learns of committed records; it starts processes through its interface Runner"},
	{dir: "actors/asks", may: []string{"hub", "actors/core", "actors/engine", "actors/gate", "actors/view"}, why: "it checks names against the views, has the owner of questions decide, and learns of committed records"},
	{dir: "actors/guard", may: []string{"hub", "actors/core", "actors/engine", "actors/view"}, why: "it learns of committed records and decides about posts; it asks the operator by a function"},
	{dir: "actors/connections", may: []string{"hub", "actors/core", "actors/engine", "actors/gate", "actors/view"}, why: "it finds keys and has the owner decide; providers and the credential store it sees as interfaces"},
	{dir: "actors/capsules", may: []string{"hub", "actors/core", "actors/engine", "actors/gate", "actors/view", "capsule"}, why: "an export reads rows and writes the format, an import stages rows and has one owner decide; files and redaction are the caller's"},
	{dir: "capsule/readable", may: []string{"hub", "capsule", "capsule/replayfile"}, why: "it renders a capsule that has passed its checks; where the files go is the caller's"},
	{dir: "capsule/seal", may: []string{"hub"}, why: "it signs, encrypts and opens what it is given; it knows neither capsules nor where keys are kept"},
	{dir: "capsule/mirror", may: []string{"hub"}, pure: true, why: "it decides from hashes what a mirror changes; the caller looks at files and writes them"},
	{dir: "capsule/replayfile", may: []string{"hub"}, why: "it makes a page of what it is told; the hub it sees as an interface, and it writes no file"},
	{dir: "capsule/transfer", may: []string{"hub", "actors/core", "actors/capsules", "capsule", "capsule/mirror", "capsule/readable", "capsule/redact", "capsule/seal"}, why: "it plans files of capsules; the hub and its store it sees as functions and interfaces"},
	{dir: "actors", may: []string{"hub", "actors/core", "actors/engine", "actors/asks", "actors/asleep", "actors/capsules", "actors/connections", "actors/gate", "actors/guard", "actors/index", "actors/leases", "actors/lists", "actors/replay", "actors/seats", "actors/spawns", "actors/view", "actors/watch", "capsule"}, why: "owners declare what they need of a store and know neither it nor HTTP"},
	{dir: "capsule", may: []string{"hub", "internal/strictjson"}, pure: true, why: "the format knows no hub, no file and no clock: the caller gives it bytes and texts"},
	{dir: "capsule/redact", may: []string{"internal/lazy"}, pure: true, why: "it turns a text into another by its rules alone: the caller gives the salt, and what is known of the machine"},
	{dir: "persistence", may: []string{"hub", "actors/core", "persistence/badgerfile", "persistence/codec", "persistence/storedir", "internal/maker"}, why: "the store satisfies the interfaces of actors/core and knows nobody above"},
	{dir: "persistence/codec", may: []string{"hub", "actors/core"}, why: "the format is at the bottom of the store: it knows no file"},
	{dir: "persistence/storedir", may: []string{"hub", "actors/core", "persistence/codec"}, why: "the folder of a store knows no database"},
	{dir: "persistence/badgerfile", may: []string{"hub", "actors/core", "persistence/codec", "persistence/storedir"}, why: "it reads files of the database without the database"},
	{dir: "persistence/search", may: []string{"hub", "actors/core"}, why: "the index satisfies an interface of actors/core and is derived: it knows neither store nor HTTP"},
	{dir: "integrations/folders", may: []string{"hub", "actors/core"}, why: "it satisfies an interface of actors and looks at folders, nothing else"},
	{dir: "supervisor", may: []string{"hub", "actors", "persistence", "persistence/search", "persistence/storedir", "integrations/folders", "httpapi"}, why: "the tree of a daemon's parts: it starts and stops them and decides nothing else"},
	{dir: "supervisor/capsules", may: []string{"hub", "supervisor", "capsule/redact", "capsule/transfer", "integrations/folders"}, why: "it hands the parts of a hub to the plans of exports and imports"},
	{dir: "httpapi/console", may: nil, why: "the files of the web console are the same for everybody: they know no hub and no caller"},
	{dir: "httpapi", may: []string{"hub", "api", "overview", "httpapi/console"}, why: "the HTTP edge sees the interfaces of hub, never an actor or the store"},
	{dir: "integrations/homeroom", may: []string{"hub"}, why: "it looks at a folder and asks a hub for what its interface names; the commands and the bridge dial it"},
	{dir: "mcp", may: append([]string{"mcp/session", "mcp/wire", "integrations/hook", "internal/identity"}, client...), why: "the client side speaks HTTP; go through api/client; a hook and a bridge of one harness session agree through internal/identity on who the agent is"},
	{dir: "mcp/session", may: append([]string{"mcp/wire", "integrations/homeroom", "integrations/hook", "internal/identity"}, client...), why: "the session of a bridge knows no tool; a hook and a bridge of one harness session agree through internal/identity on who the agent is"},
	{dir: "mcp/wire", may: []string{"hub"}, why: "the framing of messages knows neither tools nor the hub's address"},
	{dir: "relay", may: client, why: "the client side speaks HTTP; go through api/client"},
	{dir: "relay/forwarder", may: append([]string{"relay", "internal/maker"}, client...), why: "the forwarder is a client of the hub and knows the format of the spool; the agent's side never needs it"},
	{dir: "cli/demo", may: client, why: "a member of the demo's team is an agent like any other; go through api/client"},
	{dir: "cli/smoke", may: client, why: "a conformance test knows the contract only; go through api/client"},
	{dir: "integrations/hook", may: []string{"hub", "internal/identity", "capsule/redact"}, why: "a hook asks a hub for what its interface names; the command line dials it; secrets are recognized in one place"},
	{dir: "integrations/service", may: nil, why: "it writes a file for a service manager and knows no hub"},
	{dir: "integrations/notify", may: []string{"hub"}, why: "it runs the program and calls the webhook that it is told, and knows no hub"},
	{dir: "integrations/browser/engine", may: []string{"hub"}, why: "it finds and installs engines and drives none; it knows no hub"},
	{dir: "integrations/background", may: []string{"hub"}, why: "it begins sessions of harnesses by their own means and knows no hub"},
	{dir: "integrations/acp", may: nil, why: "it speaks a protocol with a harness and knows no hub"},
	{dir: "integrations/wake", may: nil, why: "what begins a turn knows no hub and no message"},
	{dir: "cli/daemon", may: client, why: "it starts, finds and stops hubs; the commands tell people about it"},
	{dir: "cli/doctor", may: append([]string{"cli/daemon", "internal/identity"}, client...), why: "it looks at the machine and asks the hub; the command prints what it finds"},
	{dir: "cli/drive", may: []string{"hub", "integrations/acp"}, why: "a driver asks a hub for what its interface names, and speaks with a harness; the command dials and starts them"},
	{dir: "overview", may: []string{"hub"}, why: "it asks a hub for what its interface names, and derives the rest; the commands show it"},
	{dir: "cli/top", may: []string{"hub", "overview"}, why: "the live view asks a hub for what its interface names; the command dials it"},
	{dir: "cli/term", may: append([]string{"cli/daemon", "integrations/browser/engine"}, client...), why: "the floor of the command line knows no command and no flag"},
	{dir: "cli/opt", may: append([]string{"cli/term", "cli/daemon", "integrations/hook"}, client...), why: "flags know no command"},
	{dir: "cli/list", may: append([]string{"cli/term", "cli/opt", "overview", "integrations/hook"}, client...), why: "lists know no command"},
	{dir: "cli/machine", may: append([]string{"cli/term", "cli/opt", "cli/list", "cli/daemon", "cli/doctor", "cli/demo", "integrations/browser/engine", "integrations/hook", "integrations/service", "relay/forwarder", "internal/maker", "internal/identity"}, client...), why: "the commands for the hub of a machine know those of no agent"},
	{dir: "cli/adapter", may: append([]string{"cli/term", "cli/opt"}, client...), why: "the hub writes what these commands show"},
	{dir: "cli/capsule", may: append([]string{"cli/term", "cli/opt", "capsule/seal"}, client...), why: "the hub writes and reads capsules; keys are this user's"},
	{dir: "cli/connection", may: append([]string{"cli/term", "cli/opt", "cli/list"}, client...), why: "the hub keeps connections"},
	{dir: "cli/room", may: append([]string{"cli/term", "cli/opt", "cli/list", "cli/capsule", "capsule/replayfile", "overview", "integrations/homeroom", "integrations/hook"}, client...), why: "the commands for rooms ask a hub"},
	{dir: "cli/person", may: append([]string{"cli/term", "cli/opt", "cli/list", "cli/top", "cli/daemon", "overview", "integrations/hook"}, client...), why: "the commands of a person ask a hub"},
	{dir: "cli/agent", may: append([]string{"cli/term", "cli/opt", "cli/list", "cli/machine", "cli/adapter", "cli/daemon", "cli/drive", "cli/smoke", "relay", "integrations/acp", "integrations/background", "integrations/hook", "integrations/wake", "internal/identity", "mcp", "mcp/session"}, client...), why: "the commands of agents ask a hub, and start one"},
	{dir: "cli/setup", may: append([]string{"cli/term", "cli/opt", "cli/adapter", "cli/machine", "integrations/homeroom"}, client...), why: "it does in one command what several do"},
	{dir: "cli", may: append([]string{"cli/term", "cli/opt", "cli/list", "cli/person", "cli/agent", "cli/machine", "cli/room", "cli/adapter", "cli/capsule", "cli/connection", "cli/setup", "cli/daemon", "cli/doctor", "integrations/hook", "overview"}, client...), why: "the tree of the commands; cmd/hubcli hands it the daemon"},
	{dir: "stress", may: append([]string{"relay", "relay/forwarder", "internal/packer", "internal/testport"}, client...), why: "load and fault programs drive the built executable from outside"},
	{dir: "integrations/license/keygen", why: "it speaks a protocol and verifies what was signed; files, secrets and words for people are the caller's"},
	{dir: "integrations/license/machine", why: "it names the machine and knows no license"},
	{dir: "integrations/license", may: []string{"hub", "integrations/license/keygen", "integrations/license/machine"}, why: "it keeps and proves a license; the credential store it sees as an interface, and the hub never asks it"},
	{dir: "integrations", may: []string{"hub"}, why: "an integration never imports another"},
	{dir: "cmd/hubcli", may: []string{"*"}, why: "the one place that wires everything"},
	{dir: "cmd/packed", may: []string{"cli", "cli/term", "internal/identity", "internal/program", "internal/packer"}, why: "it runs commands of cli, and leaves the others to the program that it carries"},
	{dir: "internal/answers", may: []string{"hub"}, why: "it counts bytes by agent and knows nothing else of the project"},
	{dir: "internal/circle", why: "it follows ways between things and knows nothing of the project"},
	{dir: "internal/bounded", why: "it holds keys and values and knows nothing of the project"},
	{dir: "internal/contract", may: []string{"hub", "api"}, why: "it compares the wire with its description, from outside"},
	{dir: "internal/hubfile", may: []string{"hub", "internal/osfile", "internal/pause"}, why: "it keeps files about hubs of this user and asks no hub"},
	{dir: "internal/gitdir", may: []string{"internal/osfile"}, why: "it looks at folders of Git and knows nothing of the project"},
	{dir: "internal/maker", why: "it knows a secret and what it marks, and nothing of the project"},
	{dir: "internal/near", why: "it compares words and knows nothing of the project"},
	{dir: "internal/osfile", why: "it knows the operating system and nothing of the project"},
	{dir: "internal/pause", why: "it waits and knows nothing of the project"},
	{dir: "internal/peertext", why: "it renders text and knows nothing of the project"},
	{dir: "internal/peeruser", why: "it knows the operating system and nothing of the project"},
	{dir: "internal/program", why: "it knows the process that it is in and nothing of the project"},
	{dir: "internal/packer", why: "it runs the go command and imports none of the project"},
	{dir: "internal/pack", may: []string{"internal/packer"}, why: "it hands its arguments to the packer"},
	{dir: "internal/strictjson", pure: true, why: "it reads a text and knows nothing of the project"},
	{dir: "internal/process", why: "it knows the operating system and nothing of the project"},
	{dir: "internal/identity", may: []string{"hub"}, why: "it keeps files about agents on this machine and asks no hub"},
	{dir: "internal/testhub", may: []string{"*"}, why: "a whole hub for tests"},
	{dir: "internal/roomday", may: []string{"hub"}, why: "it plays a day over the services of a hub, whatever answers them"},
	{dir: "internal/require", why: "it ends tests and imports none of the project"},
	{dir: "internal/formatlist", why: "it compares lists and imports none of the project"},
	{dir: "internal/testlog", why: "it keeps what is written and imports none of the project"},
	{dir: "internal/hostiletext", why: "texts for tests, and nothing else"},
	{dir: "internal/testkeyring", may: []string{"internal/testprogram"}, why: "it runs other people's programs and knows nothing of the project but which of them may be missing"},
	{dir: "internal/testcli", may: []string{"hub", "cli/term", "cli/daemon", "internal/testport"}, why: "what tests of commands share"},
	{dir: "internal/testprogram", why: "it looks for other people's programs and imports none of the project"},
	{dir: "internal/testrace", why: "it asks the build and imports none of the project"},
	{dir: "internal/testfeature", why: "it knows the tags of a build and nothing of the project"},
	{dir: "internal/testport", why: "it hands out numbers of ports and imports none of the project"},
	{dir: "internal/archtest", why: "it reads source and imports none"},
	{dir: "internal/faults", why: "it runs the go command and imports none of the project"},
	{dir: "internal/words", why: "it reads texts and imports none of the project"},
	{dir: "internal/target", why: "it holds constants"},
	{dir: "internal/licenseserver", why: "it stands at the far end of a network and shares no code with the client that it tests"},
	{dir: "internal/lazy", why: "it makes values when they are wanted and knows nothing of the project"},
	{dir: "internal/nometrics", why: "it stands in for modules of other people and imports none of the project"},
	{dir: "internal/jsoniter", why: "it stands in for a module of other people and imports none of the project"},
	{dir: "internal/release", may: []string{"cli", "internal/packer", "internal/target"}, why: "it makes archives of files, and man pages of the command tree"},
	{dir: "internal/check", may: []string{"internal/target", "internal/testprogram", "internal/testrace", "internal/testfeature"}, why: "it runs tools and imports nothing else of the project"},
}

// layerOf returns the rule for a folder.
func layerOf(dir string) (layer, bool) {
	var best layer
	for _, l := range layers {
		if within(dir, l.dir) && len(l.dir) > len(best.dir) {
			best = l
		}
	}
	return best, best.dir != ""
}

// within reports whether dir is parent or lies below it.
func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

// allows reports whether a package of l in folder from may import folder to.
func (l *layer) allows(from, to string) bool {
	if slices.Contains(l.may, "*") || from == to {
		return true
	}
	if slices.Contains(floor, to) {
		return slices.Contains(l.may, to) || !l.pure && !slices.Contains(floor, from)
	}
	target, _ := layerOf(to)
	if target.dir == l.dir {
		// Siblings below one folder are one layer, except that an integration is
		// one with what lies below it.
		return l.dir != "integrations" || integration(from) == integration(to)
	}
	return slices.Contains(l.may, target.dir)
}

// integration is the folder of one integration: integrations/<name>.
func integration(dir string) string {
	_, rest, _ := strings.Cut(dir, "/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func TestImportsPointDown(t *testing.T) {
	for _, f := range goFiles(t) {
		l, ok := layerOf(f.dir)
		if !ok {
			t.Errorf("%s: folder %s is in no layer; add it to the table of layers with its reason", f.path, f.dir)
			continue
		}
		for _, imported := range f.imports {
			to, ok := strings.CutPrefix(imported, module+"/")
			if !ok || f.test && (within(to, "internal/testhub") || to == "internal/require" || to == "internal/testprogram" || to == "internal/testrace" || to == "internal/formatlist") {
				continue
			}
			if f.test && !l.pure {
				continue // a test may build what it needs
			}
			if !l.allows(f.dir, to) {
				t.Errorf("%s imports %s: %s", f.path, to, l.why)
			}
		}
	}
}

// The client side must not reach the server side by any chain of imports.
func TestClientSideNeverReachesTheServer(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		for _, imported := range f.imports {
			if to, ok := strings.CutPrefix(imported, module+"/"); ok {
				imports[f.dir] = append(imports[f.dir], to)
			}
		}
	}
	forbidden := slices.DeleteFunc(slices.Clone(server), func(dir string) bool { return dir == "hub" || dir == "api" })
	for from := range imports {
		if !slices.ContainsFunc([]string{"cli", "integrations/hook", "mcp", "relay", "stress", "api"}, func(c string) bool { return within(from, c) }) {
			continue
		}
		seen := map[string]bool{from: true}
		chains := [][]string{{from}}
		for len(chains) > 0 {
			chain := chains[0]
			chains = chains[1:]
			last := chain[len(chain)-1]
			if slices.ContainsFunc(forbidden, func(s string) bool { return within(last, s) }) {
				t.Errorf("%s reaches %s: the client side speaks HTTP; go through api/client", strings.Join(chain, " -> "), last)
				continue
			}
			for _, next := range imports[last] {
				if !seen[next] {
					seen[next] = true
					chains = append(chains, append(slices.Clone(chain), next))
				}
			}
		}
	}
}

// What only tests need must not be linked into what is delivered.
func TestTestSupportIsNotDelivered(t *testing.T) {
	support := []string{"internal", "persistence/conformance", "stress"}
	delivered := append([]string{"internal/identity", "internal/maker", "internal/program"}, floor...)
	for _, f := range goFiles(t) {
		if f.test || slices.ContainsFunc(support, func(s string) bool { return within(f.dir, s) }) {
			continue
		}
		for _, imported := range f.imports {
			to, ok := strings.CutPrefix(imported, module+"/")
			if imported == "testing" || ok && !slices.Contains(delivered, to) && slices.ContainsFunc(support, func(s string) bool { return within(to, s) }) {
				t.Errorf("%s imports %s: it is for tests and would be delivered", f.path, imported)
			}
		}
	}
}

// commandLine are the folders of the command line with the floor that they share.
var commandLine = []string{"cli", "cli/term", "cli/opt", "cli/list", "cli/person", "cli/agent", "cli/machine", "cli/room", "cli/adapter", "cli/capsule", "cli/connection", "cli/setup"}

// other says who may import a module of other people outside tests.
type other struct {
	prefix string
	dirs   []string // exactly these folders
	why    string
}

// others lists every such module: a new one needs a line and a reason here.
var others = []other{
	{"github.com/asynkron/protoactor-go", []string{"actors/engine"}, "one wrapper offers the safe subset; a change of runtime is a change of one file"},
	{"github.com/dgraph-io/badger", []string{"persistence", "persistence/badgerfile"}, "the journal's format and durability are decided in one place"},
	{"github.com/dgraph-io/badger", []string{"stress/bench"}, "the bench measures a synced commit of the same store beside the hub"},
	{"github.com/dgraph-io/ristretto", []string{"persistence", "persistence/badgerfile"}, "a dependency of badger, for its sizes only"},
	{"github.com/coder/websocket", []string{"integrations/background"}, "the app server of Codex speaks it"},
	{"github.com/fsnotify/fsnotify", []string{"relay", "relay/forwarder"}, "each side of a spool watches its own folders, beside the looks that do not trust the watch"},
	{"go.opentelemetry.io/otel", []string{"internal/nometrics/exporter", "internal/nometrics/sdk"}, "they stand in for modules of the actor runtime, and have its types"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"mcp", "mcp/wire"}, "the protocol is spoken in one place"},
	{"github.com/anishathalye/porcupine", []string{"stress/linear"}, "it looks for an order of calls that explains all answers"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"stress/ceiling"}, "the bench measures a bare server of the same SDK beside the bridge"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"integrations/adapter"}, "an installed entry is tried with the client of the same SDK"},
	{"github.com/google/jsonschema-go", []string{"mcp"}, "the arguments of tools are described and checked where they are taken"},
	{"github.com/spf13/cobra", commandLine, "commands are the command line's"},
	{"github.com/spf13/cobra", []string{"internal/release"}, "man pages and completions are generated from the command tree"},
	{"charm.land/bubbletea/v2", []string{"cli/top"}, "one package draws a live screen and reads its keys"},
	{"github.com/charmbracelet/x/ansi", []string{"overview"}, "texts are measured and cut by the cells that they take on a terminal"},
	{"github.com/spf13/pflag", commandLine, "flags are the command line's"},
	{"github.com/spf13/pflag", []string{"internal/release"}, "man pages are generated from the command tree"},
	{"gopkg.in/natefinch/lumberjack.v2", []string{"cmd/hubcli", "cli/daemon"}, "the log file is chosen where the daemon is started"},
	{"golang.org/x/sys", []string{"persistence", "cli/term", "cli/daemon", "cmd/packed", "stress", "stress/disks", "stress/figures", "stress/power", "relay/forwarder", "internal/osfile", "internal/peeruser", "internal/process", "integrations/adapter/files", "integrations/browser/engine", "integrations/license/machine", "integrations/spawn"}, "what only the operating system knows"},
	{"github.com/getkin/kin-openapi", []string{"internal/contract"}, "tests compare the wire with its description"},
	{"github.com/santhosh-tekuri/jsonschema", []string{"internal/contract"}, "tests compare the wire with its description"},
	{"pgregory.net/rapid", []string{"persistence/conformance"}, "the suites of the store are properties"},
	{"github.com/blevesearch/bleve", []string{"persistence/search"}, "words are indexed in one place; nothing else sees the engine"},
	{"github.com/blevesearch/bleve_index_api", []string{"persistence/search"}, "the engine's interfaces"},
	{"go.etcd.io/bbolt", []string{"persistence/search"}, "reads which files the search engine's list names; bleve keeps the list in it"},
	{"github.com/blevesearch/snowballstem", []string{"persistence/search"}, "the stems of English words; Snowball's algorithm as bleve has it"},
	{"golang.org/x/text", []string{"persistence/search"}, "words are compared without regard to accents and composition"},
	{"golang.org/x/text", []string{"actors/core"}, "names of rooms are compared without regard to accents and composition"},
	{"github.com/charmbracelet/x/ansi", []string{"cli/term"}, "tables are measured and cut as a terminal shows them, wide characters included"},
	{"golang.org/x/time", []string{"cli/agent", "mcp/session"}, "the lines of a stream, and the turns that a bridge begins, are paced by a token bucket"},
	{"filippo.io/age", []string{"capsule/seal"}, "capsules are encrypted in one place, as the program age does it"},
	{"filippo.io/age", []string{"integrations/credstore"}, "secrets are kept in an encrypted file where the system has no credential store"},
	{"aead.dev/minisign", []string{"capsule/seal"}, "capsules are signed in one place, as the program minisign does it"},
	{"github.com/tailscale/hujson", []string{"integrations/adapter/edit"}, "configuration files are parsed for places where they are edited"},
	{"github.com/aymanbagabas/go-udiff", []string{"integrations/adapter/edit"}, "a change is shown before it is made"},
	{"github.com/pelletier/go-toml", []string{"integrations/adapter/edit"}, "configuration files are parsed for places where they are edited"},
	{"github.com/julienschmidt/httprouter", []string{"api"}, "a path is read in one place, for the edge, the relay and the tests"},
	{"go.yaml.in/yaml", []string{"api", "api/gen"}, "the description of the wire is made as YAML and served as JSON"},
	{"github.com/zalando/go-keyring", []string{"integrations/credstore"}, "secrets are kept in one place, with a time limit that the library lacks"},
	{"github.com/godbus/dbus", []string{"integrations/credstore"}, "what the message bus says is told apart by the names of its errors"},
	{"github.com/godbus/dbus", []string{"internal/testkeyring"}, "tests look who answers on a bus of their own, and lock it"},
	{"go.yaml.in/yaml", []string{"integrations/adapter/edit"}, "configuration files are parsed for places where they are edited"},
}

func TestOthersModulesStayBehindTheirWrapper(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || within(f.dir, "internal/testhub") {
			continue
		}
		for _, imported := range f.imports {
			first, _, _ := strings.Cut(imported, "/")
			if within(imported, module) || !strings.Contains(first, ".") {
				continue
			}
			var reasons []string
			allowed := false
			for _, o := range others {
				if within(imported, o.prefix) || strings.HasPrefix(imported, o.prefix+".") {
					reasons = append(reasons, strings.Join(o.dirs, ", ")+": "+o.why)
					allowed = allowed || slices.Contains(o.dirs, f.dir)
				}
			}
			if len(reasons) == 0 {
				t.Errorf("%s imports %s, which no package may; add it to the table with its reason", f.path, imported)
			} else if !allowed {
				t.Errorf("%s imports %s, which only these may:\n\t%s", f.path, imported, strings.Join(reasons, "\n\t"))
			}
		}
	}
}

// The other files may hold a PID, as a name; what is done with it is the
// wrapper's.
func TestOneFileWrapsTheActorRuntime(t *testing.T) {
	users := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		names := runtimeNames(f)
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name != "PID" {
				if pkg, ok := sel.X.(*ast.Ident); ok && names[pkg.Name] {
					users[f.path] = true
				}
			}
			return true
		})
	}
	if len(users) > 1 {
		t.Errorf("protoactor-go is used by %s: one wrapper offers its safe subset, the other files use the wrapper",
			strings.Join(slices.Sorted(maps.Keys(users)), ", "))
	}
}

// runtimeNames returns the names under which a file imports the actor runtime.
func runtimeNames(f *goFile) map[string]bool {
	names := map[string]bool{}
	for i, imported := range f.imports {
		if !within(imported, "github.com/asynkron/protoactor-go") {
			continue
		}
		if name := f.syntax.Imports[i].Name; name != nil {
			names[name.Name] = true
		} else {
			names[path.Base(imported)] = true
		}
	}
	return names
}
