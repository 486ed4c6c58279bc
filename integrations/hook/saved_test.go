package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDamagedBindingsCountAsNone(t *testing.T) {
	s := sessions{dir: filepath.Join(t.TempDir(), "hooks")}
	b := Binding{AgentID: "dev-a", BaseURL: "http://127.0.0.1:1", RoomID: "r_1", InstanceID: "i"}
	if got, err := s.claim("x", b); err != nil || got != b {
		t.Fatalf("claimed %+v, %v", got, err)
	}
	if got, err := s.claim("x", Binding{AgentID: "dev-b"}); err != nil || got != b {
		t.Errorf("claimed again %+v, %v", got, err)
	}
	for _, text := range []string{"", "{", "null", `{"agent_id":"a/b"}`, `{"agent_id":"system"}`, strings.Repeat(" ", maxSavedBytes) + `{"agent_id":"a"}`} {
		if err := os.WriteFile(s.path("x"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.load("x"); ok {
			t.Errorf("%.20q loads as %+v", text, got)
		}
	}
	if got, err := s.claim("x", b); err != nil || got != b {
		t.Errorf("claimed over damage %+v, %v", got, err)
	}
	if got, ok := s.load("x"); !ok || got != b {
		t.Errorf("loaded %+v, %v", got, ok)
	}
	left, err := filepath.Glob(filepath.Join(s.dir, ".new-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind %q, %v", left, err)
	}
}

func TestSweep(t *testing.T) {
	s := sessions{dir: t.TempDir()}
	now := time.Now()
	for name, age := range map[string]time.Duration{
		"a.json": keepSessions - time.Hour, "b.json": keepSessions + time.Hour, "a-advised": keepSessions + time.Hour,
		"a-began-startup-1": keepMarks + time.Hour, "a-began-startup-2": time.Minute, ".new-1": keepMarks + time.Minute, ".new-2": time.Minute,
	} {
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	s.sweep(now)
	entries, err := os.ReadDir(s.dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); err != nil || got != ".new-2 a-began-startup-2 a.json" {
		t.Errorf("kept %s, %v", got, err)
	}
}

// TestFirstAgreesAcrossStretches: runs on both sides of the edge of a stretch of
// time are still for one event, and a later event of the same kind is another.
func TestFirstAgreesAcrossStretches(t *testing.T) {
	s := sessions{dir: t.TempDir()}
	if err := os.Chmod(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	edge := time.Unix(0, int64(window)*1000)
	for _, tt := range []struct {
		at     time.Time
		source string
		want   bool
	}{
		{edge.Add(-time.Millisecond), "startup", true},
		{edge.Add(-time.Millisecond), "startup", false},
		{edge.Add(time.Millisecond), "startup", false},
		{edge.Add(time.Millisecond), "compact", true},
		{edge.Add(3 * window), "startup", true},
		{edge, "../../x", true},
	} {
		if got := s.first("x", tt.source, tt.at); got != tt.want {
			t.Errorf("%s at %s: %v, want %v", tt.source, tt.at.Sub(edge), got, tt.want)
		}
	}
	if !(sessions{}).first("x", "startup", edge) || !(sessions{}).first("", "startup", edge) {
		t.Error("where nothing can be kept, nothing may be said")
	}
}

func TestExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env")
	for range 2 {
		if err := export(path, "HUB_AGENT", "dev-a"); err != nil {
			t.Fatal(err)
		}
	}
	if err := export(path, "HUB_BASE_URL", "http://h/$(x)"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if want := "export HUB_AGENT=dev-a\nexport HUB_BASE_URL='http://h/$(x)'\n"; err != nil || string(b) != want {
		t.Errorf("the file is %q, %v", b, err)
	}
	if err := os.WriteFile(path, []byte("export A=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := export(path, "HUB_AGENT", "dev-a"); err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(path); err != nil || string(b) != "export A=1\nexport HUB_AGENT=dev-a\n" {
		t.Errorf("the file is %q, %v", b, err)
	}
	for _, bad := range []string{"env", t.TempDir()} {
		if export(bad, "HUB_AGENT", "dev-a") == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
