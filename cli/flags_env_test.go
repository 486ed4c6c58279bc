package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/testcli"
)

// calls are the command lines of the commands that speak to a hub, without
// --base-url.
var calls = []string{
	"post --agent a x", "poll --agent a", "whoami --agent a", "resolve .", "watch --agent a --room r_1 --until message-from:b --timeout 0",
	"relay", "mcp --no-ensure", "smoke-agent --role smoke-a --transport http", "app status", "app overview", "app top", "app debug", "app receipt 1 --agent a", "app backup never.backup",
	"app agents", "app log", "app tasks", "app claims", "app locks", "app runs open --room r_1 x", "app runs", "app claim --agent a k", "app lock --agent a f",
	"app notify", "app users list", "app users allow b", "app users refuse b", "app open", "app ask --agent a x", "app inbox", "app attention", "app undelivered", "app answer ask_1 yes", "app say --channel general x",
	"app search x", "app channels", "app threads", "app memory --room r_1", "app decisions", "app spawns", "app spawns output s", "app spawns stop s", "app spawns start codex",
	"app spawns policy", "app logs", "app config",
	"app pause --all x", "app resume --all", "app pauses", "app mute a x", "app unmute a", "app mutes", "app budget a off", "app budgets", "app message 1 --agent a",
	"app task show 1", "app task create x", "app task assign 1 a", "app task complete 1", "app task cancel 1", "app task leases 1", "app release c --reason x", "app end a --reason x",
	"capsule export p --out never.hubpack --yes", "capsule import never.hubpack --yes", "capsule inspect never.hubpack", "project create --name p", "project list", "project show p", "project rename p n", "project export p --out never --yes", "project archive p", "project unarchive p", "app archive c", "app retire a", "app clear rooms --by a --yes", "app unarchive c", "room unarchive r_1", "room rename r_1 n", "room archive r_1",
	"app permissions on", "app permissions off", "app permissions list", "app permissions allow Read", "app permissions deny Bash git push", "app permissions move 1 --last", "app permissions remove 1",
	"room create --project p --name r", "room list --project p", "room show r_1", "room status r_1", "room bind r_1 .", "room locks r_1 warn", "room guard r_1 off", "room replay r_1 --out never.html", "room allow-host r_1 localhost:3000", "room unbind .",
	"decision add --room r_1 --title t", "decision list --room r_1", "decision show d_1",
	"artifact add --room r_1 --title t --kind k --body b", "artifact list --room r_1", "artifact get a_1",
	"invite create --project p --room r_1", "invite preview c", "invite revoke c", "invite list", "join c",
	"init .",
	"run claude",
	"adapter list", "adapter status generic", "adapter verify generic", "adapter preview generic", "adapter preview-uninstall generic",
	"adapter install generic --yes", "adapter uninstall generic --yes", "adapter repair generic --yes",
	"license verify", "license activate KEY-1 --yes", "license deactivate --yes",
	"providers", "connection list", "connection create --provider openai", "connection verify c", "connection models c", "connection key c --no-key",
	"connection rename c d", "connection move c --region r", "connection delete c --yes",
}

func called(path string, with string) string {
	for _, line := range calls {
		if strings.HasPrefix("hubcli "+line+" ", path+" ") && strings.Contains(line, with) {
			return line
		}
	}
	return ""
}

// TestEveryCommandTakesTheAddressOfTheEnvironment, a flag counts more, and an address
// that is none is bad input that names the variable.
func TestEveryCommandTakesTheAddressOfTheEnvironment(t *testing.T) {
	const nobody, other = "http://127.0.0.1:1", "http://127.0.0.1:2"
	for _, c := range commands(newRoot(testcli.World(t, nil))) {
		flag := c.LocalFlags().Lookup("base-url")
		if flag == nil || c.Name() == "hook" || c.Name() == "doctor" { // which never fails, and which says so in a line: see TestHook… and app_doctor.txt
			continue
		}
		if !strings.Contains(flag.Usage, "HUB_BASE_URL") {
			t.Errorf("%s does not tell of HUB_BASE_URL: %s", c.CommandPath(), flag.Usage)
		}
		line := called(c.CommandPath(), "")
		if line == "" {
			t.Errorf("%s is not tried", c.CommandPath())
			continue
		}
		args := strings.Fields(line)
		vars := map[string]string{"HUB_BASE_URL": "ftp://h", "HUB_DATA_ROOT": t.TempDir()}
		got := runIn(t, testcli.World(t, vars), args...)
		if got.exit != term.ExitUsage || !strings.Contains(got.stderr, "hubcli: HUB_BASE_URL in the environment is no address of a hub: the base address does not begin with http:// or https://\nfix: ") {
			t.Errorf("%s with a bad HUB_BASE_URL: %+v", line, got)
		}
		if slices.Contains([]string{"relay", "mcp", "run", "init", "smoke-agent", "top", "config"}, c.Name()) {
			continue // they start a hub, wait for a hub, need a terminal or ask no hub; the script environment.txt, TestTop and TestConfigSaysWhereSettingsComeFrom try them
		}
		got = runIn(t, testcli.World(t, vars), append(args, "--base-url", other)...)
		if got.exit != term.ExitUnreachable || !strings.Contains(got.stderr, other) {
			t.Errorf("%s --base-url beside a bad HUB_BASE_URL: %+v", line, got)
		}
		vars["HUB_BASE_URL"] = nobody
		if got = runIn(t, testcli.World(t, vars), args...); got.exit != term.ExitUnreachable || !strings.Contains(got.stderr, nobody) {
			t.Errorf("%s with HUB_BASE_URL: %+v", line, got)
		}
	}
}

// TestEveryCommandTakesTheAgentOfTheEnvironment, by whatever flag it names one.
func TestEveryCommandTakesTheAgentOfTheEnvironment(t *testing.T) {
	for _, c := range commands(newRoot(testcli.World(t, nil))) {
		var flag *pflag.Flag
		for _, name := range []string{"agent", "by"} {
			if f := c.LocalFlags().Lookup(name); f != nil {
				flag = f
			}
		}
		if flag == nil || c.Name() == "mcp" || c.Name() == "log" || c.Name() == "pause" || c.Name() == "resume" || c.Name() == "clear" { // the bridge's identity is its own: docs/mcp.md; log and clear select by it, and a pause acts as nobody
			continue
		}
		if !strings.Contains(flag.Usage, "HUB_AGENT") {
			t.Errorf("%s does not tell of HUB_AGENT: %s", c.CommandPath(), flag.Usage)
		}
		line := strings.Replace(called(c.CommandPath(), ""), " --agent a", "", 1)
		vars := map[string]string{"HUB_AGENT": "a/b", "HUB_BASE_URL": "http://127.0.0.1:1"}
		got := runIn(t, testcli.World(t, vars), strings.Fields(line)...)
		if got.exit != term.ExitUsage || !strings.Contains(got.stderr, "hubcli: HUB_AGENT is not an agent id\nfix: ") {
			t.Errorf("%s with a bad HUB_AGENT: %+v", line, got)
		}
		got = runIn(t, testcli.World(t, vars), append(strings.Fields(line), "--"+flag.Name, "b")...)
		if got.exit != term.ExitUnreachable {
			t.Errorf("%s --%s beside a bad HUB_AGENT: %+v", line, flag.Name, got)
		}
		vars["HUB_AGENT"] = "dev-a"
		if got = runIn(t, testcli.World(t, vars), strings.Fields(line)...); got.exit != term.ExitUnreachable {
			t.Errorf("%s with HUB_AGENT: %+v", line, got)
		}
		vars["HUB_AGENT"] = ""
		got = runIn(t, testcli.World(t, vars), strings.Fields(line)...)
		if required := strings.Contains(flag.Usage, "required"); required && !strings.Contains(got.stderr, "--agent is missing") || !required && got.exit != term.ExitUnreachable {
			t.Errorf("%s with an empty HUB_AGENT: %+v", line, got)
		}
	}
}

// TestTheAgentOfTheEnvironmentDisplacesNobody: it comes down from a harness whose
// bridge may be live under the same id.
func TestTheAgentOfTheEnvironmentDisplacesNobody(t *testing.T) {
	row := `{"ok":true,"result":{"id":12,"from_agent":"dev-a","channel":"general","kind":"chat","body":"x","to_agent":null}}`
	conflict := `{"ok":false,"error":"agent dev-a already has a live session","code":"session_conflict","status":409,"detail":{},"fix":""}`
	const posts = `POST /v1/messages %s {"from_agent":"dev-a","channel":"general","kind":"chat","body":"x"}`
	for _, tt := range []struct {
		session  string
		args     []string
		replace  bool
		proves   string
		rejected bool
	}{
		{registered, nil, false, "sid.secret", false},
		{conflict, nil, false, "", false},
		{registered, []string{"--agent", "dev-a"}, true, "sid.secret", false},
		{conflict, []string{"--agent", "dev-a"}, true, "", true},
	} {
		s := testcli.HubOf(t, map[string][]string{"POST /v1/sessions": {tt.session}, "POST /v1/messages": {row}})
		vars := map[string]string{"HUB_AGENT": "dev-a", "HUB_BASE_URL": s.URL}
		got := runIn(t, testcli.World(t, vars), append([]string{"post", "x"}, tt.args...)...)
		want := []string{fmt.Sprintf(`POST /v1/sessions  {"agent_id":"dev-a","replace":%v}`, tt.replace)}
		if !tt.rejected {
			want = append(want, fmt.Sprintf(posts, tt.proves))
		}
		if (got.exit == 0) == tt.rejected || fmt.Sprint(s.Asked) != fmt.Sprint(want) {
			t.Errorf("%v: %+v, asked\n%q, want\n%q", tt.args, got, s.Asked, want)
		}
	}
}

// TestTheAddressOfTheEnvironmentIsWhereHubsStart and stop, on this machine, unless a
// flag says where.
func TestTheAddressOfTheEnvironmentIsWhereHubsStart(t *testing.T) {
	port := testcli.FreeTCPPort(t)
	absent := "no hub runs at http://127.0.0.1:" + port + "\n"
	for _, tt := range []struct {
		line, base string
		exit       int
		stdout     string
		stderr     string
	}{
		{"stop", "http://127.0.0.1:" + port, 0, absent, ""},
		{"stop", "http://localhost:" + port + "/", 0, absent, ""},
		{"app stop", "http://127.0.0.1:" + port, 0, absent, ""},
		{"stop --port " + port, "nonsense", 0, absent, ""},
		{"stop --host 127.0.0.1 --port " + port, "http://192.0.2.77:1", 0, absent, ""},
		{"stop", "nonsense", term.ExitUsage, "", "hubcli: HUB_BASE_URL in the environment is no address of a hub: "},
		{"stop", "https://127.0.0.1:" + port, term.ExitUsage, "", "hubcli: HUB_BASE_URL is https://127.0.0.1:" + port + ", and a hub is started and stopped at a plain address only: http://<host>:<port>\nfix: name "},
		{"reset --yes", "http://127.0.0.1/hub", term.ExitUsage, "", "hubcli: HUB_BASE_URL is http://127.0.0.1/hub, and a hub is "},
		{"ensure", "http://192.0.2.77:6969", term.ExitUsage, "", "hubcli: HUB_BASE_URL is http://192.0.2.77:6969, which is no address of this machine: no hub can be started there from here\nfix: name the hub's own address with --host and --port, or unset HUB_BASE_URL\n"},
		{"ensure", "http://hub.example:6969", term.ExitUsage, "", "hubcli: HUB_BASE_URL is http://hub.example:6969, which is no address of this machine"},
		{"app start", "http://192.0.2.77:6969", term.ExitUsage, "", "hubcli: HUB_BASE_URL is http://192.0.2.77:6969, which is no address"},
		{"--storage x", "http://192.0.2.77:6969", term.ExitUsage, "", "hubcli: HUB_BASE_URL is http://192.0.2.77:6969, which is no address"},
		{"ensure", "http://127.0.0.1:" + port, 3, "", "hubcli: the daemon cannot be started: the test has no such thing\nfix: run the hub in the foreground: hubcli --host 127.0.0.1 --port " + port + " "},
		{"ensure --port " + port, "http://127.0.0.1:1", 3, "", "hubcli: the daemon cannot be started: the test has no such thing\nfix: run the hub in the foreground: hubcli --host 127.0.0.1 --port " + port + " "},
	} {
		vars := map[string]string{"HUB_BASE_URL": tt.base, "HUB_DATA_ROOT": t.TempDir()}
		got := runIn(t, testcli.World(t, vars), strings.Fields(tt.line)...)
		if got.exit != tt.exit || got.stdout != tt.stdout || !strings.HasPrefix(got.stderr, tt.stderr) {
			t.Errorf("HUB_BASE_URL=%s hubcli %s: %+v, want %d %q %q", tt.base, tt.line, got, tt.exit, tt.stdout, tt.stderr)
		}
	}
}

// TestAnEmptyVariableCountsAsNotSet.
func TestAnEmptyVariableCountsAsNotSet(t *testing.T) {
	for value, want := range map[string]string{"": "http://127.0.0.1:6969", "http://127.0.0.1:7001": "http://127.0.0.1:7001"} {
		env := testcli.World(t, map[string]string{"HUB_BASE_URL": value})
		var b opt.BaseURL
		var a opt.AddressFlags
		b.Add(env, pflag.NewFlagSet("client", pflag.ContinueOnError))
		a.Add(env, pflag.NewFlagSet("daemon", pflag.ContinueOnError), 1)
		if err := a.Settle(true); err != nil || b.Check() != nil || b.URL != want || a.BaseURL() != want {
			t.Errorf("HUB_BASE_URL=%q: client %s, hub %s, %v", value, b.URL, a.BaseURL(), err)
		}
	}
}
