package main

import (
	"errors"

	"hubcli/cli"
	"hubcli/hub"
	"hubcli/integrations/spawn"
)

// startHarness starts a harness under a keeper, so that its whole group of processes ends
// with this process, however that happens.
func startHarness(c cli.HarnessCommand, ended func(hub.SpawnEnd)) (cli.HarnessProcess, error) {
	keeper := keeperRunner()
	if keeper == nil {
		return cli.HarnessProcess{}, errors.New("this program cannot start itself")
	}
	control, pipes, err := keeper.StartPiped(&spawn.Piped{Args: c.Args, Env: c.Env, Dir: c.Dir, Standard: true, Remove: c.Remove}, ended)
	if err != nil {
		return cli.HarnessProcess{}, err
	}
	return cli.HarnessProcess{In: pipes.In, Out: pipes.Out, PID: control.PID, Stop: control.Stop}, nil
}
