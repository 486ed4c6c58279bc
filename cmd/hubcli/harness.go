package main

import (
	"errors"

	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/spawn"
)

// startHarness starts a harness under a keeper, so that its whole group of processes ends
// with this process, however that happens.
func startHarness(c term.HarnessCommand, ended func(hub.SpawnEnd)) (term.HarnessProcess, error) {
	keeper := keeperRunner()
	if keeper == nil {
		return term.HarnessProcess{}, errors.New("this program cannot start itself")
	}
	control, pipes, err := keeper.StartPiped(&spawn.Piped{Args: c.Args, Env: c.Env, Dir: c.Dir, Standard: true, Remove: c.Remove}, ended)
	if err != nil {
		return term.HarnessProcess{}, err
	}
	return term.HarnessProcess{In: pipes.In, Out: pipes.Out, PID: control.PID, Stop: control.Stop}, nil
}
