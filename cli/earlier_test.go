package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"hubcli/cli/daemon"
	"hubcli/internal/hubfile"
	"hubcli/internal/require"
	"hubcli/internal/testcli"
	"hubcli/internal/testhub"
)

// TestAHubOfAnEarlierVersion that serves this user's store cannot prove itself. The commands that
// need to end it name its process, which the store tells, and the doctor does, too.
func TestAHubOfAnEarlierVersion(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true,"result":{"instance_id":"abc","storage_path":"/s","features":[],"message_kinds":[]}}`)
	}))
	defer s.Close()
	root := t.TempDir()
	t.Setenv("HUB_DATA_ROOT", root) // the look at the port is of the process
	port := s.URL[strings.LastIndex(s.URL, ":")+1:]
	kill := "kill 4711"
	if runtime.GOOS == "windows" {
		kill = "taskkill /PID 4711"
	}
	for name, tt := range map[string]struct {
		change func(*daemon.StoreInfo)
		noted  bool // another hub of this user had the address before
		told   bool
	}{
		"it serves the store":     {func(*daemon.StoreInfo) {}, false, true},
		"and an address of a hub": {func(*daemon.StoreInfo) {}, true, true},
		"of another store":        {func(i *daemon.StoreInfo) { i.Instance = "def" }, false, false},
		"at another address":      {func(i *daemon.StoreInfo) { i.Holder.Address = "127.0.0.1:1" }, false, false},
		"nobody has the store":    {func(i *daemon.StoreInfo) { i.Held = false }, false, false},
		"of this version":         {func(i *daemon.StoreInfo) { i.Socket = "/run/op.sock" }, false, false},
	} {
		for _, line := range []string{
			"ensure --port " + port, "ensure --storage s --port " + port, "stop --port " + port, "stop --storage /s --port " + port,
			"reset --yes --storage /s --port " + port, "app doctor --base-url " + s.URL,
		} {
			t.Run(name+": "+line, func(t *testing.T) {
				vars := map[string]string{"HUB_DATA_ROOT": root, "HOME": root}
				if tt.noted {
					f := testhub.NewFake(t, s.URL, nil)
					t.Setenv("HUB_DATA_ROOT", f.DataRoot)
					vars["HUB_DATA_ROOT"] = f.DataRoot
				}
				env := testcli.World(t, vars)
				env.InspectStore = func(string) (daemon.StoreInfo, error) {
					i := daemon.StoreInfo{Instance: "abc", ProofKey: []byte("key"), Held: true, Holder: daemon.Holder{PID: 4711, Address: "127.0.0.1:" + port}}
					tt.change(&i)
					return i, nil
				}
				got := runIn(t, env, strings.Fields(line)...)
				all := got.stdout + got.stderr
				told := strings.Contains(all, "the hub there (process 4711) serves your store and is of an earlier version") &&
					strings.Contains(all, "fix: end it with "+kill+", then run hubcli ensure\n")
				if told != tt.told || tt.told && got.exit == 0 {
					t.Errorf("%+v; told should be %v", got, tt.told)
				}
			})
		}
	}
}

// TestAHubWithoutASocket: ensure and the doctor say so, and what to do.
func TestAHubWithoutASocket(t *testing.T) {
	var f *testhub.Fake
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.Prove(w, r) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"ok":true,"result":{"instance_id":"`+string(testhub.FakeInstance)+`","storage_path":"/s","features":[],"message_kinds":[]}}`)
		}
	}))
	defer s.Close()
	f = testhub.NewFake(t, s.URL, nil)
	port := s.URL[strings.LastIndex(s.URL, ":")+1:]
	t.Setenv("HUB_DATA_ROOT", f.DataRoot)
	for _, has := range []bool{true, false} {
		if !has {
			f.Note.Socket = ""
			require.NoError(t, hubfile.Write(f.DataRoot, f.Note))
		}
		for line, exit := range map[string]int{"ensure --port " + port: 0, "app doctor --base-url " + s.URL: 1} {
			env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": f.DataRoot, "HOME": f.DataRoot})
			env.InspectStore = func(string) (daemon.StoreInfo, error) {
				return daemon.StoreInfo{Instance: testhub.FakeInstance, Held: true, Socket: "/x", Holder: daemon.Holder{PID: 4711, Address: "127.0.0.1:" + port}}, nil
			}
			got := runIn(t, env, strings.Fields(line)...)
			all := got.stdout + got.stderr
			said := strings.Contains(all, "has no socket for its operator") && strings.Contains(all, strconv.Itoa(4711)) && strings.Contains(all, "XDG_RUNTIME_DIR")
			if said == has || !has && got.exit != exit {
				t.Errorf("%s, with a socket %v: %+v", line, has, got)
			}
		}
	}
}
