package identity

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

func TestRunsAreRememberedByFolder(t *testing.T) {
	r := RunsOf(t.TempDir())
	if got := r.Load(hub.HarnessCodex, "/a"); got != nil {
		t.Errorf("at first: %v", got)
	}
	first, second := Run{AgentID: "fern", InstanceID: "i", PID: 1}, Run{AgentID: "oak", InstanceID: "i", Session: "s"}
	require.NoError(t, r.Store(hub.HarnessCodex, "/a", first))
	require.NoError(t, r.Store(hub.HarnessCodex, "/a", second))
	require.NoError(t, r.Store(hub.HarnessCodex, "/a", first))
	if got := r.Load(hub.HarnessCodex, "/a"); !slices.Equal(got, []Run{first, second}) {
		t.Errorf("then: %v", got)
	}
	for folder, harness := range map[string]hub.Harness{"/a": hub.HarnessGoose, "/b": hub.HarnessCodex} {
		if got := r.Load(harness, folder); got != nil {
			t.Errorf("elsewhere: %v", got)
		}
	}
	for i := range maxRuns + 3 {
		require.NoError(t, r.Store(hub.HarnessCodex, "/a", Run{AgentID: hub.AgentID("a" + string(rune('a'+i)))}))
	}
	if got := r.Load(hub.HarnessCodex, "/a"); len(got) != maxRuns {
		t.Errorf("%d are kept", len(got))
	}
}

func TestDamagedRunsCountAsNone(t *testing.T) {
	r := RunsOf(t.TempDir())
	require.NoError(t, r.Store(hub.HarnessCodex, "/a", Run{AgentID: "fern"}))
	for _, text := range []string{"", "{", `[{"agent_id":"operator"},{"agent_id":"../x"},{}]`, "[1]"} {
		require.NoError(t, os.WriteFile(r.path(hub.HarnessCodex, "/a"), []byte(text), 0o600))
		if got := r.Load(hub.HarnessCodex, "/a"); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestOneStartChoosesAtATime(t *testing.T) {
	r := RunsOf(t.TempDir())
	unlock, err := r.Lock(time.Second)
	require.NoError(t, err)
	if _, err := r.Lock(0); !errors.Is(err, ErrBusy) {
		t.Errorf("beside another: %v", err)
	}
	unlock()
	unlock, err = r.Lock(time.Second)
	require.NoError(t, err)
	unlock()
}
