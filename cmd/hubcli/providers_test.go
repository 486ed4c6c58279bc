//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hubcli/internal/require"
	"hubcli/internal/testfeature"
	"hubcli/internal/testkeyring"
	"hubcli/internal/testport"
)

// vendor is a provider of models as a script or a test runs it: it lists models to those who
// send its key, in the way that OpenAI describes.
type vendor struct {
	*httptest.Server
	mu         sync.Mutex
	key        string // empty: everybody gets the list
	status     int    // of all answers, if not 0
	calls      int    // with a key
	complaints []string
}

func startVendor(key string) *vendor {
	v := &vendor{key: key}
	v.Server = httptest.NewServer(http.HandlerFunc(v.answer))
	return v
}

func (v *vendor) answer(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	sent, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if sent != "" {
		v.calls++
		v.complaints = append(v.complaints, inProcessList(sent)...)
	}
	if strings.Contains(r.URL.String(), sent) && sent != "" {
		v.complaints = append(v.complaints, "the key is in the address")
	}
	switch {
	case v.status != 0:
		w.WriteHeader(v.status)
	case r.URL.Path != "/v1/models":
		http.NotFound(w, r)
	case v.key != "" && sent != v.key:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, sent) // as vendors do
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[
			{"id":"small-1","name":"Small One","context_length":8192,"pricing":{"prompt":"0.00000015","completion":"0.0000006"}},
			{"id":"large-1","context_length":200000}]}`)
	}
}

// inProcessList names the processes that show a key in their arguments.
func inProcessList(key string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(key)) {
			found = append(found, "the key is in "+file)
		}
	}
	return found
}

const vendorUsage = "vendor start|key|status|content|hidden|down …"

// vendorsOf are the providers of the scripts, by the folder of the script.
var vendorsOf sync.Map

// cmdVendor is the provider that a script runs:
//
//	vendor start [key]          start it; without a key everybody gets its list; $VENDOR is its base URL
//	vendor key <key>            take another key from now on
//	vendor status <status>      answer everything with this status; 0 is as usual
//	vendor content              check that no process showed a key that was sent, and no address held it
//	vendor hidden <url> <text>  check that the hub tells the text in no page that is open to everybody
//	vendor down                 end it
func cmdVendor(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, vendorUsage)
	if args[0] == "start" {
		v := startVendor(strings.Join(args[1:], ""))
		ts.Defer(v.Close)
		vendorsOf.Store(ts.Getenv("WORK"), v)
		ts.Setenv("VENDOR", v.URL)
		return
	}
	found, ok := vendorsOf.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("there is no provider: vendor start")
	}
	v := found.(*vendor)
	if args[0] == "down" {
		v.Close()
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch args[0] {
	case "key":
		v.key = args[1]
	case "status":
		v.status = number(ts, args[1])
	case "content":
		if len(v.complaints) > 0 {
			ts.Fatalf("complaints: %q", v.complaints)
		}
	case "hidden":
		for _, path := range []string{"/metrics", "/healthz", "/v1/app/status", "/v1/hub-info", "/v1/providers", "/v1/openapi.json"} {
			answer, err := http.Get(args[1] + path)
			ts.Check(err)
			body, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			ts.Check(err)
			if bytes.Contains(body, []byte(args[2])) {
				ts.Fatalf("%s tells %s", path, args[2])
			}
		}
	default:
		ts.Fatalf("usage: %s", vendorUsage)
	}
}

// TestConnectionInARealStore: a key that is given on standard input is kept in a real
// gnome-keyring and nowhere else, and goes with its connection.
func TestConnectionInARealStore(t *testing.T) {
	testfeature.Need(t, "provider")
	k := testkeyring.Start(t)
	const key = "sk-PLANTED-4711"
	v := startVendor(key)
	t.Cleanup(v.Close)
	root := t.TempDir()
	port, err := testport.Take()
	require.NoError(t, err)
	base := "http://127.0.0.1:" + strconv.Itoa(port)
	run := func(stdin string, args ...string) (string, error) {
		cmd := exec.Command("hubcli", args...)
		cmd.Env = append(os.Environ(), "HUB_DATA_ROOT="+root, "HOME="+root, "DBUS_SESSION_BUS_ADDRESS="+k.Address, "HUB_BASE_URL="+base)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() { crash(strconv.Itoa(port)) })
	for _, c := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{"ensure", "--port", strconv.Itoa(port)}, "started"},
		{key + "\n", []string{"connection", "create", "--provider", "custom", "--endpoint", v.URL, "--label", "mine", "--key-stdin"}, "key: credential store"},
		{"", []string{"connection", "verify", "mine"}, "mine: key proved, 2 models"},
		{"sk-PLANTED-wrong\n", []string{"connection", "key", "mine", "--key-stdin"}, "has its key: credential store"},
		{key + "\n", []string{"connection", "key", "mine", "--key-stdin"}, "has its key: credential store"},
		{"", []string{"connection", "verify", "mine"}, "key proved"},
	} {
		if out, err := run(c.stdin, c.args...); err != nil || !strings.Contains(out, c.want) || strings.Contains(out, "PLANTED") {
			t.Fatalf("%q: %v: %s", c.args, err, out)
		}
	}
	if n := kept(t, k); n != 1 {
		t.Errorf("the store of the system has %d secrets of the hub, want the last key alone", n)
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte("PLANTED")) {
			t.Errorf("the key is in %s", path)
		}
		return nil
	}))
	if out, err := run("", "connection", "delete", "mine", "--yes"); err != nil || !strings.Contains(out, "deleted cn_") {
		t.Errorf("delete: %v: %s", err, out)
	}
	if n := kept(t, k); n != 0 {
		t.Errorf("the store of the system still has %d secrets of the hub", n)
	}
}

// kept counts the secrets of the hub in the credential store, with the program of others.
func kept(t *testing.T, k *testkeyring.Keyring) int {
	t.Helper()
	cmd := exec.Command("secret-tool", "search", "--all", "service", "hubcli")
	cmd.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS="+k.Address)
	out, _ := cmd.Output() // it fails if there is none
	return bytes.Count(out, []byte("secret = "))
}

// TestProvidersAreTold: the table of the command and that of HTTP are the same.
func TestProvidersAreTold(t *testing.T) {
	testfeature.Need(t, "provider")
	port, err := freePort()
	require.NoError(t, err)
	home := t.TempDir()
	t.Cleanup(func() { end(port, home) })
	run := func(args ...string) []byte {
		cmd := exec.Command("hubcli", args...)
		cmd.Env = readmeEnvironment(home, port)
		out, err := cmd.Output()
		require.NoError(t, err)
		return out
	}
	run("ensure", "--port", port)
	var rows []struct {
		ProviderID string `json:"provider_id"`
		Checked    string `json:"checked"`
		Source     string `json:"source"`
	}
	require.NoError(t, json.Unmarshal(run("providers", "--json"), &rows))
	table := string(run("providers"))
	if len(rows) < 26 || strings.Count(table, "\n") != len(rows)+1 {
		t.Errorf("%d presets, and a table of\n%s", len(rows), table)
	}
	for _, row := range rows {
		if !strings.Contains(table, "\n"+row.ProviderID+" ") || row.Checked == "" || row.Source == "" {
			t.Errorf("%+v is not told whole", row)
		}
	}
}
