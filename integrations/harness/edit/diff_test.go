package edit

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	before := "{\n  \"env\": {\"OPENAI_API_KEY\": \"sk-secret1234567890\"},\n  \"githubToken\": 'abc',\n  \"url\": \"https://me:pw@host/x?key=abc123\",\n  \"mcpServers\": {\n    \"db\": {}\n  }\n}\n"
	after, _, err := Insert(JSON, []byte(strings.ReplaceAll(before, "'", "\"")), Pointer{Keys: []string{"mcpServers", "hub"}}, server)
	if err != nil {
		t.Fatal(err)
	}
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

// A secret of others is shown nowhere, however the file is laid out, and what we
// write is shown as it is.
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
		{"toml", "bearer_token = 'hunter2'"},
		{"toml", "env = { KEY = \"hunter2\" }"},
		{"yaml", "  GITHUB_TOKEN: hunter2"},
		{"yaml", "  secret: hunter2 and more"},
	} {
		context := secret.text + "\n"
		got := Diff("x", []byte(context), []byte(context+"added: hunter3\n"))
		if strings.Contains(got, "hunter2") || !strings.Contains(got, "+added: hunter3") {
			t.Errorf("%s: %s", secret.text, got)
		}
		if secret.format == "json" {
			line := "{" + secret.text + `,"mcpServers":{}}`
			after, _, err := Insert(JSON, []byte(line), Pointer{Keys: []string{"mcpServers", "hub"}}, map[string]any{"env": map[string]string{"OUR_TOKEN": "hunter3"}})
			if err != nil {
				t.Fatal(err)
			}
			if got := Diff("x", []byte(line), after); strings.Contains(got, "hunter2") || !strings.Contains(got, "hunter3") {
				t.Errorf("%s in one line: %s", secret.text, got)
			}
		}
	}
	for _, plain := range []string{`"command": "/usr/local/bin/node"`, `"model": "claude-sonnet-4"`, `"theme": "Ayu Dark"`, `"tokens": true`, `[mcp_servers.hub]`, `// authors: see the file`} {
		if got := mask(plain, nil); got != plain && !strings.Contains(plain, "authors") {
			t.Errorf("%s is masked as %s", plain, got)
		}
	}
}
