//go:build unix

package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/hubfile"
	"hubcli/internal/require"
	"hubcli/internal/testcli"
)

// othersHubAt answers as the hub of ann does: to a user whom she has let in, or not.
func othersHubAt(t *testing.T, listener net.Listener, letIn bool) (port string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if letIn {
			fmt.Fprint(w, `{"ok":true,"result":{"instance_id":"abc","storage_path":"/s","features":[],"message_kinds":[],"hub_user":"ann"}}`)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"ok":false,"error":"this hub is another user's: it belongs to ann, and the call comes from bob","code":"other_user","status":403,"detail":{"hub_user":"ann","user":"bob"},"fix":"start a hub of your own"}`)
	}))
	if listener != nil {
		_ = s.Listener.Close() // another takes its place
		s.Listener = listener
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL[strings.LastIndex(s.URL, ":")+1:]
}

// rememberIn is a data root that remembers a port.
func rememberIn(t *testing.T, port string) (root string) {
	t.Helper()
	root = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "port"), []byte(port+"\n"), 0o600))
	return root
}

const movedNote = "hubcli: this hub is another user's: http://127.0.0.1:%s is ann's. Your own hub is at http://127.0.0.1:%d from now on, and your programs find it there without a flag\n"

// TestEnsureOfASecondUser: the hub gets another port, which is remembered, where nobody has named
// the address. Otherwise nothing changes, and the failure says whose the hub is and what to do.
func TestEnsureOfASecondUser(t *testing.T) {
	for _, letIn := range []bool{false, true} {
		port := othersHubAt(t, nil, letIn)
		root := rememberIn(t, port)
		vars := map[string]string{"HUB_DATA_ROOT": root}
		for _, named := range []struct{ base, line, fix string }{
			{"", "ensure --port " + port, "start a hub of your own: hubcli ensure without --host and --port finds a port for it and remembers it; or name a free one with --port"},
			{"", "app start --host 127.0.0.1", "start a hub of your own: hubcli ensure without --host and --port "},
			{"http://127.0.0.1:" + port, "ensure", "start a hub of your own: hubcli ensure without HUB_BASE_URL finds a port for it and remembers it\n"},
		} {
			vars["HUB_BASE_URL"] = named.base
			got := runIn(t, testcli.World(t, vars), strings.Fields(named.line)...)
			if got.exit != term.ExitUnreachable || !strings.HasPrefix(got.stderr, "hubcli: this hub is another user's: http://127.0.0.1:"+port+" is ann's\nfix: "+named.fix) {
				t.Errorf("%s: %+v", named.line, got)
			}
			if now := fmt.Sprint(hubfile.Port(root)); now != port {
				t.Errorf("%s: the port %s is remembered", named.line, now)
			}
		}
		vars["HUB_BASE_URL"] = ""
		got := runIn(t, testcli.World(t, vars), "ensure")
		now := hubfile.Port(root)
		want := fmt.Sprintf(movedNote+"hubcli: the daemon cannot be started: the test has no such thing\nfix: run the hub in the foreground: hubcli --host 127.0.0.1 --port %[2]d ", port, now)
		if fmt.Sprint(now) == port || now == term.DefaultPort || !strings.HasPrefix(got.stderr, want) {
			t.Errorf("ensure: %+v, and the port %d is remembered; want\n%s", got, now, want)
		}
	}
}

// TestAPortThatIsLostInTheLastMoment: the hub of another user takes the port while this user's
// hub starts.
func TestAPortThatIsLostInTheLastMoment(t *testing.T) {
	port := testcli.FreeTCPPort(t)
	root := rememberIn(t, port)
	env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": root})
	start := daemonOf(t, `echo "hubcli: port `+port+` is held by another program" >&2; echo "fix: choose another port with --port" >&2; exit 3`)
	taken := false
	env.Executable = func() (string, error) {
		if !taken {
			l, err := net.Listen("tcp", "127.0.0.1:"+port)
			if err != nil {
				return "", err
			}
			othersHubAt(t, l, false)
			taken = true
		}
		return start()
	}
	got := runIn(t, env, "ensure", "--timeout", "20")
	now := hubfile.Port(root)
	if want := fmt.Sprintf(movedNote, port, now); fmt.Sprint(now) == port || !strings.HasPrefix(got.stderr, want) {
		t.Errorf("got %+v, and the port %d is remembered; want\n%s", got, now, want)
	}
}

// TestProgramsOfThisUserAreNotLeft: a program of one's own that is no hub, or a hub that another
// data root knows, is a mistake to be told of. No other port is chosen.
func TestProgramsOfThisUserAreNotLeft(t *testing.T) {
	mine := testcli.HubOf(t, map[string][]string{"GET /v1/hub-info": {`{"ok":true,"result":{"instance_id":"abc","storage_path":"/s","features":[],"message_kinds":[]}}`}})
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	for url, want := range map[string]string{
		mine.URL: "hubcli: the hub at " + mine.URL + " is not known to be yours",
		web.URL:  "is held by another program\nfix: ",
	} {
		port := url[strings.LastIndex(url, ":")+1:]
		root := rememberIn(t, port)
		got := runIn(t, testcli.World(t, map[string]string{"HUB_DATA_ROOT": root}), "ensure")
		if now := fmt.Sprint(hubfile.Port(root)); got.exit != term.ExitUnreachable || !strings.Contains(got.stderr, want) || now != port {
			t.Errorf("%s: %+v, and the port %s is remembered", url, got, now)
		}
	}
}

// TestTheRememberedPortOfAHubThatRuns is found by its store, where the file was damaged and where
// another user has the port at which the hub is looked for.
func TestTheRememberedPortOfAHubThatRuns(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{"GET /v1/hub-info": {`{"ok":true,"result":{"instance_id":"abc","storage_path":"/s","features":[],"message_kinds":[]}}`}})
	port := s.URL[strings.LastIndex(s.URL, ":")+1:]
	other := othersHubAt(t, nil, false)
	for name, c := range map[string]struct{ file, stderr string }{
		"damaged": {"garbage", "could not be used: read %s: it names no port; it is " + port + " again, where your hub is\n"},
		"another": {other, "http://127.0.0.1:" + other + " is ann's. Your own hub is at http://127.0.0.1:" + port + " from now on"},
	} {
		root := rememberIn(t, c.file)
		store := filepath.Join(root, opt.AppStore)
		require.NoError(t, os.Mkdir(store, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(store, "FORMAT"), []byte("hubcli store\ninstance abc\n"), 0o600))
		env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": root})
		env.InspectStore = func(string) (daemon.StoreInfo, error) {
			return daemon.StoreInfo{Instance: "abc", Held: true, Holder: daemon.Holder{PID: os.Getpid(), Address: "127.0.0.1:" + port}}, nil
		}
		got := runIn(t, env, "ensure")
		want := c.stderr
		if strings.Contains(want, "%s") {
			want = fmt.Sprintf(want, filepath.Join(root, "port"))
		}
		if now := fmt.Sprint(hubfile.Port(root)); now != port || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v, and the port %s is remembered, want\n%s", name, got, now, want)
		}
	}
}

// TestAPortThatCannotBeRemembered: the failure says so and names the ways out.
func TestAPortThatCannotBeRemembered(t *testing.T) {
	port := othersHubAt(t, nil, false)
	root := rememberIn(t, port)
	require.NoError(t, os.Mkdir(filepath.Join(root, "run"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, "run", "port.lock"), 0o700))
	got := runIn(t, testcli.World(t, map[string]string{"HUB_DATA_ROOT": root}), "ensure")
	if got.exit != term.ExitRefused || !strings.HasPrefix(got.stderr, "hubcli: the data root cannot remember a port for your hub: ") || !strings.Contains(got.stderr, "\nfix: ") {
		t.Errorf("got %+v", got)
	}
}

// TestEveryCommandFindsTheRememberedPort: a flag counts more, and so does HUB_BASE_URL.
func TestEveryCommandFindsTheRememberedPort(t *testing.T) {
	const own, named, flagged = "http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"
	tried := 0
	for _, c := range commands(newRoot(testcli.World(t, nil))) {
		line := called(c.CommandPath(), "")
		if c.LocalFlags().Lookup("base-url") == nil || line == "" || slices.Contains([]string{"init", "relay", "mcp", "run", "smoke-agent", "top", "logs", "config"}, c.Name()) {
			continue // those start a hub, wait for one, need a terminal, read a file or ask no hub; the script users_own.txt has the first two
		}
		tried++
		vars := map[string]string{"HUB_DATA_ROOT": rememberIn(t, "1")}
		for _, tt := range []struct{ base, flag, want string }{{"", "", own}, {named, "", named}, {"", flagged, flagged}, {named, flagged, flagged}} {
			args := strings.Fields(line)
			if vars["HUB_BASE_URL"] = tt.base; tt.flag != "" {
				args = append(args, "--base-url", tt.flag)
			}
			got := runIn(t, testcli.World(t, vars), args...)
			if got.exit != term.ExitUnreachable || !strings.Contains(got.stderr, "no hub answers at "+tt.want+"\n") || strings.Contains(got.stderr, "--port 1") {
				t.Errorf("%s with %+v: %+v", line, tt, got)
			}
		}
	}
	if tried < 90 {
		t.Errorf("only %d commands were tried", tried)
	}
}

// TestWhereHubsAreStartedAndStopped: the port that the data root remembers counts least, and only
// where neither a flag nor the environment names an address.
func TestWhereHubsAreStartedAndStopped(t *testing.T) {
	own, named, flagged := testcli.FreeTCPPort(t), testcli.FreeTCPPort(t), testcli.FreeTCPPort(t)
	for _, tt := range []struct{ base, line, want string }{
		{"", "stop", "127.0.0.1:" + own},
		{"", "app stop", "127.0.0.1:" + own},
		{"", "stop --host localhost", "127.0.0.1:" + own},
		{"http://127.0.0.1:" + named, "stop", "127.0.0.1:" + named},
		{"http://127.0.0.1:" + named, "stop --port " + flagged, "127.0.0.1:" + flagged},
		{"", "stop --port " + flagged, "127.0.0.1:" + flagged},
	} {
		vars := map[string]string{"HUB_BASE_URL": tt.base, "HUB_DATA_ROOT": rememberIn(t, own)}
		got := runIn(t, testcli.World(t, vars), strings.Fields(tt.line)...)
		if want := "no hub runs at http://" + tt.want + "\n"; got.exit != 0 || got.stdout != want {
			t.Errorf("HUB_BASE_URL=%s hubcli %s: %+v, want %s", tt.base, tt.line, got, want)
		}
		got = runIn(t, testcli.World(t, vars), strings.Fields(strings.Replace(strings.Replace(tt.line, "app stop", "app start", 1), "stop", "ensure", 1))...)
		host, port, _ := net.SplitHostPort(tt.want)
		if want := "--host " + host + " --port " + port + " "; got.exit != term.ExitUnreachable || !strings.Contains(got.stderr, "hubcli: the daemon cannot be started") || !strings.Contains(got.stderr, want) {
			t.Errorf("HUB_BASE_URL=%s ensure as in %s: %+v, want %s", tt.base, tt.line, got, want)
		}
	}
}

// TestOthersHubIsTold: what is not a start says whose the hub is as well.
func TestOthersHubIsTold(t *testing.T) {
	for letIn, words := range map[bool]string{
		false: "hubcli: this hub is another user's: it belongs to ann, and the call comes from bob\nfix: ",
		true:  "hubcli: this hub is another user's: %s is ann's\nfix: name the address of your own hub with --host and --port",
	} {
		port := othersHubAt(t, nil, letIn)
		url := "http://127.0.0.1:" + port
		want := strings.ReplaceAll(words, "%s", url)
		vars := map[string]string{"HUB_DATA_ROOT": rememberIn(t, port)}
		if got := runIn(t, testcli.World(t, vars), "stop"); got.exit != term.ExitRefused || !strings.HasPrefix(got.stderr, want) {
			t.Errorf("stop: %+v, want %s", got, want)
		}
		env := testcli.World(t, vars)
		if got := runIn(t, env, "--storage", t.TempDir()); got.exit != term.ExitUnreachable || !strings.HasPrefix(got.stderr, "hubcli: this hub is another user's: "+url+" is ann's\nfix: choose another port with --port; hubcli ensure finds one") {
			t.Errorf("in the foreground: %+v", got)
		}
	}
	port := othersHubAt(t, nil, false)
	got := runIn(t, testcli.World(t, map[string]string{"HUB_DATA_ROOT": rememberIn(t, port)}), "post", "--agent", "a", "x")
	if got.exit != term.ExitRefused || !strings.HasPrefix(got.stderr, "hubcli: this hub is another user's: it belongs to ann, and the call comes from bob\nfix: "+hub.InfoOf(hub.CodeOtherUser).CLI) {
		t.Errorf("post: %+v", got)
	}
}
