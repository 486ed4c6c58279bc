package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

// TestLostCacheIsTold: if the program runs from memory because its cache cannot hold it, the doctor says why and
// what to do. Otherwise it says nothing of it.
func TestLostCacheIsTold(t *testing.T) {
	in := func(m Machine) []Finding {
		x := &exam{Machine: m}
		x.cache(t.Context())
		return x.found
	}
	if found := in(Machine{}); len(found) != 0 {
		t.Errorf("a build that carries nothing: %v", found)
	}
	if found := in(Machine{LostCache: func() (string, bool) { return "", false }}); len(found) != 0 {
		t.Errorf("one that was unpacked: %v", found)
	}
	for _, test := range []struct {
		name, text, fix string
		harm            func(cache string) error // the folder hubcli is to lie in it
	}{
		{"a file in its place", "/cache is no folder", "remove that file, or set XDG_CACHE_HOME", func(cache string) error {
			return os.WriteFile(cache, nil, 0o600)
		}},
		{"others may write to the cache", "others can write to ", "chmod 700 ", func(cache string) error {
			return errors.Join(os.Mkdir(cache, 0o700), os.Chmod(cache, 0o777))
		}},
		{"others may write to the folder", "/cache/hubcli", "chmod 700 ", func(cache string) error {
			return errors.Join(os.MkdirAll(cache+"/hubcli", 0o700), os.Chmod(cache+"/hubcli", 0o777))
		}},
		{"nothing is wrong with it", "the system runs no program in ", "without noexec", func(cache string) error {
			return os.MkdirAll(cache+"/hubcli", 0o700)
		}},
		{"it is not there yet", "the system runs no program in ", "without noexec", func(cache string) error { return nil }},
	} {
		if runtime.GOOS == "windows" {
			t.Skip("needs a system on which a program is unpacked")
		}
		cache := filepath.Join(t.TempDir(), "cache")
		require.NoError(t, test.harm(cache))
		found := in(Machine{LostCache: func() (string, bool) { return filepath.Join(cache, "hubcli"), true }})
		if len(found) != 1 || !has(found, Warn, "cache", test.text) || !strings.Contains(found[0].Fix, test.fix) {
			t.Errorf("%s: %v", test.name, found)
		}
	}
	found := in(Machine{LostCache: func() (string, bool) { return "", true }})
	if len(found) != 1 || !strings.Contains(found[0].Fix, "set HOME") {
		t.Errorf("no folder: %v", found)
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
