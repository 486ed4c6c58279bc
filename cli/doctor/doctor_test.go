package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/cli/daemon"
	"hubcli/internal/process"
	"hubcli/internal/require"
)

// machine has a data root with something stale of each kind, and no hub.
func machine(t *testing.T) Machine {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"slots/a.json":             "no json",
		"bridges/12-34.hook.json":  `{"agent_id":"a"}`,
		"bridges/99-34.hook.json":  `{"agent_id":"a"}`,
		"adapters/ledger.old":      "{}",
		"adapters/journal.json":    "{}",
		"app.db.trash-1/letter":    "dear",
		"app.db.trash-2/FORMAT":    "",
		"app.db.before-1/FORMAT":   "",
		"app.db.restoring/LETTER":  "",
		"run/ensure-12345678.lock": "",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	return Machine{
		Version: "1.2.3", Executable: func() (string, error) { return filepath.Join(root, "hubcli"), nil },
		Getenv: func(string) string { return "" }, DataRoot: root, Store: filepath.Join(root, "app.db"),
		BaseURL: "http://127.0.0.1:1", FixOf: func(error) string { return "mend it" },
		Inspect: func(string) (daemon.StoreInfo, error) { return daemon.StoreInfo{Free: 1 << 40}, nil },
		Look:    func(pid int) (process.Process, bool) { return process.Process{PID: pid, Began: "34"}, pid == 99 },
	}
}

func tree(t *testing.T, root string) string {
	t.Helper()
	var list strings.Builder
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		list.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		return err
	}))
	return list.String()
}

func has(found []Finding, level Level, check, text string) bool {
	for _, f := range found {
		if f.Level == level && f.Check == check && strings.Contains(f.Text, text) && (level == OK) == (f.Fix == "") {
			return true
		}
	}
	return false
}

func TestDoctorChangesNothing(t *testing.T) {
	m := machine(t)
	before := tree(t, m.DataRoot)
	found := Examine(context.Background(), m)
	if after := tree(t, m.DataRoot); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	for _, want := range []Finding{
		{Level: Warn, Check: "path", Text: "no hubcli is in the PATH"},
		{Level: Warn, Check: "hub", Text: "no hub answers"},
		{Level: Fail, Check: "adapters", Text: "ledger.json is gone"},
		{Level: Warn, Check: "slots", Text: "a.json) cannot be read"},
		{Level: OK, Check: "bridges", Text: "1 note is (" + filepath.Join(m.DataRoot, "bridges", "12-34.hook.json")},
		{Level: Warn, Check: "store", Text: "app.db.restoring is left"},
		{Level: Warn, Check: "store", Text: "app.db.trash-1 has files"},
		{Level: Warn, Check: "store", Text: "app.db.trash-2 is left of a reset"},
		{Level: OK, Check: "store", Text: "app.db.before-1 is the store"},
	} {
		if !has(found, want.Level, want.Check, want.Text) {
			t.Errorf("nothing says %s %s %q in %+v", want.Level, want.Check, want.Text, found)
		}
	}
}

func TestRoomOfTheDisk(t *testing.T) {
	for free, want := range map[int64]Level{10 << 20: Fail, 87 << 20: Fail, 88 << 20: Warn, 499 << 20: Warn, 500 << 20: OK} {
		m := machine(t)
		m.Inspect = func(string) (daemon.StoreInfo, error) { return daemon.StoreInfo{Free: free}, nil }
		if found := Examine(context.Background(), m); !has(found, want, "disk", "MiB free") {
			t.Errorf("%d MiB free: %+v, want %s", free>>20, found, want)
		}
	}
}

func TestStoreThatRefuses(t *testing.T) {
	m := machine(t)
	m.Inspect = func(string) (daemon.StoreInfo, error) { return daemon.StoreInfo{}, errors.New("the store is damaged") }
	found := Examine(context.Background(), m)
	if !has(found, Fail, "store", "the store is damaged") {
		t.Errorf("found %+v", found)
	}
	m.Inspect = func(string) (daemon.StoreInfo, error) {
		return daemon.StoreInfo{Held: true, Free: -1, Holder: daemon.Holder{PID: 12}}, nil
	}
	if found = Examine(context.Background(), m); !has(found, Fail, "hub", "process 12 holds your store") {
		t.Errorf("found %+v", found)
	}
}
