package main

import (
	"errors"
	"io"
	"strings"
	"syscall"

	"hubcli/cli"
	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/persistence"
)

// inspectStore looks at a store folder for the command line, which does not see
// the store itself.
func inspectStore(dir string) (daemon.StoreInfo, error) {
	marker, err := persistence.Inspect(dir)
	if errors.Is(err, persistence.ErrNoStore) {
		return daemon.StoreInfo{Rest: len(persistence.HalfDeleted(dir)) > 0}, daemon.ErrNoStore
	}
	if err != nil {
		return daemon.StoreInfo{}, storeFailure(err)
	}
	held, who, err := persistence.HeldBy(dir)
	if err != nil {
		return daemon.StoreInfo{}, storeFailure(err)
	}
	salvaged, err := persistence.ReadSalvage(dir)
	if err != nil {
		salvaged = nil // a start says so in the log and goes on, too
	}
	return daemon.StoreInfo{
		Instance: marker.InstanceID, Messages: -1, Free: persistence.Free(dir), Held: held, Holder: daemon.Holder(who), Salvaged: salvaged,
	}, nil
}

// examineStore reads a store through that no hub serves.
func examineStore(dir string) (daemon.Examined, error) {
	x, err := persistence.Examine(dir)
	if errors.Is(err, persistence.ErrNoStore) {
		return daemon.Examined{}, daemon.ErrNoStore
	}
	if err != nil {
		return daemon.Examined{}, storeFailure(err)
	}
	out := daemon.Examined{Damaged: x.Damaged, Messages: x.Messages}
	if x.Refused != nil {
		out.Refused = storeFailure(x.Refused)
	}
	return out, nil
}

// salvageStore makes a store of everything that is whole in a damaged one.
func salvageStore(from, to string) (daemon.Salvaged, error) {
	made, err := persistence.Salvage(from, to, persistence.SalvageOptions{})
	if errors.Is(err, persistence.ErrNoStore) {
		return daemon.Salvaged{}, daemon.ErrNoStore
	}
	if err != nil {
		return daemon.Salvaged{}, storeFailure(err)
	}
	return daemon.Salvaged{Instance: made.NewInstance, Salvage: made.Salvage}, nil
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

// checkBackup reads a backup through.
func checkBackup(r io.Reader) (daemon.Backup, error) {
	b, err := persistence.CheckBackup(r)
	if err != nil {
		return daemon.Backup{}, storeFailure(err)
	}
	return backupOf(&b), nil
}

func backupOf(b *persistence.Backup) daemon.Backup {
	return daemon.Backup{
		Instance: b.Instance, Made: b.Made, Seq: b.Head.Seq, Message: b.Head.Message, Entries: b.Entries, Bytes: b.Bytes,
	}
}

// restoreStore makes a store of a backup.
func restoreStore(file io.ReadSeeker, dir string, moveAside bool) (daemon.Restored, error) {
	r, err := persistence.Restore(file, dir, persistence.RestoreOptions{MoveAside: moveAside})
	if err != nil {
		return daemon.Restored{}, storeFailure(err)
	}
	return daemon.Restored{Backup: backupOf(&r.Backup), Instance: r.Instance, Aside: r.Aside}, nil
}

// storeFailure gives what the store says about itself its exit code: naming
// something that is no store is bad input, everything else is the store's.
func storeFailure(err error) error {
	var s *persistence.StartError
	if errors.Is(err, &hub.Error{Code: hub.CodeCorruptRecord}) { // the store opens, and a record is damaged that the state is made of
		return &cli.Failure{
			Exit: cli.ExitStore, Sentence: "the store is damaged: " + err.Error(), Err: err,
			Fix: "see which file it is with `hubcli app doctor`; restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`",
		}
	}
	var failed *hub.Error
	if errors.As(err, &failed) && failed.Code == hub.CodeStoreFailed {
		// It is told of once, whatever else could not be ended because of it.
		return &cli.Failure{Exit: cli.ExitStore, Sentence: failed.Message, Fix: failed.FixFor(hub.ForCLI), Err: err}
	}
	if !errors.As(err, &s) {
		f := &cli.Failure{Exit: cli.ExitStore, Sentence: strings.ReplaceAll(err.Error(), "\n", "; "), Err: err}
		if errors.As(err, new(syscall.Errno)) { // the system refused something
			f.Fix = "check the disk and the rights of the folder of the store, then try again: what a hub has acknowledged is kept"
		}
		return f
	}
	if s.Kind == persistence.StartLocked {
		err = &daemon.HeldError{Holder: daemon.Holder(s.Holder)}
	}
	exit := cli.ExitStore
	if s.Kind == persistence.StartNotAStore || s.Kind == persistence.StartBadBackup {
		exit = cli.ExitUsage
	}
	return &cli.Failure{Exit: exit, Sentence: s.Sentence, Fix: s.Fix, Err: err}
}
