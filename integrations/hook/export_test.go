package hook

import (
	"os"
	"path/filepath"
	"testing"
)

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
