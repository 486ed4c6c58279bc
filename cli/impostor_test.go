package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/cli/term"
	"hubcli/internal/require"
	"hubcli/internal/testcli"
	"hubcli/internal/testhub"
)

// notRefused are commands of a hub that do not end with the words of an impostor, and why.
var notRefused = map[string]string{
	"hubcli init":                  "needs a repository; ensure, by which it starts a hub, is tried by itself",
	"hubcli hook":                  "says nothing whatever is wrong, and decides nothing",
	"hubcli mcp":                   "serves the protocol, and its tools say it",
	"hubcli relay":                 "runs on, and its answers say it",
	"hubcli reset":                 "deletes a store that no hub serves",
	"hubcli resolve":               "asks for one address that a person typed",
	"hubcli app doctor":            "says it among other things",
	"hubcli app logs":              "has no store named",
	"hubcli app config":            "asks no hub",
	"hubcli config":                "asks no hub",
	"hubcli app service status":    "calls nothing but the address",
	"hubcli app service install":   "calls nothing",
	"hubcli app service preview":   "calls nothing",
	"hubcli app top":               "needs a terminal",
	"hubcli top":                   "needs a terminal",
	"hubcli app demo":              "has a hub of its own",
	"hubcli app service uninstall": "calls nothing",
	"hubcli capsule inspect":       "calls nothing",
}

// ownArguments are those of commands whose own examples need more than the test has.
var ownArguments = map[string]string{
	"hubcli app open":       "app open --print",
	"hubcli artifact get":   "artifact get a_1f --out new.md",
	"hubcli connection key": "connection key work --key-stdin",
	"hubcli smoke-agent":    "smoke-agent --role smoke-a --transport http --timeout-sec 2",
}

// atAddress are the commands that start and stop hubs.
var atAddress = map[string]bool{
	"hubcli ensure": true, "hubcli stop": true, "hubcli reset": true, "hubcli app start": true, "hubcli app stop": true,
	"hubcli app service status": true, "hubcli app service install": true, "hubcli app service preview": true, "hubcli app service uninstall": true,
}

// TestNoCommandBelievesAnImpostor: a program has the port of a hub of this user that is down,
// and says of itself all that the hub said. Each command that calls a hub sends it nothing
// but the challenge, and says what is wrong.
func TestNoCommandBelievesAnImpostor(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if !strings.HasPrefix(r.RequestURI, "/v1/hub-info?nonce=") || len(body) > 0 || r.Header.Get("X-Hub-Session") != "" || r.Header.Get("X-Hub-Operator") != "" {
			heard = append(heard, fmt.Sprintf("%s %s %v %s", r.Method, r.RequestURI, r.Header, body))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true,"result":{"instance_id":"abc","storage_path":"/s","features":[],"message_kinds":[]}}`)
	}))
	defer s.Close()
	fake := testhub.NewFake(t, s.URL, nil)
	t.Setenv("HUB_DATA_ROOT", fake.DataRoot) // the look at the port is of the process
	t.Setenv("HOME", fake.DataRoot)
	t.Chdir(t.TempDir())
	vars := map[string]string{"HUB_DATA_ROOT": fake.DataRoot, "HOME": fake.DataRoot}
	port := s.URL[strings.LastIndex(s.URL, ":")+1:]
	refused := 0
	for _, args := range hubCommands(t) {
		path := args[0]
		line := args[1:]
		flags := []string{"--base-url", s.URL}
		if atAddress[path] {
			line = slices.DeleteFunc(line, func(a string) bool { return a == "--port" || a == "7001" })
			flags = []string{"--port", port}
		}
		at := slices.Index(line, "--")
		if at < 0 {
			at = len(line)
		}
		line = slices.Insert(slices.Clone(line), at, flags...)
		t.Run(path, func(t *testing.T) {
			env := testcli.World(t, vars)
			env.InspectStore = func(string) (daemon.StoreInfo, error) {
				return daemon.StoreInfo{Instance: "abc", Messages: -1, Free: -1}, nil
			}
			var out, err strings.Builder
			env.Stdin, env.Stdout, env.Stderr = strings.NewReader("sk-KEY\n"), &out, &err
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if path == "hubcli relay" {
				ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
				defer cancel()
			}
			exit := Run(ctx, env, line)
			said := err.String()
			if strings.Contains(said, "another program has the hub's port 127.0.0.1:"+port) && exit == term.ExitUnreachable && strings.Contains(said, "\nfix: ") {
				refused++
			} else if notRefused[path] == "" {
				t.Errorf("%q: exit %d, stdout %q, stderr %q", line, exit, out.String(), said)
			}
		})
	}
	mu.Lock()
	defer mu.Unlock()
	for _, what := range heard {
		t.Errorf("the impostor got %s", what)
	}
	if refused < 80 {
		t.Errorf("only %d commands were refused", refused)
	}
}

// hubCommands returns the commands that name a hub, with arguments of their own examples.
func hubCommands(t *testing.T) (lines [][]string) {
	t.Helper()
	for _, name := range []string{"plan.md", "policy.json"} { // of the examples
		require.NoError(t, os.WriteFile(name, []byte("{}"), 0o600))
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		path := cmd.CommandPath()
		if !cmd.Runnable() || cmd.HasSubCommands() && cmd.Flags().Lookup("base-url") == nil || strings.HasPrefix(path, "hubcli completion") || path == "hubcli help" ||
			cmd.Flags().Lookup("base-url") == nil && cmd.Flags().Lookup("port") == nil || path == "hubcli" {
			return
		}
		args := strings.Fields(ownArguments[path])
		if len(args) == 0 {
			args = example(cmd)
		}
		lines = append(lines, append([]string{path}, args...))
	}
	walk(newRoot(testcli.World(t, nil)))
	return lines
}

// example returns the arguments of the first example of the command.
func example(cmd *cobra.Command) []string {
	for line := range strings.Lines(cmd.Example) {
		if args, ok := strings.CutPrefix(strings.TrimSpace(line), "hubcli "); ok {
			return shellWords(args)
		}
	}
	return strings.Fields(cmd.CommandPath())[1:]
}

// shellWords splits a line as a shell does that knows double quotes, up to a sign of the shell or
// the words that explain the line.
func shellWords(line string) (args []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		part, _, explained := strings.Cut(part, "   ")
		for _, word := range strings.Fields(part) {
			if strings.ContainsAny(word, "<>|") {
				return args
			}
			args = append(args, word)
		}
		if explained {
			return args
		}
	}
	return args
}
