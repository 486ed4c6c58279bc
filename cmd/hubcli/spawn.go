package main

import (
	"os"
	"runtime"

	"hubcli/actors"
	"hubcli/integrations/spawn"
)

// keeperCommand is how this program is started as the keeper of a spawned process.
// It is the hub's own and stands in no listing.
const keeperCommand = "spawn-keeper"

// isKeeper reports whether this process is a keeper.
func isKeeper() bool { return len(os.Args) == 2 && os.Args[1] == keeperCommand }

// keep is a keeper's whole life.
func keep() int { return spawn.Keep(os.Stdin, os.Stdout) }

// runner starts the processes of spawns; nil if there is none.
func runner() actors.Runner {
	if r := keeperRunner(); r != nil {
		return r
	}
	return nil
}

// keeperRunner starts processes under keepers; nil if this program cannot start itself.
func keeperRunner() *spawn.Runner {
	exe, err := os.Executable()
	if runtime.GOOS == "linux" {
		exe, err = "/proc/self/exe", nil // also when the file was replaced meanwhile
	}
	if err != nil {
		return nil
	}
	return &spawn.Runner{Keeper: []string{exe, keeperCommand}}
}

var _ actors.Runner = (*spawn.Runner)(nil)
