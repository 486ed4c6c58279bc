package persistence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Who has a store open writes into its lock file who that is:
//
//	<empty line>
//	pid 4711
//	address 127.0.0.1:6969
//
// The first byte is the one that Windows locks, where nobody else can read it. What
// a killed hub wrote stays until the next one has the lock, so that the text says
// something only while the lock is held, and even then it is a hint: nothing that
// could do harm goes by it alone.

// Holder is who has a store open, as the lock file says. What it does not say is
// zero.
type Holder struct {
	PID     int
	Address string // what the hub listens on; empty if it is no hub that serves
}

const (
	maxHolderBytes = 256

	// lockPatience is how long the lock is asked for again. Who only looks whether
	// it is held takes it for an instant.
	lockPatience = 100 * time.Millisecond
	lockAgain    = 5 * time.Millisecond
)

// HeldBy reports whether a process has the store in dir open, and which, as far as
// it says so. It looks by taking the store's lock for an instant, and makes nothing.
func HeldBy(dir string) (held bool, who Holder, err error) {
	f, err := os.OpenFile(filepath.Join(dir, nameLock), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, Holder{}, nil
	}
	if err != nil {
		return false, Holder{}, ioError("looking at the lock", err)
	}
	defer f.Close()
	free, err := lockFile(f)
	if err != nil {
		return false, Holder{}, ioError("looking at the lock", err)
	}
	if free {
		return false, Holder{}, nil
	}
	return true, readHolder(f), nil
}

// readHolder reads what the lock file says. Text that is not as a hub writes it
// says nothing.
func readHolder(f io.ReaderAt) Holder {
	b := make([]byte, maxHolderBytes)
	n, err := f.ReadAt(b, 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return Holder{}
	}
	lines := strings.Split(string(b[:n]), "\n")
	if len(lines) != 3 || lines[2] != "" {
		return Holder{}
	}
	digits, named := strings.CutPrefix(lines[0], "pid ")
	address, also := strings.CutPrefix(lines[1], "address ")
	pid, err := strconv.Atoi(digits)
	if !named || !also || err != nil || pid <= 0 {
		return Holder{}
	}
	if at, err := netip.ParseAddrPort(address); err != nil || at.Port() == 0 {
		address = ""
	}
	return Holder{PID: pid, Address: address}
}

// sayHolder writes who has the lock. Without it the store is as good: on a full
// disk nobody is told.
func sayHolder(f *os.File, address string) {
	text := fmt.Sprintf("\npid %d\naddress %s\n", os.Getpid(), address)
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(text), 0)
	}
}

// takeLock takes the store's lock and says in it that this process has it, which
// serves at address; or says who has it.
func takeLock(dir, address string) (*os.File, error) {
	name := filepath.Join(dir, nameLock)
	for began := time.Now(); ; {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, ioError("opening the lock", err)
		}
		ok, err := lockFile(f)
		if err != nil {
			_ = f.Close()
			return nil, ioError("locking the store", err)
		}
		if !ok {
			who := readHolder(f)
			_ = f.Close()
			if time.Since(began) < lockPatience {
				time.Sleep(lockAgain)
				continue
			}
			return nil, heldError(dir, who)
		}
		// The folder may have been renamed away between opening and locking.
		mine, err := f.Stat()
		there, terr := os.Stat(name)
		if err == nil && terr == nil && os.SameFile(mine, there) {
			sayHolder(f, address)
			return f, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, ioError("locking the store", err)
		}
		if terr != nil && !errors.Is(terr, fs.ErrNotExist) {
			return nil, ioError("locking the store", terr)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, noFolder("making the folder", err)
		}
	}
}

func heldError(dir string, who Holder) *StartError {
	sentence := "another hub has the store " + dir + " open"
	if who.PID != 0 {
		sentence = fmt.Sprintf("another hub, process %d, has the store %s open", who.PID, dir)
	}
	return &StartError{
		Sentence: sentence, Kind: StartLocked, Holder: who,
		Fix: "use the hub that has it, or stop it with `hubcli stop`, or name another folder with --storage",
	}
}
