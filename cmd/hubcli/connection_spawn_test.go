//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testfeature"
	"hubcli/internal/testkeyring"
)

// TestKeyOfASpawnIsNobodyElses: a child has the key of its connection in its variable. The hub,
// the keeper, another child and every file of the store have it not, also after the hub was
// killed.
func TestKeyOfASpawnIsNobodyElses(t *testing.T) {
	testfeature.Need(t, "provider")
	k := testkeyring.Start(t)
	const key = "sk-PLANTED-of-a-spawn-4711"
	h := startSpawningHub(t, "DBUS_SESSION_BUS_ADDRESS="+k.Address)
	command := exec.Command("hubcli", "connection", "create", "--provider", "mistral", "--label", "work", "--key-stdin", "--base-url", h.BaseURL())
	command.Env = append(os.Environ(), "HUB_DATA_ROOT="+filepath.Join(h.dir, "data"))
	command.Stdin = strings.NewReader(key)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// The child prints the variable, as a careless program does, and then says whether it has it.
	room := h.allow(`env; echo " $MISTRAL_API_KEY "; printf "%s %s\n" ${#MISTRAL_API_KEY} $$ >"$1/$HUB_AGENT"; exec sleep 600`)
	spawn := func(connection string) (row hub.Spawn) {
		out, err := h.AsOperator().Spawn(t.Context(), hub.SpawnInput{RoomID: room.RoomID, Harness: hub.HarnessCodex, By: "lead", Prompt: "x", Connection: connection})
		require.NoError(t, err)
		return out.Row
	}
	had := func(row hub.Spawn) (size, pid int) {
		require.NoError(t, until(func() bool {
			text, err := os.ReadFile(filepath.Join(h.dir, string(row.AgentID)))
			_, scanErr := fmt.Sscan(string(text), &size, &pid)
			return err == nil && scanErr == nil && bytes.HasSuffix(text, []byte("\n"))
		}))
		return size, pid
	}
	with, without := spawn("work"), spawn("")
	size, pid := had(with)
	if size != len(key) || with.ConnectionID == "" {
		t.Errorf("the child has a variable of %d bytes: %+v", size, with)
	}
	if other, _ := had(without); other != 0 || without.ConnectionID != "" {
		t.Errorf("another child has a variable of %d bytes", other)
	}
	if got := holders(key); !slices.Equal(got, []string{fmt.Sprintf("/proc/%d/environ", pid)}) {
		t.Errorf("the key is in %q, want the child %d alone", got, pid)
	}
	// The output of one that is stopped is kept, without the key.
	third := spawn("work")
	had(third)
	_, err := h.AsOperator().StopSpawn(t.Context(), third.SpawnID, hub.SpawnStopInput{})
	require.NoError(t, err)
	third = h.ended(third.SpawnID)
	if third.ArtifactID == nil {
		t.Fatalf("no output is kept: %+v", third)
	}
	content, err := h.ArtifactContent(t.Context(), *third.ArtifactID)
	if err != nil || strings.Count(string(content.Data), "[the value of MISTRAL_API_KEY]") != 2 || bytes.Contains(content.Data, []byte(key)) {
		t.Errorf("the output is %q, %v", content.Data, err)
	}
	// Killed while it starts one more, the hub leaves nothing.
	starting := make(chan error, 1)
	go func() {
		_, err := h.AsOperator().Spawn(t.Context(), hub.SpawnInput{RoomID: room.RoomID, Harness: hub.HarnessCodex, By: "lead", Prompt: "x", Connection: "work"})
		starting <- err
	}()
	require.NoError(t, h.cmd.Process.Kill())
	_ = h.cmd.Wait()
	<-starting
	if err := until(func() bool { return len(holders(key)) == 0 }); err != nil {
		t.Errorf("after the kill the key is in %q", holders(key))
	}
	h.start()
	if got := h.ended(with.SpawnID); got.ConnectionID != with.ConnectionID || got.Status != hub.SpawnLost {
		t.Errorf("after a start the spawn is %+v", got)
	}
	require.NoError(t, filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte("PLANTED")) {
			t.Errorf("%s holds the key", path)
		}
		return nil
	}))
}

// holders names the pages of processes that show a key in their environment or arguments.
func holders(key string) (found []string) {
	dirs, _ := os.ReadDir("/proc")
	for _, dir := range dirs {
		if _, err := strconv.Atoi(dir.Name()); err != nil {
			continue
		}
		for _, page := range []string{"environ", "cmdline"} {
			path := filepath.Join("/proc", dir.Name(), page)
			if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(key)) {
				found = append(found, path)
			}
		}
	}
	return found
}
