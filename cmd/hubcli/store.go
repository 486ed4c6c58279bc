package main

import (
	"errors"

	"hubcli/cli"
	"hubcli/cli/daemon"
	"hubcli/persistence"
)

// inspectStore looks at a store folder for the command line, which does not see
// the store itself.
func inspectStore(dir string) (daemon.StoreInfo, error) {
	marker, err := persistence.Inspect(dir)
	if errors.Is(err, persistence.ErrNoStore) {
		return daemon.StoreInfo{}, daemon.ErrNoStore
	}
	if err != nil {
		return daemon.StoreInfo{}, storeFailure(err)
	}
	held, who, err := persistence.HeldBy(dir)
	if err != nil {
		return daemon.StoreInfo{}, storeFailure(err)
	}
	return daemon.StoreInfo{Instance: marker.InstanceID, Messages: -1, Held: held, Holder: daemon.Holder(who)}, nil
}

// deleteStore deletes a real store that nobody serves.
func deleteStore(dir string) (remark string, err error) {
	err = persistence.Delete(dir)
	var kept *persistence.Kept
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &kept):
		return kept.Error(), nil
	}
	return "", storeFailure(err)
}

// storeFailure gives what the store says about itself its exit code: naming
// something that is no store is bad input, everything else is the store's.
func storeFailure(err error) error {
	var s *persistence.StartError
	if !errors.As(err, &s) {
		return &cli.Failure{Exit: cli.ExitStore, Sentence: err.Error(), Err: err}
	}
	if s.Kind == persistence.StartLocked {
		err = &daemon.HeldError{Holder: daemon.Holder(s.Holder)}
	}
	exit := cli.ExitStore
	if s.Kind == persistence.StartNotAStore {
		exit = cli.ExitUsage
	}
	return &cli.Failure{Exit: exit, Sentence: s.Sentence, Fix: s.Fix, Err: err}
}
