package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
	"hubcli/internal/require"
)

const clineFile = ".cline/data/settings/cline_mcp_settings.json"

// cline is a rig with an adapter of Cline.
type cline struct {
	*rig
	in   hub.AdapterInput
	file string
}

// newCline installs the adapter of Cline, with its permissions or without.
func newCline(t *testing.T, permissions bool) *cline {
	t.Helper()
	r := newRig(t)
	c := &cline{rig: r, in: r.input(hub.AdapterGlobal), file: filepath.Join(r.home, clineFile)}
	in := c.in
	in.NoPermissions = !permissions
	c.must(hub.HarnessCline, hub.AdapterInstall, in)
	return c
}

// withTools are the same adapters as a version of the program has them whose
// bridge has these tools.
func (c *cline) withTools(tools ...string) {
	c.tools = tools
	c.Adapters = c.another()
}

// entry returns the server's entry as Cline reads it.
func (c *cline) entry() map[string]any {
	c.t.Helper()
	var doc struct {
		Servers map[string]map[string]any `json:"mcpServers"`
	}
	require.NoError(c.t, json.Unmarshal([]byte(c.read(c.file)), &doc))
	return doc.Servers[serverName]
}

// listed returns the tools that Cline calls without asking.
func (c *cline) listed() string {
	c.t.Helper()
	var names []string
	list, _ := c.entry()["autoApprove"].([]any)
	for _, name := range list {
		names = append(names, name.(string))
	}
	return strings.Join(names, " ")
}

// set gives the entry another list, in the manner in which Cline writes its file.
func (c *cline) set(list any) {
	c.t.Helper()
	var doc map[string]map[string]map[string]any
	require.NoError(c.t, json.Unmarshal([]byte(c.read(c.file)), &doc))
	doc["mcpServers"][serverName]["autoApprove"] = list
	b, err := json.MarshalIndent(doc, "", "  ")
	require.NoError(c.t, err)
	c.write(c.file, string(b))
}

// state returns the states of the server and of the permissions.
func (c *cline) state() string {
	c.t.Helper()
	return c.partsOf(hub.HarnessCline, c.in, func(p hub.AdapterPartName) bool { return p == hub.PartMCP || p == hub.PartPermissions })
}

func (c *cline) change(action hub.AdapterAction) hub.AdapterResult {
	c.t.Helper()
	return c.must(hub.HarnessCline, action, c.in)
}

// withdraw takes the permissions out of the adapter.
func (c *cline) withdraw() {
	c.t.Helper()
	in := c.in
	in.NoPermissions = true
	c.must(hub.HarnessCline, hub.AdapterInstall, in)
}

func (c *cline) want(state, listed string) {
	c.t.Helper()
	if got := c.state(); got != state || c.listed() != listed {
		c.t.Errorf("state %q and list %q, want %q and %q\n%s", got, c.listed(), state, listed, c.read(c.file))
	}
}

// lacks checks the names that the status calls missing.
func (c *cline) lacks(names string) {
	c.t.Helper()
	row, err := c.Adapter(context.Background(), hub.HarnessCline, hub.AdapterQuery{})
	require.NoError(c.t, err)
	i := slices.IndexFunc(row.Places[0].Parts, func(p hub.AdapterPart) bool { return p.Part == hub.PartPermissions })
	if got, want := row.Places[0].Parts[i].Reason, "autoApprove lacks "+names+";"; !strings.HasPrefix(got, want) {
		c.t.Errorf("it says %q, want %q", got, want)
	}
}

// TestApprovalOfEachTool: an install offers each tool by its name, and says on
// what else it depends.
func TestApprovalOfEachTool(t *testing.T) {
	r := newRig(t)
	plan, err := r.PreviewAdapter(context.Background(), hub.HarnessCline, hub.AdapterInstall, hub.AdapterInput{})
	require.NoError(t, err)
	for _, part := range []string{`"hub_dm"`, `"hub_start"`, `"hub_task"`, "Use MCP servers", "--no-permissions"} {
		if !strings.Contains(plan.Prompt, part) {
			t.Errorf("the offer lacks %s:\n%s", part, plan.Prompt)
		}
	}
	if strings.Contains(plan.Prompt, "hubcli watch") {
		t.Errorf("it offers what Cline is not told:\n%s", plan.Prompt)
	}
	newCline(t, true).want("installed installed", "hub_dm hub_start hub_task")
}

// TestApprovalOfTheUser: names that the user has added stay through install,
// repair and a withdrawal, also those that equal tools of the hub.
func TestApprovalOfTheUser(t *testing.T) {
	c := newCline(t, false)
	c.set([]string{"mine", "hub_start"})
	c.want("installed absent", "mine hub_start")
	if done := c.change(hub.AdapterRepair); done.Changed {
		t.Errorf("a repair after a refusal changed %+v", done.Files)
	}
	c.Ensure(context.Background())
	c.want("installed absent", "mine hub_start")
	c.change(hub.AdapterInstall)
	c.want("installed installed", "mine hub_start hub_dm hub_task")
	c.set([]string{"hub_start", "hub_dm", "hub_task", "mine", "later"})
	if done := c.change(hub.AdapterRepair); len(done.Files) > 0 {
		t.Errorf("a repair changed %+v", done.Files)
	}
	c.want("installed installed", "hub_start hub_dm hub_task mine later")
	c.withdraw()
	c.want("installed absent", "hub_start mine later")
	c.change(hub.AdapterRepair)
	c.want("installed absent", "hub_start mine later")
}

// TestApprovalStaysWithTheEntry: the server's entry is rewritten around a list
// that the user has changed, and that list is no drift.
func TestApprovalStaysWithTheEntry(t *testing.T) {
	c := newCline(t, true)
	const own = `"autoApprove": ["hub_task", /* ask */ "mine", "hub_dm", "hub_start"]`
	before, rest, _ := strings.Cut(c.read(c.file), `"autoApprove": [`)
	_, after, _ := strings.Cut(rest, "]")
	c.write(c.file, before+own+after)
	c.config.BaseURL = "http://127.0.0.1:7001"
	if got := c.state(); got != "installed* installed" {
		t.Errorf("at another address: %s", got)
	}
	for _, action := range []hub.AdapterAction{hub.AdapterInstall, hub.AdapterRepair} {
		if c.change(action); !strings.Contains(c.read(c.file), own) || !strings.Contains(c.read(c.file), "7001") {
			t.Errorf("%s: %s", action, c.read(c.file))
		}
	}
	c.write(c.file, strings.Replace(c.read(c.file), `"disabled": false`, `"disabled": true`, 1))
	if got := c.state(); got != "drifted installed" {
		t.Errorf("changed: %s", got)
	}
	if c.change(hub.AdapterRepair); !strings.Contains(c.read(c.file), own) {
		t.Errorf("repaired: %s", c.read(c.file))
	}
}

// TestApprovalIsWithdrawnWithANewEntry: a refusal takes the names out even if the
// server's entry is rewritten by the same plan.
func TestApprovalIsWithdrawnWithANewEntry(t *testing.T) {
	c := newCline(t, true)
	c.set([]string{"hub_dm", "mine", "hub_start", "hub_task"})
	c.config.BaseURL = "http://127.0.0.1:7001"
	c.withdraw()
	c.want("installed absent", "mine")
	if !strings.Contains(c.read(c.file), "7001") {
		t.Errorf("the entry is old:\n%s", c.read(c.file))
	}
}

// TestApprovalGoesStale: a tool of a later version that the list lacks is seen and
// mended, one that is no more goes, and a start that asks nobody allows nothing.
func TestApprovalGoesStale(t *testing.T) {
	c := newCline(t, true)
	c.set([]string{"mine", "hub_dm", "hub_start", "hub_task"})
	c.withTools("hub_dm", "hub_lock", "hub_start")
	c.Ensure(context.Background())
	c.want("installed installed*", "mine hub_dm hub_start")
	c.lacks("hub_lock")
	if plan, err := c.PreviewAdapter(context.Background(), hub.HarnessCline, hub.AdapterInstall, c.in); err != nil || !strings.Contains(plan.Prompt, "--no-permissions") {
		t.Errorf("the offer of another tool: %v\n%s", err, plan.Prompt)
	}
	c.change(hub.AdapterRepair)
	c.want("installed installed", "mine hub_dm hub_start hub_lock")

	c = newCline(t, true)
	c.set([]string{"hub_dm", "mine"})
	c.want("installed drifted", "hub_dm mine")
	c.lacks("hub_start, hub_task")
	c.Ensure(context.Background())
	if got := c.listed(); got != "hub_dm mine" {
		t.Errorf("a start that asks nobody allowed %s", got)
	}
	c.change(hub.AdapterRepair)
	c.want("installed installed", "hub_dm mine hub_start hub_task")
}

// TestApprovalThatTheUserTookBack: a user who takes all names of the hub's out has refused
// the permissions. Only an install, which offers them, gives them again.
func TestApprovalThatTheUserTookBack(t *testing.T) {
	for name, list := range map[string]any{"empty": []string{}, "only theirs": []string{"mine"}} {
		t.Run(name, func(t *testing.T) {
			c := newCline(t, true)
			c.set(list)
			was := c.read(c.file)
			if got := c.state(); got != "installed absent" {
				t.Errorf("taken back: %s", got)
			}
			for range 2 { // the second meets the ledger of the first
				c.change(hub.AdapterRepair)
				c.Ensure(context.Background())
				if c.read(c.file) != was {
					t.Errorf("permissions were given again:\n%s", c.read(c.file))
				}
			}
			plan, err := c.PreviewAdapter(context.Background(), hub.HarnessCline, hub.AdapterInstall, c.in)
			if err != nil || !strings.Contains(plan.Prompt, "--no-permissions") {
				t.Errorf("the offer: %v\n%s", err, plan.Prompt)
			}
			c.change(hub.AdapterInstall)
			if got := c.state(); got != "installed installed" {
				t.Errorf("granted again: %s", got)
			}
		})
	}
}

// TestApprovalThatIsNoList: nothing is written into a file whose list Cline would
// refuse, and the error names the list.
func TestApprovalThatIsNoList(t *testing.T) {
	for name, list := range map[string]any{
		"text": "all", "null": nil, "truth": true, "number": 1, "object": map[string]any{"hub_dm": true},
		"numbers": []any{1, 2}, "mixed": []any{"hub_dm", nil}, "nested": []any{[]any{"hub_dm"}}, "objects": []any{map[string]any{"name": "hub_dm"}},
	} {
		for _, permissions := range []bool{true, false} {
			c := newCline(t, permissions)
			c.set(list)
			was := c.read(c.file)
			if got := c.state(); got != "installed unreadable" {
				t.Errorf("%s: %s", name, got)
			}
			e := c.refused(hub.CodeAdapterRefused, hub.HarnessCline, hub.AdapterInstall, c.in)
			if !strings.Contains(e.Message, "autoApprove is no list of names") || !strings.Contains(e.FixFor(hub.ForCLI), "list of texts") {
				t.Errorf("%s: %s; %s", name, e.Message, e.FixFor(hub.ForCLI))
			}
			c.refused(hub.CodeAdapterRefused, hub.HarnessCline, hub.AdapterRepair, c.in)
			c.Ensure(context.Background())
			if got := c.read(c.file); got != was {
				t.Errorf("%s: something was written:\n%s", name, got)
			}
			c.set([]string{"mine"})
			c.change(hub.AdapterInstall)
			c.want("installed installed", "mine hub_dm hub_start hub_task")
		}
	}
}

// TestApprovalTwice: a name that is there twice is not guessed about.
func TestApprovalTwice(t *testing.T) {
	c := newCline(t, true)
	c.set([]string{"hub_dm", "hub_dm", "hub_start", "hub_task"})
	was := c.read(c.file)
	if got := c.state(); got != "installed unreadable" {
		t.Errorf("states: %s", got)
	}
	for _, action := range []hub.AdapterAction{hub.AdapterInstall, hub.AdapterRepair} {
		c.refused(hub.CodeAdapterRefused, hub.HarnessCline, action, c.in)
	}
	if got := c.read(c.file); got != was {
		t.Errorf("something was written:\n%s", got)
	}
}

// TestApprovalAndUninstall: the entry goes as a whole, since Cline refuses a file
// with a server that has no command. The plan says that names of the user go too.
// Lists of other servers stay to the byte.
func TestApprovalAndUninstall(t *testing.T) {
	r := newRig(t)
	c := &cline{rig: r, in: r.input(hub.AdapterGlobal), file: filepath.Join(r.home, clineFile)}
	const own = "{\n  // mine\n  \"mcpServers\": {\n    \"db\": { \"command\": \"db\", \"autoApprove\": [\"hub_dm\", 7] }\n  }\n}\n"
	for _, mine := range []bool{false, true} {
		c.write(c.file, own)
		c.change(hub.AdapterInstall)
		if mine {
			c.write(c.file, strings.Replace(c.read(c.file), `"hub_task"`, `"hub_task", "theirs"`, 1))
		} else {
			c.write(c.file, c.read(c.file)+"\n") // so the old bytes are not simply put back
		}
		plan, err := c.PreviewAdapter(context.Background(), hub.HarnessCline, hub.AdapterUninstall, c.in)
		require.NoError(t, err)
		told := slices.ContainsFunc(plan.Warnings, func(w string) bool { return strings.Contains(w, "goes with what others have put into its autoApprove") })
		if told != mine {
			t.Errorf("told %t: %q", mine, plan.Warnings)
		}
		c.change(hub.AdapterUninstall)
		if got := strings.TrimRight(c.read(c.file), "\n"); got != strings.TrimRight(own, "\n") {
			t.Errorf("left: %s", got)
		}
	}
}

// TestApprovalThatIsEmpty: the empty list that Cline writes is nobody's, and goes
// without a word.
func TestApprovalThatIsEmpty(t *testing.T) {
	c := newCline(t, false)
	c.set([]string{})
	plan, err := c.PreviewAdapter(context.Background(), hub.HarnessCline, hub.AdapterUninstall, c.in)
	if err != nil || strings.Contains(strings.Join(plan.Warnings, "\n"), "autoApprove") {
		t.Errorf("told: %v %q", err, plan.Warnings)
	}
	c.change(hub.AdapterInstall)
	c.want("installed installed", "hub_dm hub_start hub_task")
	c.withdraw()
	c.want("installed absent", "")
}

// TestApprovalAfterAnUpgrade: an entry that an earlier version has recorded
// without a list is the hub's still, and gets the list when it is installed.
func TestApprovalAfterAnUpgrade(t *testing.T) {
	c := newCline(t, false)
	c.forgetApart()
	c.want("installed absent", "")
	c.change(hub.AdapterInstall)
	c.want("installed installed", "hub_dm hub_start hub_task")
	if done := c.change(hub.AdapterInstall); done.Changed {
		t.Errorf("a second install changed %+v", done.Files)
	}
	c.set([]string{"hub_dm", "hub_start", "hub_task", "mine"})
	if plan, err := c.PreviewAdapter(context.Background(), hub.HarnessCline, hub.AdapterUninstall, c.in); err != nil || !strings.Contains(plan.Prompt, "into its autoApprove") {
		t.Errorf("the end of what is theirs: %v\n%s", err, plan.Prompt)
	}
	c.change(hub.AdapterUninstall)
	if exists(c.file) {
		t.Errorf("left: %s", c.read(c.file))
	}
}

// TestApprovalWithoutALedger: a name is the hub's again if the whole entry is.
func TestApprovalWithoutALedger(t *testing.T) {
	c := newCline(t, true)
	c.loseLedger()
	c.want("drifted drifted", "hub_dm hub_start hub_task")
	c.change(hub.AdapterInstall)
	c.want("installed installed", "hub_dm hub_start hub_task")
	c.withdraw()
	c.want("installed absent", "")
}

// TestApprovalInTheExtensionsFile: the list is in the file that the server's entry
// is in.
func TestApprovalInTheExtensionsFile(t *testing.T) {
	r := newRig(t)
	const file = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
	c := &cline{rig: r, in: r.input(hub.AdapterGlobal), file: filepath.Join(r.home, file)}
	c.write(c.file, "{\n  \"mcpServers\": {}\n}\n")
	c.change(hub.AdapterInstall)
	c.want("installed installed", "hub_dm hub_start hub_task")
	if exists(filepath.Join(r.home, ".cline")) {
		t.Error("there is a second file")
	}
}

// loseLedger removes the ledger and the one before it.
func (c *cline) loseLedger() {
	c.t.Helper()
	for _, name := range []string{"ledger.json", "ledger.old"} {
		if err := os.Remove(filepath.Join(c.home, "data", "adapters", name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.t.Fatal(err)
		}
	}
}

// forgetApart writes the ledger as a version without lists of tools wrote it.
func (c *cline) forgetApart() {
	c.t.Helper()
	name := filepath.Join(c.home, "data", "adapters", "ledger.json")
	var l struct {
		Version int             `json:"version"`
		Sum     string          `json:"sum"`
		Files   json.RawMessage `json:"files"`
	}
	require.NoError(c.t, json.Unmarshal([]byte(c.read(name)), &l))
	var compact bytes.Buffer
	require.NoError(c.t, json.Compact(&compact, l.Files))
	old := strings.ReplaceAll(compact.String(), `,"apart":"autoApprove"`, "")
	if old == compact.String() {
		c.t.Fatalf("the ledger knows no list: %s", old)
	}
	l.Files, l.Sum = json.RawMessage(old), edit.Hash([]byte(old))
	b, err := json.Marshal(l)
	require.NoError(c.t, err)
	c.write(name, string(b))
}

// Without its ledger the hub does not know whether the user has refused, so a repair adds nothing.
func TestApprovalIsNotGivenByARepairWithoutALedger(t *testing.T) {
	c := newCline(t, false)
	c.loseLedger()
	c.Adapters = c.another()
	c.must(hub.HarnessCline, hub.AdapterRepair, c.in)
	if got := c.listed(); got != "" {
		t.Errorf("the repair has allowed %s", got)
	}
}
