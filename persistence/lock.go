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

	"hubcli/internal/osfile"
)

// A process that has a store open writes its own identity into the lock file:
//
//	<empty line>
//	pid 4711
//	address 127.0.0.1:6969
//
// Windows locks the first byte, which no other process can read then; hence the
// empty line. The text of a killed hub stays until the next process has the lock.
// So the text means something only while the lock is held. Even then it is a hint,
// and nothing that could do harm relies on it alone.

// Holder is the process that has a store open, as the lock file names it. Fields
// that the file does not name are zero.
type Holder struct {
	PID     int
	Address string // what the hub listens on; empty if it is no hub that serves
}

const (
	maxHolderBytes = 256

	// lockPatience is how long taking the lock is tried again. A process that only
	// looks whether it is held takes it for an instant.
	lockPatience = 100 * time.Millisecond
	lockAgain    = 5 * time.Millisecond
)

// HeldBy reports whether a process has the store in dir open, and which one if the
// lock file names it. It takes the store's lock for an instant and makes no file.
func HeldBy(dir string) (held bool, holder Holder, err error) {
	f, err := os.OpenFile(filepath.Join(dir, nameLock), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, Holder{}, nil
	}
	if err != nil {
		return false, Holder{}, ioError("looking at the lock", err)
	}
	defer f.Close()
	free, err := osfile.TryLock(f)
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

// sayHolder writes this process into the lock file. The store works without that
// text: on a full disk it is missing.
func sayHolder(f *os.File, address string) {
	text := fmt.Sprintf("\npid %d\naddress %s\n", os.Getpid(), address)
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(text), 0)
	}
}

// takeLock takes the store's lock and writes this process and the address that it
// serves into it. If another process holds the lock, the error names that process.
func takeLock(dir, address string) (*os.File, error) {
	name := filepath.Join(dir, nameLock)
	for began := time.Now(); ; {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, ioError("opening the lock", err)
		}
		ok, err := osfile.TryLock(f)
		if err != nil {
			_ = f.Close()
			return nil, ioError("locking the store", err)
		}
		if !ok {
			holder := readHolder(f)
			_ = f.Close()
			if time.Since(began) < lockPatience {
				time.Sleep(lockAgain)
				continue
			}
			return nil, heldError(dir, holder)
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

func heldError(dir string, holder Holder) *StartError {
	sentence := "another hub has the store " + dir + " open"
	if holder.PID != 0 {
		sentence = fmt.Sprintf("another hub, process %d, has the store %s open", holder.PID, dir)
	}
	return &StartError{
		Sentence: sentence, Kind: StartLocked, Holder: holder,
		Fix: "use the hub that has it, or stop it with `hubcli stop`, or name another folder with --storage",
	}
}
