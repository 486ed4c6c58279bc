package files

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
	"hubcli/internal/require"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		victim()
		return
	}
	goleak.VerifyTestMain(m)
}

const claudeConfig = "{\n  // mine\n  \"mcpServers\": {\n    \"db\": {\"command\": \"db\"},\n  },\n}\n"

// place is a home with a store beside it.
type place struct {
	t     *testing.T
	home  string
	store *Store
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base := t.TempDir()
	home := filepath.Join(base, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	s, err := Open(t.Context(), filepath.Join(base, "data", "adapters"), "1.0")
	require.NoError(t, err)
	return &place{t, home, s}
}

func (p *place) path(name string) string { return filepath.Join(p.home, filepath.FromSlash(name)) }

func (p *place) put(name, content string) {
	p.t.Helper()
	require.NoError(p.t, os.MkdirAll(filepath.Dir(p.path(name)), 0o700))
	require.NoError(p.t, os.WriteFile(p.path(name), []byte(content), 0o640))
}

// get returns the content of a file, "-" if there is none.
func (p *place) get(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(name))
	if os.IsNotExist(err) {
		return "-"
	}
	require.NoError(p.t, err)
	return string(b)
}

var claude = Owner{Harness: hub.HarnessClaudeCode, Scope: Global}

// entries are for three files: an existing one, one in a missing folder, and a
// whole file.
func (p *place) entries() []Entry {
	return []Entry{
		{Owner: claude, Part: "mcp", Root: p.home, File: p.path(".claude.json"), Format: edit.JSON, At: edit.Pointer{Keys: []string{"mcpServers", "hub"}}, Value: json.RawMessage(`{"command":"/opt/hubcli","args":["mcp"]}`)},
		{Owner: claude, Part: "hooks", Root: p.home, File: p.path(".claude/new/settings.json"), Format: edit.JSON, At: edit.Pointer{Keys: []string{"hooks", "Stop"}, Mark: "hubcli hook stop"}, Value: json.RawMessage(`{"hooks":[{"type":"command","command":"/opt/hubcli hook stop"}]}`)},
		{Owner: claude, Part: "hooks", Root: p.home, File: p.path(".claude/new/settings.json"), Format: edit.JSON, At: edit.Pointer{Keys: []string{"hooks", "SessionStart"}, Mark: "hubcli hook session-start"}, Value: json.RawMessage(`{"hooks":[{"type":"command","command":"/opt/hubcli hook session-start"}]}`)},
		{Owner: claude, Part: "instructions", Root: p.home, File: p.path("CLAUDE.md"), Format: edit.Markdown, At: edit.Pointer{Keys: []string{"hubcli"}}, Value: json.RawMessage(`"Use the hub."`)},
		{Owner: claude, Part: "plugin", Root: p.home, File: p.path(".claude/plugin.js"), Format: edit.Whole, Value: json.RawMessage(`"export default 1\n"`)},
	}
}

func (p *place) seed() {
	p.put(".claude.json", claudeConfig)
	p.put("CLAUDE.md", "# Mine")
}

func (p *place) install(entries []Entry, mode Mode) error {
	p.t.Helper()
	plan, err := p.store.PlanInstall(p.t.Context(), entries, mode)
	if err != nil {
		return err
	}
	_, err = p.store.Apply(p.t.Context(), plan)
	return err
}

func (p *place) uninstall(owner Owner, mode Mode) error {
	p.t.Helper()
	plan, err := p.store.PlanUninstall(p.t.Context(), owner, mode)
	if err != nil {
		return err
	}
	_, err = p.store.Apply(p.t.Context(), plan)
	return err
}

func (p *place) must(err error) {
	p.t.Helper()
	require.NoError(p.t, err)
}

func (p *place) states(entries []Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, string(p.store.Status(p.t.Context(), e).State))
	}
	return strings.Join(out, " ")
}

// tree lists all files and folders of the home with their contents.
func (p *place) tree() map[string]string { return treeOf(p.t, p.home) }

func treeOf(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		if d.Type().IsRegular() {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			out[filepath.ToSlash(rel)] = string(b)
		} else {
			out[filepath.ToSlash(rel)] = d.Type().String()
		}
		return nil
	})
	require.NoError(t, err)
	return out
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func TestInstallAndUninstall(t *testing.T) {
	p := newPlace(t)
	p.seed()
	before := p.tree()
	plan, err := p.store.PlanInstall(t.Context(), p.entries(), Keep)
	p.must(err)
	if !same(before, p.tree()) {
		t.Error("a plan has changed files")
	}
	if diff := plan.Diff(); !strings.Contains(diff, `+    "hub": {`) || !strings.Contains(diff, "--- /dev/null") || !strings.Contains(diff, "+export default 1") {
		t.Errorf("the diff does not show it all:\n%s", diff)
	}
	written, err := p.store.Apply(t.Context(), plan)
	p.must(err)
	if len(written) != 4 || written[0].Backup == "" {
		t.Fatalf("written: %+v", written)
	}
	if b, err := os.ReadFile(written[0].Backup); err != nil || string(b) != claudeConfig {
		t.Errorf("the backup holds %q, %v", b, err)
	}
	if got := p.states(p.entries()); got != "installed installed installed installed installed" {
		t.Errorf("states: %s", got)
	}
	if info, err := os.Stat(p.path(".claude.json")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode has become %v, %v", info.Mode(), err)
	}
	for name := range p.tree() {
		if strings.Contains(name, nameTemp) {
			t.Errorf("%s was left", name)
		}
	}
	again, err := p.store.PlanInstall(t.Context(), p.entries(), Keep)
	p.must(err)
	if !again.Empty() {
		t.Errorf("the second install would change %+v", again.Changes)
	}
	p.must(p.uninstall(claude, Keep))
	if after := p.tree(); !same(before, after) {
		t.Errorf("left are %v, wanted %v", after, before)
	}
	if owners, err := p.store.Owners(); err != nil || len(owners) != 0 {
		t.Errorf("owners are left: %v, %v", owners, err)
	}
}

// TestUninstallLeavesLaterChanges: later changes of other people stay, and only
// our entries go.
func TestUninstallLeavesLaterChanges(t *testing.T) {
	p := newPlace(t)
	p.seed()
	p.must(p.install(p.entries(), Keep))
	p.put(".claude.json", strings.Replace(p.get(".claude.json"), "// mine", "// still mine", 1))
	p.put("CLAUDE.md", p.get("CLAUDE.md")+"More.\n")
	p.put(".claude/new/settings.json", strings.Replace(p.get(".claude/new/settings.json"), "{\n", "{\n  \"model\": \"x\",\n", 1))
	p.put(".claude/new/note", "kept")
	p.must(p.uninstall(claude, Keep))
	want := map[string]string{
		".claude.json":              strings.Replace(claudeConfig, "// mine", "// still mine", 1),
		"CLAUDE.md":                 "# Mine\nMore.\n",
		".claude/new/settings.json": "{\n  \"model\": \"x\"\n}\n",
		".claude/new/note":          "kept",
		".claude/plugin.js":         "-",
	}
	for name, content := range want {
		if got := p.get(name); got != content {
			t.Errorf("%s holds %q, wants %q", name, got, content)
		}
	}
}

func TestStates(t *testing.T) {
	p := newPlace(t)
	p.seed()
	entries := p.entries()[:1]
	hubOf := func(text string) { p.put(".claude.json", `{"mcpServers": {"hub": `+text+`}}`) }
	if got := p.states(entries); got != "absent" {
		t.Errorf("nothing: %s", got)
	}
	hubOf(`{"command": "mine"}`)
	if got := p.states(entries); got != "conflict" {
		t.Errorf("another's: %s", got)
	}
	if err := p.install(entries, Repair); ReasonOf(err) != IsConflict {
		t.Errorf("another's was replaced: %v", err)
	}
	if got := p.get(".claude.json"); got != `{"mcpServers": {"hub": {"command": "mine"}}}` {
		t.Errorf("another's was touched: %s", got)
	}
	p.seed()
	p.must(p.install(entries, Keep))
	newer := slices.Clone(entries)
	newer[0].Value = json.RawMessage(`{"command":"/new/hubcli"}`)
	if got := p.states(newer); got != "outdated" {
		t.Errorf("of another version: %s", got)
	}
	p.must(p.install(newer, Keep))
	hubOf(`{"command": "/new/hubcli", "env": {"A": "1"}}`)
	if st := p.store.Status(t.Context(), newer[0]); st.State != Drifted || !st.Known || st.Version != "1.0" ||
		string(st.Have) != `{"command":"/new/hubcli","env":{"A":"1"}}` {
		t.Errorf("changed by the user: %+v", st)
	}
	if err := p.install(newer, Keep); ReasonOf(err) != IsDrifted {
		t.Errorf("the user's change was lost: %v", err)
	}
	if err := p.uninstall(claude, Keep); ReasonOf(err) != IsDrifted {
		t.Errorf("the user's change was removed: %v", err)
	}
	p.put(".claude.json", `{"mcpServers": `)
	if st := p.store.Status(t.Context(), newer[0]); st.State != Unreadable || st.Have != nil {
		t.Errorf("broken: %+v", st)
	}
	if err := p.install(newer, Repair); ReasonOf(err) != Refused || edit.ReasonOf(err) != edit.Unparsable {
		t.Errorf("a broken file: %v", err)
	}
	p.seed()
	if st := p.store.Status(t.Context(), newer[0]); st.State != Absent || !st.Known {
		t.Errorf("taken out: %+v", st)
	}
	p.must(p.install(newer, Keep))
	p.must(p.uninstall(claude, Keep))
	if got := p.get(".claude.json"); got != claudeConfig {
		t.Errorf("at the end it holds %q", got)
	}
}

// TestSharedEntries: two owners share an equal entry, and keep separate entries
// of different forms.
func TestSharedEntries(t *testing.T) {
	p := newPlace(t)
	p.seed()
	mine := p.entries()[3:4]
	theirs := slices.Clone(mine)
	theirs[0].Owner = Owner{Harness: hub.HarnessCodex, Scope: Global}
	p.must(p.install(mine, Keep))
	installed := p.get("CLAUDE.md")
	p.must(p.install(theirs, Keep))
	p.must(p.uninstall(claude, Keep))
	if got := p.get("CLAUDE.md"); got != installed {
		t.Errorf("one of two owners has gone, and left %q", got)
	}
	mine[0].Value = json.RawMessage(`"In another form."`)
	if err := p.install(mine, Repair); ReasonOf(err) != IsConflict {
		t.Errorf("the other's form was replaced: %v", err)
	}
	p.must(p.uninstall(theirs[0].Owner, Keep))
	if got := p.get("CLAUDE.md"); got != "# Mine" {
		t.Errorf("both have gone, and left %q", got)
	}
}

func TestPlanChanged(t *testing.T) {
	p := newPlace(t)
	p.seed()
	plan, err := p.store.PlanInstall(t.Context(), p.entries(), Keep)
	p.must(err)
	p.put("CLAUDE.md", "# Mine, changed")
	before := p.tree()
	if _, err := p.store.Apply(t.Context(), plan); ReasonOf(err) != PlanChanged {
		t.Errorf("applied to another file: %v", err)
	}
	if !same(before, p.tree()) {
		t.Error("something was written")
	}
}

// TestRewrittenFile: in a file that its harness rewrites, the plan is valid as
// long as its own change is the same, and the harness's changes stay.
func TestRewrittenFile(t *testing.T) {
	p := newPlace(t)
	p.seed()
	entries := p.entries()[:1]
	entries[0].Rewrites = true
	plan, err := p.store.PlanInstall(t.Context(), entries, Keep)
	p.must(err)
	starts := 0
	p.store.step = func(op, _ string) error {
		// The harness writes its copy in memory before the last check, and
		// again after the rename over our content.
		if op == "temp" && starts == 0 || op == "folder" && starts == 1 {
			starts++
			p.put(".claude.json", strings.Replace(claudeConfig, "// mine", "// start "+string(rune('0'+starts)), 1))
		}
		return nil
	}
	_, err = p.store.Apply(t.Context(), plan)
	p.must(err)
	if got := p.get(".claude.json"); !strings.Contains(got, "// start 2") || !strings.Contains(got, `"hub"`) {
		t.Errorf("after %d rewritings it holds %s", starts, got)
	}
	p.must(p.uninstall(claude, Keep))
	if got := p.get(".claude.json"); got != strings.Replace(claudeConfig, "// mine", "// start 2", 1) {
		t.Errorf("after the uninstall it holds %s", got)
	}
}

func TestTwoInstallsAtOnce(t *testing.T) {
	p := newPlace(t)
	p.seed()
	other, err := Open(t.Context(), p.store.dir, "1.0")
	p.must(err)
	var wg sync.WaitGroup
	for i, s := range []*Store{p.store, other, p.store, other} {
		wg.Go(func() {
			e := p.entries()[0]
			e.Owner = Owner{Harness: hub.Harnesses()[i], Scope: Global}
			e.At = edit.Pointer{Keys: []string{"mcpServers", "hub" + string(rune('a'+i))}}
			for range 20 {
				plan, err := s.PlanInstall(t.Context(), []Entry{e}, Keep)
				if err == nil {
					_, err = s.Apply(t.Context(), plan)
				}
				if err == nil {
					return
				}
				if ReasonOf(err) != PlanChanged {
					t.Error(err)
					return
				}
			}
			t.Error("20 attempts were in vain")
		})
	}
	wg.Wait()
	got := p.get(".claude.json")
	for _, name := range []string{"huba", "hubb", "hubc", "hubd"} {
		if strings.Count(got, `"`+name+`"`) != 1 {
			t.Errorf("%s is not there once:\n%s", name, got)
		}
	}
	for i := range 4 {
		p.must(p.uninstall(Owner{Harness: hub.Harnesses()[i], Scope: Global}, Keep))
	}
	if got := p.get(".claude.json"); got != claudeConfig {
		t.Errorf("left is %s", got)
	}
}

func TestDamagedLedger(t *testing.T) {
	p := newPlace(t)
	p.seed()
	p.must(p.install(p.entries(), Keep))
	name := filepath.Join(p.store.dir, nameLedger)
	whole, err := os.ReadFile(name)
	p.must(err)
	before := p.tree()
	for damage, content := range map[string][]byte{
		"cut": whole[:len(whole)/2], "empty": {}, "another entry": []byte(strings.Replace(string(whole), "mcpServers", "mcpservers", 1)),
		"newer": []byte(strings.Replace(string(whole), `"version": 1`, `"version": 2`, 1)), "no record": []byte(`{"version":1,"sum":"","files":[null]}`),
	} {
		p.must(os.WriteFile(name, content, 0o600))
		for what, err := range map[string]error{"install": p.install(p.entries(), Repair), "uninstall": p.uninstall(claude, Repair)} {
			if ReasonOf(err) != NoLedger {
				t.Errorf("%s with a ledger that is %s: %v", what, damage, err)
			}
		}
		if st := p.store.Status(t.Context(), p.entries()[0]); st.State != Unreadable || ReasonOf(st.Err) != NoLedger {
			t.Errorf("state with a ledger that is %s: %+v", damage, st)
		}
	}
	if !same(before, p.tree()) {
		t.Error("something was written without a ledger")
	}
	p.must(os.WriteFile(name, whole, 0o600))
	p.must(p.uninstall(claude, Keep))
}
