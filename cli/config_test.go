package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"hubcli/internal/testcli"
)

// TestConfigSaysWhereSettingsComeFrom: a flag counts more than a variable, that more than what the data root
// remembers, and no key is shown.
func TestConfigSaysWhereSettingsComeFrom(t *testing.T) {
	type row struct{ Name, Value, From string }
	read := func(vars map[string]string, args ...string) map[string]row {
		t.Helper()
		got := runIn(t, testcli.World(t, vars), append([]string{"config", "--json"}, args...)...)
		var rows []row
		if err := json.Unmarshal([]byte(got.stdout), &rows); err != nil || got.exit != 0 {
			t.Fatalf("%+v: %v", got, err)
		}
		byName := map[string]row{}
		for _, r := range rows {
			byName[r.Name] = r
		}
		return byName
	}
	same := func(rows map[string]row, want row) {
		t.Helper()
		if got := rows[want.Name]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	root := rememberIn(t, "7001")
	rows := read(map[string]string{"HUB_DATA_ROOT": root, "HUB_AUTO_ROOMS": "off", "OPENAI_API_KEY": "sk-secret"})
	for _, want := range []row{
		{"hub", "http://127.0.0.1:7001", "the port in the data root"},
		{"data root", root, "HUB_DATA_ROOT"},
		{"HUB_AUTO_ROOMS", "off", "the environment"},
		{"HUB_AGENT", "", "a command wants --agent"},
	} {
		same(rows, want)
	}
	rows = read(map[string]string{"HUB_DATA_ROOT": root, "HUB_BASE_URL": "http://127.0.0.1:7002", "HUB_AGENT": "lead"})
	same(rows, row{"hub", "http://127.0.0.1:7002", "HUB_BASE_URL"})
	same(rows, row{"HUB_AGENT", "lead", "the environment"})
	rows = read(map[string]string{"HUB_DATA_ROOT": root, "HUB_BASE_URL": "http://127.0.0.1:7002"}, "--base-url", "http://127.0.0.1:7003")
	same(rows, row{"hub", "http://127.0.0.1:7003", "--base-url"})

	got := runIn(t, testcli.World(t, map[string]string{"HUB_DATA_ROOT": root, "HUB_AGENT": "a\x1b[2Jb", "OPENAI_API_KEY": "sk-secret"}), "config")
	if strings.Contains(got.stdout, "sk-secret") || strings.Contains(got.stdout, "\x1b") || !strings.Contains(got.stdout, "not set: keys are in the credential store") {
		t.Errorf("stdout %q", got.stdout)
	}
	bad := runIn(t, testcli.World(t, map[string]string{"HUB_DATA_ROOT": root, "HUB_BASE_URL": "ftp://x"}), "config")
	if bad.exit != 2 || !strings.Contains(bad.stderr, "HUB_BASE_URL") {
		t.Errorf("a bad address: %+v", bad)
	}
}
