package hook

import (
	"os"
	"path/filepath"
	"testing"

	"hubcli/internal/require"
)

func TestExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env")
	for range 2 {
		require.NoError(t, export(path, "HUB_AGENT", "dev-a"))
	}
	require.NoError(t, export(path, "HUB_BASE_URL", "http://h/$(x)"))
	b, err := os.ReadFile(path)
	if want := "export HUB_AGENT=dev-a\nexport HUB_BASE_URL='http://h/$(x)'\n"; err != nil || string(b) != want {
		t.Errorf("the file is %q, %v", b, err)
	}
	require.NoError(t, os.WriteFile(path, []byte("export A=1"), 0o600))
	require.NoError(t, export(path, "HUB_AGENT", "dev-a"))
	if b, err = os.ReadFile(path); err != nil || string(b) != "export A=1\nexport HUB_AGENT=dev-a\n" {
		t.Errorf("the file is %q, %v", b, err)
	}
	for _, bad := range []string{"env", t.TempDir()} {
		if export(bad, "HUB_AGENT", "dev-a") == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
