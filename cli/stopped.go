package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// A hub that somebody has stopped stays stopped until somebody starts one: the
// bridges of agents that run meanwhile bring up one that has crashed, but not
// that. A mark in the data root tells the two apart:
//
//	<data root>/run/stopped-<hash of the address>   empty

func (e *Env) stoppedMark(a address) (string, error) {
	root, err := e.dataRoot()
	sum := sha256.Sum256([]byte(a.baseURL()))
	return filepath.Join(root, "run", "stopped-"+hex.EncodeToString(sum[:8])), err
}

// markStopped notes that the hub at the address is about to be stopped. Without a
// mark bridges may start another, which is all that is lost.
func (e *Env) markStopped(a address) {
	if path, err := e.stoppedMark(a); err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, nil, 0o600)
	}
}

// unmarkStopped notes that a hub at the address is wanted.
func (e *Env) unmarkStopped(a address) {
	if path, err := e.stoppedMark(a); err == nil {
		_ = os.Remove(path)
	}
}

// stopped reports whether somebody has stopped the hub at the address.
func (e *Env) stopped(a address) bool {
	path, err := e.stoppedMark(a)
	if err != nil {
		return false
	}
	_, err = os.Lstat(path)
	return err == nil
}
