package main

import (
	"errors"
	"io"
	"strings"
	"syscall"

	"hubcli/persistence/storedir"

	"hubcli/cli/daemon"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/hubfile"
	"hubcli/internal/maker"
	"hubcli/persistence"
)

// inspectStore looks at a store folder for the command line, which does not see
// the store itself.
func inspectStore(dir string) (daemon.StoreInfo, error) {
	marker, err := storedir.Inspect(dir)
	if errors.Is(err, storedir.ErrNoStore) {
		return daemon.StoreInfo{Rest: len(persistence.HalfDeleted(dir)) > 0}, daemon.ErrNoStore
	}
	if err != nil {
		return daemon.StoreInfo{}, storeFailure(err)
	}
	held, who, err := storedir.HeldBy(dir)
	if err != nil {
		return daemon.StoreInfo{}, storeFailure(err)
	}
	salvaged, err := persistence.ReadSalvage(dir)
	if err != nil {
		salvaged = nil // a start says so in the log and goes on, too
	}
	var proof []byte
	if key, err := storedir.ReadKey(dir); err == nil { // a start says so otherwise
		proof = hubfile.ProofKey(key)
	}
	socket, err := persistence.ReadSocket(dir)
	if err != nil { // no hub has served it, or one of an earlier version
		socket = ""
	}
	return daemon.StoreInfo{
		ProofKey: proof, Socket: socket, Instance: marker.InstanceID, Format: marker.Format, Messages: -1, Free: persistence.Free(dir), Held: held, Holder: daemon.Holder(who), Salvaged: salvaged,
	}, nil
}

// examineStore reads a store through that no hub serves. A hub of the data root root would serve
// it.
func examineStore(dir, root string) (daemon.Examined, error) {
	x, err := persistence.Examine(dir)
	if errors.Is(err, storedir.ErrNoStore) {
		return daemon.Examined{}, daemon.ErrNoStore
	}
	if err != nil {
		return daemon.Examined{}, storeFailure(err)
	}
	out := daemon.Examined{Damaged: x.Damaged, Messages: x.Messages}
	known := &persistence.Maker{Root: root}
	if key, err := maker.Read(root); err == nil {
		known.Key = key
	}
	if x.Refused == nil && known.Key != nil { // without a secret no hub of this user has run yet
		x.Refused = known.Refuses(dir)
	}
	if x.Refused != nil {
		out.Refused = storeFailure(x.Refused)
	}
	return out, nil
}

// salvageStore makes a store of everything that is whole in a damaged one.
func salvageStore(from, to string, o daemon.Origin) (daemon.Salvaged, error) {
	known, err := storeMaker(o.DataRoot)
	if err != nil {
		return daemon.Salvaged{}, err
	}
	made, err := persistence.Salvage(from, to, persistence.SalvageOptions{Maker: known, Adopt: o.Adopt})
	if errors.Is(err, storedir.ErrNoStore) {
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
func restoreStore(file io.ReadSeeker, dir string, moveAside bool, o daemon.Origin) (daemon.Restored, error) {
	known, err := storeMaker(o.DataRoot)
	if err != nil {
		return daemon.Restored{}, err
	}
	r, err := persistence.Restore(file, dir, persistence.RestoreOptions{MoveAside: moveAside, Maker: known, Adopt: o.Adopt})
	if err != nil {
		return daemon.Restored{}, storeFailure(err)
	}
	return daemon.Restored{Backup: backupOf(&r.Backup), Instance: r.Instance, Aside: r.Aside}, nil
}

// storeMaker is how the stores of this user's hubs are known. Without a data root none is.
func storeMaker(root string) (*persistence.Maker, error) {
	if root == "" {
		return &persistence.Maker{}, nil
	}
	key, err := maker.Load(root)
	if err == nil {
		return &persistence.Maker{Key: key, Root: root}, nil
	}
	f := &term.Failure{
		Exit: term.ExitUsage, Sentence: "the secret of the data root cannot be had: " + err.Error(), Err: err,
		Fix: "set HUB_DATA_ROOT to a folder of your own that you may write to",
	}
	var bad *maker.KeyError
	if errors.As(err, &bad) && bad.Err == nil {
		f.Fix = "if the data root is yours, close the file to others with chmod 600, or move it away: then stores outside of the data root are to be taken over with --adopt; otherwise set HUB_DATA_ROOT to a folder of your own"
	}
	return nil, f
}

// storeFailure gives what the store says about itself its exit code: naming
// something that is no store is bad input, a store that another process has is
// refused, and everything else is the store's.
func storeFailure(err error) error {
	var s *storedir.StartError
	if errors.Is(err, &hub.Error{Code: hub.CodeCorruptRecord}) { // the store opens, and a record is damaged that the state is made of
		return &term.Failure{
			Exit: term.ExitStore, Sentence: "the store is damaged: " + err.Error(), Err: err,
			Fix: "see which file it is with `hubcli app doctor`; restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`",
		}
	}
	var failed *hub.Error
	if errors.As(err, &failed) && (failed.Code == hub.CodeStoreFailed || failed.Code == hub.CodeStoreGone) {
		// It is told of once, whatever else could not be ended because of it.
		return &term.Failure{Exit: term.ExitStore, Sentence: failed.Message, Fix: failed.FixFor(hub.ForCLI), Err: err}
	}
	if !errors.As(err, &s) {
		f := &term.Failure{Exit: term.ExitStore, Sentence: strings.ReplaceAll(err.Error(), "\n", "; "), Err: err}
		if errors.As(err, new(syscall.Errno)) { // the system refused something
			f.Fix = "check the disk and the rights of the folder of the store, then try again: what a hub has acknowledged is kept"
		}
		return f
	}
	if s.Kind == storedir.StartLocked {
		err = &daemon.HeldError{Holder: daemon.Holder(s.Holder)}
	}
	exit := term.ExitStore
	switch s.Kind { //nolint:exhaustive // of the others the store has failed
	case storedir.StartNotAStore, storedir.StartForeign, storedir.StartBadBackup:
		exit = term.ExitUsage
	case storedir.StartLocked: // another process has it, and nothing is wrong with it
		exit = term.ExitRefused
	}
	return &term.Failure{Exit: exit, Sentence: s.Sentence, Fix: s.Fix, Err: err}
}
