package storedir

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
	maxKeptLock    = 64 << 10

	// lockPatience is how long taking the lock is tried again. A process that only looks whether
	// it is held takes it for an instant, which on a busy machine lasts until that process runs again.
	lockPatience = time.Second
	lockAgain    = 5 * time.Millisecond
)

// HeldBy reports whether a process has the store in dir open, and which one if the
// lock file names it. It takes each of the store's locks for an instant, so that it keeps no
// hub from taking them, and makes no file.
func HeldBy(dir string) (held bool, holder Holder, err error) {
	l := &StoreLock{}
	if err := l.openFile(filepath.Join(dir, NameLock), false); err != nil {
		return false, Holder{}, IOError("looking at the lock", err)
	}
	if l.file != nil {
		defer l.file.Close()
		free, err := osfile.TryLock(l.file)
		if err != nil {
			return false, Holder{}, IOError("looking at the lock", err)
		}
		holder = ReadHolder(l.file)
		if !free {
			return true, holder, nil
		}
		_ = l.file.Close()
	}
	if lockedFolder(dir) {
		return true, holder, nil
	}
	// A hub of an earlier version locks LOCK alone, and its database.
	if l.file == nil && lockedFolder(filepath.Join(dir, NameBadger)) {
		return true, Holder{}, nil
	}
	return false, Holder{}, nil
}

// lockedFolder reports whether a process has locked a folder, where the system can do that.
func lockedFolder(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := osfile.TryLock(f)
	return err == nil && !free
}

// StoreLock is a store's lock. It is on the file LOCK and, where the system can do that, on
// the folder itself: the file may be deleted under a hub that runs, its folder may not.
type StoreLock struct {
	Folder *os.File // open; locked if the system locks folders
	file   *os.File // nil: there is none, and none was to be made
	made   bool     // LOCK is new

	// What LOCK and the times were before this process wrote itself into the file.
	text    []byte
	said    bool
	changed time.Time // of LOCK
	touched time.Time // of the folder
}

// LockHeld says that another process has the lock.
type LockHeld struct{ Holder Holder }

func (*LockHeld) Error() string { return "another process has the store open" }

// SeizeLock takes the lock of the store in dir once, and writes nothing into its file. create
// makes the file if it is absent. The error is a *lockHeld if another process has the lock.
func SeizeLock(dir string, create bool) (l *StoreLock, err error) {
	l = &StoreLock{}
	defer func() {
		if err != nil {
			l.Undo()
			l = nil
		}
	}()
	if l.Folder, err = os.Open(dir); err != nil {
		return l, err
	}
	name := filepath.Join(dir, NameLock)
	busy := func() error {
		f, err := os.OpenFile(name, osfile.Cautious, 0)
		if err != nil {
			return &LockHeld{}
		}
		defer f.Close()
		return &LockHeld{ReadHolder(f)}
	}
	if free, ferr := osfile.TryLock(l.Folder); ferr == nil && !free { // an error: folders cannot be locked here
		return l, busy()
	}
	info, err := l.Folder.Stat()
	if err != nil {
		return l, err
	}
	l.touched = info.ModTime()
	if err = l.openFile(name, create); err != nil {
		return l, err
	}
	if l.file != nil {
		if info, err = l.file.Stat(); err != nil {
			return l, err
		}
		l.changed = info.ModTime()
		free, err := osfile.TryLock(l.file)
		if err == nil && !free {
			l.made = false // another process has found it
			err = busy()
		}
		if err != nil {
			return l, err
		}
	}
	// A hub of an earlier version locks LOCK alone, and Badger its folder.
	if (l.made || l.file == nil) && lockedFolder(filepath.Join(dir, NameBadger)) {
		return l, &LockHeld{}
	}
	return l, nil
}

// openFile opens LOCK. It makes the file if create says so, and goes without it otherwise.
func (l *StoreLock) openFile(name string, create bool) (err error) {
	if !create {
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			return nil // absent or damaged: nobody can hold it
		}
		if l.file, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
			l.file, err = os.Open(name)
		}
		return err
	}
	if l.file, err = os.OpenFile(name, os.O_RDWR, 0); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	l.made = err == nil
	if errors.Is(err, fs.ErrExist) {
		return errLockMoved
	}
	return err
}

// errLockMoved says that the lock file or its folder was exchanged meanwhile.
var errLockMoved = errors.New("the lock was exchanged while it was taken")

// Close gives the lock back.
func (l *StoreLock) Close() error {
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	return errors.Join(err, l.Folder.Close())
}

// Undo gives the lock back, with its file and the time of the folder as they were before.
func (l *StoreLock) Undo() {
	if l.Folder == nil {
		return
	}
	if l.file != nil {
		l.Unsay()
	}
	_ = l.Close()
}

// Unsay takes this process out of the lock file, or the file out of the folder. It does
// nothing where another file has the name by now.
func (l *StoreLock) Unsay() {
	name := filepath.Join(l.Folder.Name(), NameLock)
	mine, err := l.file.Stat()
	there, terr := os.Lstat(name)
	if err != nil || terr != nil || !os.SameFile(mine, there) {
		return
	}
	switch {
	case l.made:
		if !RenameLocked { // there no file that is open can be deleted
			_ = l.file.Close()
		}
		if os.Remove(name) == nil {
			_ = os.Chtimes(l.Folder.Name(), time.Time{}, l.touched)
		}
	case l.said:
		if _, err := l.file.WriteAt(l.text, 0); err == nil && l.file.Truncate(int64(len(l.text))) == nil {
			_ = os.Chtimes(name, time.Time{}, l.changed)
		}
	}
}

// ReadHolder reads what the lock file says. Text that is not as a hub writes it
// says nothing.
func ReadHolder(f io.ReaderAt) Holder {
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

// say writes this process into the lock file. The store works without that text: on a full
// disk it is missing.
func (l *StoreLock) say(address string) {
	b, err := io.ReadAll(io.NewSectionReader(l.file, 0, maxKeptLock+1))
	if err != nil || len(b) > maxKeptLock {
		return // no hub has written it, and it could not be put back
	}
	l.text, l.said = b, true
	text := fmt.Sprintf("\npid %d\naddress %s\n", os.Getpid(), address)
	if l.file.Truncate(0) == nil {
		_, _ = l.file.WriteAt([]byte(text), 0)
	}
}

// TakeLock takes the store's lock and writes this process and the address that it
// serves into its file. If another process holds the lock, the error names that process.
// The folder is there.
func TakeLock(dir, address string) (*StoreLock, error) {
	for began := time.Now(); ; {
		l, err := SeizeLock(dir, true)
		var busy *LockHeld
		switch {
		case err == nil && l.stands(dir):
			l.say(address)
			return l, nil
		case err == nil: // the folder was renamed away between opening and locking
			l.Undo()
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, NoFolder("making the folder", err)
			}
		case errors.As(err, &busy) && time.Since(began) >= lockPatience:
			return nil, HeldError(dir, busy.Holder)
		case errors.As(err, &busy), errors.Is(err, errLockMoved):
			time.Sleep(lockAgain)
		default:
			return nil, IOError("taking the lock", err)
		}
	}
}

// stands reports whether the folder and the file that were locked are those at their paths.
func (l *StoreLock) stands(dir string) bool {
	return sameAt(l.Folder, dir) && sameAt(l.file, filepath.Join(dir, NameLock))
}

func sameAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	there, terr := os.Stat(path)
	return err == nil && terr == nil && os.SameFile(mine, there)
}

// HeldError says who has the store open.
func HeldError(dir string, holder Holder) *StartError {
	sentence := "another hub has the store " + dir + " open"
	if holder.PID != 0 {
		sentence = fmt.Sprintf("another hub, process %d, has the store %s open", holder.PID, dir)
	}
	return &StartError{
		Sentence: sentence, Kind: StartLocked, Holder: holder,
		Fix: "use the hub that has it, or stop it with `hubcli stop`, or name another folder with --storage",
	}
}
