package actors

import (
	"fmt"
	"testing"

	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestSpawnCrashAtEveryStep: the hub dies at any step of a spawn. The next
// start has no record of the spawn, or records its end once, as lost or as it
// was.
func TestSpawnCrashAtEveryStep(t *testing.T) {
	for _, step := range waysOfAWrite {
		for nth := 1; nth <= 4; nth++ {
			t.Run(fmt.Sprintf("%s-%d", step, nth), func(t *testing.T) { crashSpawn(t, step, nth) })
		}
	}
}

func crashSpawn(t *testing.T, step engine.Step, nth int) {
	crash := &stepCrash{store: newMemStore(), step: step, nth: nth}
	sr := startSpawning(t, crash.store, crash.option)
	sr.allow()
	crash.arm()
	row := sr.spawn("lead")
	zero := 0
	sr.runner.end(row.PID, hub.SpawnEnd{ExitCode: &zero, Output: []byte("out")})
	sr.over(row.SpawnID)
	again := startSpawning(t, crash.over())
	again.room = sr.room
	rows, _, err := again.Spawns(t.Context(), hub.SpawnsQuery{Limit: 10})
	if err != nil || len(rows) > 1 {
		t.Fatalf("%d spawns, %v", len(rows), err)
	}
	if len(rows) == 1 {
		if got := again.over(rows[0].SpawnID); got.Status != hub.SpawnLost && got.Status != hub.SpawnExited {
			t.Errorf("the spawn is %+v", got)
		}
	}
	require.Eventually(t, "the notice of the end", func() bool { return len(again.told("lead")) >= len(rows) })
	if told := again.told("lead"); len(told) != len(rows) {
		t.Errorf("%d spawns, lead was told %q", len(rows), told)
	}
	// The limits count it no more.
	if fresh := again.spawn("lead"); fresh.Status != hub.SpawnRunning {
		t.Errorf("a new one is %+v", fresh)
	}
}
