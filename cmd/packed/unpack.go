//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hubcli/internal/identity"
	"hubcli/internal/program"
)

const (
	prefix      = "hubcli-"   // of unpacked programs, before the digest
	partSuffix  = ".part"     // of one that is being unpacked
	mode        = 0o700       // nobody else runs or replaces it
	mostUnpacks = 1 << 30     // bytes of a program that are written at most
	unpackWait  = time.Minute // for another process that unpacks it
)

// becomeWhole replaces this process with the carried program. Where the cache cannot hold it, or the system runs
// no program there, it is run from memory.
func becomeWhole() error {
	if len(carried) == 0 {
		return errors.New("this build carries none; go run ./internal/pack makes one that does")
	}
	self, err := program.Self()
	if err != nil {
		return err
	}
	args := append([]string{self}, os.Args[1:]...)
	path, err := unpacked()
	if err == nil {
		err = syscall.Exec(path, args, os.Environ())
	}
	return errors.Join(err, fromMemory(args))
}

// unpacked returns the path of the carried program in the user's cache. One that is there already is
// used if nobody else can have changed it and it is whole.
func unpacked() (string, error) {
	dir, err := program.Cache()
	if err != nil {
		return "", err
	}
	if err := identity.Trust(filepath.Dir(dir), identity.Written); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return "", err
	}
	if err := identity.Trust(dir, identity.Written); err != nil {
		return "", err
	}
	path := filepath.Join(dir, prefix+digest[:16])
	if intact(path) {
		return path, nil
	}
	// The first of several starts unpacks, and the others wait for it. Where the lock cannot be had, each unpacks.
	if unlock, err := identity.Lock(dir, unpackWait); err == nil {
		defer unlock()
		if intact(path) {
			return path, nil
		}
	}
	if err := unpack(dir, path); err != nil {
		return "", err
	}
	removeOthers(dir, path)
	return path, nil
}

// intact reports whether a file is the carried program, and this user's alone.
func intact(path string) bool {
	if identity.Trust(path, identity.Written) != nil {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return false
	}
	return hex.EncodeToString(sum.Sum(nil)) == digest
}

// unpack writes the carried program under a path. It writes a file of its own and renames it when it is whole: a
// process without the lock may do the same.
func unpack(dir, path string) (err error) {
	f, err := os.CreateTemp(dir, prefix+"*"+partSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	// Until it is on the disk a power cut would leave a file without its content, which intact would find.
	if err := errors.Join(f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// write writes the carried program, and fails if it is not the one that the builder has carried.
func write(w io.Writer) error {
	z, err := gzip.NewReader(bytes.NewReader(carried))
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(z, mostUnpacks)); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != digest {
		return errors.New("the carried program is damaged: install hubcli again")
	}
	return nil
}

// removeOthers removes programs of other versions, and what killed processes have left. A program that
// runs goes on: its file has no name any more.
func removeOthers(dir, path string) {
	entries, _ := os.ReadDir(dir) // those that could be read
	for _, e := range entries {
		other := filepath.Join(dir, e.Name())
		if other == path || !strings.HasPrefix(e.Name(), prefix) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err != nil || strings.HasSuffix(e.Name(), partSuffix) && recent(info) {
			continue // another process may be writing it
		}
		_ = os.Remove(other)
	}
}

// recent reports whether a file was written within the last minutes.
func recent(info os.FileInfo) bool { return time.Since(info.ModTime()) < 10*time.Minute }
