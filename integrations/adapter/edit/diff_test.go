package edit

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/internal/require"
)

func TestDiff(t *testing.T) {
	before := "{\n  \"env\": {\"OPENAI_API_KEY\": \"sk-secret1234567890\"},\n  \"githubToken\": 'abc',\n  \"url\": \"https://me:pw@host/x?key=abc123\",\n  \"mcpServers\": {\n    \"db\": {}\n  }\n}\n"
	after, _, err := Insert(JSON, []byte(strings.ReplaceAll(before, "'", "\"")), Pointer{Keys: []string{"mcpServers", "hub"}}, server)
	require.NoError(t, err)
	got := Diff("/home/x/.mcp.json", []byte(strings.ReplaceAll(before, "'", "\"")), after)
	want := `--- /home/x/.mcp.json
+++ /home/x/.mcp.json
@@ -3,6 +3,12 @@
   "githubToken": "••••",
   "url": "https://••••@host/x?key=••••",
   "mcpServers": {
-    "db": {}
+    "db": {},
+    "hub": {
+      "type": "stdio",
+      "command": "/opt/hub/hubcli",
+      "args": ["mcp", "--harness", "x"],
+      "env": {}
+    }
   }
 }
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Diff("x", nil, []byte("a\n")); got != "--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+a\n" {
		t.Errorf("a new file: %q", got)
	}
	if got := Diff("x", []byte("a\n"), nil); !strings.HasPrefix(got, "--- x\n+++ /dev/null\n") {
		t.Errorf("a deleted file: %q", got)
	}
	if got := Diff("x", []byte("a"), []byte("a")); got != "" {
		t.Errorf("no change: %q", got)
	}
}

// TestDiffMasksSecrets: in every layout the secrets of others are masked, and
// our own text is shown.
func TestDiffMasksSecrets(t *testing.T) {
	for _, secret := range []struct{ format, text string }{
		{"json", `"API_TOKEN": "hunter2"`},
		{"json", `"env": {"ANYTHING": "hunter2"}`},
		{"json", `"headers": {"Authorization": "Bearer hunter2"}`},
		{"json", `"password": "hunter2 with \" blanks"`},
		{"json", `"args": ["--x", "ghp_hunter2hunter2"]`},
		{"json", `"url": "https://user:hunter2@host/"`},
		{"json", `"url": "https://host/?token=hunter2"`},
		{"json", `"x": "aB3hunter2hunter2hunter2hunter2"`},
		{"json", `"args": ["--token","hunter2"]`},
		{"json", "\"args\": [\n \"--api-key\",\n \"hunter2\"\n]"},
		{"json", `"args": ["--access-token=hunter2"]`},
		{"json", `"command": "npx db --password hunter2"`},
		{"json", `"args": ["--header", "Authorization: Basic hunter2 and, more"]`},
		{"json", `"args": ["-H", "X-Api-Key: hunter2"]`},
		{"json", `"url": "https://host/hunter2/sse"`},
		{"json", `"url": "https://host/hunterhunterhunter/sse"`},
		{"json", `"url": "https://host/sse?workspace=hunter2&v=1"`},
		{"toml", "bearer_token = 'hunter2'"},
		{"toml", `args = ["--token", "hunter2"]`},
		{"yaml", "  args:\n    - --token\n    - hunter2"},
		{"toml", "env = { KEY = \"hunter2\" }"},
		{"yaml", "  GITHUB_TOKEN: hunter2"},
		{"yaml", "  secret: hunter2 and more"},
	} {
		context := secret.text + "\n"
		got := Diff("x", []byte(context), []byte(context+"added: hunter3\n"))
		if strings.Contains(got, "hunter2") || strings.Contains(got, "hunterhunter") || !strings.Contains(got, "+added: hunter3") {
			t.Errorf("%s: %s", secret.text, got)
		}
		if secret.format == "json" {
			line := "{" + secret.text + `,"mcpServers":{}}`
			after, _, err := Insert(JSON, []byte(line), Pointer{Keys: []string{"mcpServers", "hub"}}, map[string]any{"env": map[string]string{"OUR_TOKEN": "hunter3"}})
			require.NoError(t, err)
			if got := Diff("x", []byte(line), after); strings.Contains(got, "hunter2") || strings.Contains(got, "hunterhunter") || !strings.Contains(got, "hunter3") {
				t.Errorf("%s in one line: %s", secret.text, got)
			}
		}
	}
	for _, plain := range []string{`"command": "/usr/local/bin/node"`, `"model": "claude-sonnet-4"`, `"theme": "Ayu Dark"`, `"tokens": true`, `[mcp_servers.hub]`, `"url": "https://host.example/v1/mcp/servers"`, `"args": ["-y", "@scope/server", "/srv/data"]`, `// authors: see the file`} {
		if got := secrets([]byte(plain)); len(got) > 0 && !strings.Contains(plain, "authors") {
			t.Errorf("%s is masked at %v", plain, got)
		}
	}
}

// TestDiffOfLongLines: in every layout text far from the change is not shown.
func TestDiffOfLongLines(t *testing.T) {
	far := strings.Repeat(`"x": "äöü", "list": [1, 2, 3], `, 50_000)
	before := `{"first": {}, ` + far + `"mcpServers": {"db": {"env": {"DB_TOKEN": "hunter2"}}}, ` + far + `"last": {"token": "hunter2"}}` + "\n"
	after := strings.Replace(before, `"first": {}`, `"first": {"hub": 1}`, 1)
	for _, both := range []bool{false, true} {
		if both {
			after = strings.Replace(after, `"last": {`, `"last": {"command": "/opt/hubcli", "env": {"HUB_DATA_ROOT": "/data"}, `, 1)
		}
		got := Diff("x", []byte(before), []byte(after))
		if len(got) > 4_000 || strings.Contains(got, "hunter2") || !strings.Contains(got, `"first": {"hub": 1}`) || !strings.Contains(got, " characters …") {
			t.Errorf("two changes %v: %d bytes: %.4000s", both, len(got), got)
		}
		if both != strings.Contains(got, `"command": "/opt/hubcli", "env": {"HUB_DATA_ROOT": "/data"}, "token": "••••"`) {
			t.Errorf("two changes %v: the second is not as it is: %s", both, got)
		}
	}
	if got := Diff("x", []byte(far+"\na\n"), []byte(far+"\nb\n")); len(got) > 1_000 || !strings.Contains(got, "-a\n+b\n") {
		t.Errorf("a long line beside the change: %d bytes: %.1000s", len(got), got)
	}
	if got := Diff("x", []byte("a\n"), []byte(strings.Repeat("b", 1_000_000)+"\n")); len(got) > 2*mostShown || !strings.Contains(got, "-a\n+bbb") {
		t.Errorf("a long line that comes: %d bytes: %.1000s", len(got), got)
	}
}

// TestChanged: for any change of a document of many words, the reported places
// differ, and the rest is equal on both sides.
func TestChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b,", "c{", "d\n", "}", ",", "äö"}), 0, 3000)
		both := words.Draw(t, "both")
		before, after := slices.Clone(both), slices.Clone(both)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(after)).Draw(t, "at")
			after = slices.Insert(after, at, words.Draw(t, "come")...)
			if at < len(before) {
				before = slices.Delete(before, at, at+1)
			}
		}
		a, b := []byte(strings.Join(before, "")), []byte(strings.Join(after, ""))
		gone, come := changed(a, b)
		if len(gone) != len(come) {
			t.Fatalf("%d places differ before, %d after", len(gone), len(come))
		}
		fromA, fromB := 0, 0
		for i, g := range gone {
			if !bytes.Equal(a[fromA:g.start], b[fromB:come[i].start]) {
				t.Fatalf("before place %d: %q, %q", i, a[fromA:g.start], b[fromB:come[i].start])
			}
			fromA, fromB = g.end, come[i].end
		}
		if !bytes.Equal(a[fromA:], b[fromB:]) {
			t.Fatal("behind all places something differs")
		}
	})
}
