package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"hubcli/persistence/codec"

	"hubcli/internal/lazy"
	"hubcli/internal/osfile"
)

// StartKind says why a store cannot be opened.
type StartKind string

// The kinds of start errors.
const (
	StartNotAStore   StartKind = "not_a_store"  // a plain file, or a folder with other things in it
	StartLocked      StartKind = "locked"       // another hub has it open
	StartNewerFormat StartKind = "newer_format" // written by a later version
	StartReadOnly    StartKind = "read_only"    // no permission to write, or a read-only file system
	StartFull        StartKind = "full"         // too little free space to open it safely
	StartTruncated   StartKind = "truncated"    // the journal ends before the last acknowledged record
	StartCorrupt     StartKind = "corrupt"      // a file fails its checks
	StartExhausted   StartKind = "exhausted"    // the system has no memory or no open files left
	StartForeign     StartKind = "foreign"      // no hub of this user made it
	StartBadBackup   StartKind = "bad_backup"   // a backup that is not whole, damaged or of a later version
)

// StartError says in one sentence why a store cannot be opened and in Fix what
// to do. It matches the sentinel of its kind with errors.Is.
type StartError struct {
	Sentence string
	Fix      string
	Kind     StartKind
	Holder   Holder // of StartLocked: the process that has it, if known
	Err      error  // what led to it, without contents of the store; may be nil
}

func (e *StartError) Error() string { return e.Sentence }

// Unwrap returns what led to the error.
func (e *StartError) Unwrap() error { return e.Err }

// Is matches ErrNotAStore, ErrLocked and ErrNewerFormat by kind.
func (e *StartError) Is(target error) bool {
	switch target {
	case ErrNotAStore:
		return e.Kind == StartNotAStore
	case ErrLocked:
		return e.Kind == StartLocked
	case ErrNewerFormat:
		return e.Kind == StartNewerFormat
	}
	return false
}

// What Inspect and Delete say about a folder.
var (
	ErrNoStore     = errors.New("persistence: there is no store")
	ErrNotAStore   = errors.New("persistence: not a store")
	ErrNewerFormat = errors.New("persistence: the store has a newer format")
	ErrLocked      = errors.New("persistence: the store is in use")
)

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("persistence: the store is closed")

// NotAStore says that a path names something else than a store.
func NotAStore(sentence string) *StartError {
	return &StartError{
		Sentence: sentence, Kind: StartNotAStore,
		Fix: "name an empty or absent folder, or the folder of an existing store, with --storage",
	}
}

// Corrupt says that a part of a store cannot be read.
func Corrupt(what string, err error) *StartError {
	return &StartError{
		Sentence: "the store is damaged: " + what, Kind: StartCorrupt, Err: err,
		Fix: "nothing has been changed; restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`, or name another folder with --storage",
	}
}

// Failed is what to say when a file could not be checked: it is damaged, unless
// the system did not let us read it.
func Failed(what, name string, err error) *StartError {
	for _, errno := range systemErrors {
		if errors.Is(err, errno) {
			return IOError("reading "+strconv.Quote(name), errno)
		}
	}
	return Corrupt(what, err)
}

// StoreFull says that the disk has too few bytes for a start.
func StoreFull(dir string, free, need int64) *StartError {
	return &StartError{
		Sentence: "the disk of the store " + dir + " has " + Mebibytes(free) + " free, opening it safely takes " + Mebibytes(need),
		Kind:     StartFull, Fix: "free some space on that disk and start again; nothing is lost",
	}
}

// StoreFullOfFiles is storeFull for a file system that has bytes to spare, and no room for
// new files.
func StoreFullOfFiles(dir string, files int64) *StartError {
	return &StartError{
		Sentence: fmt.Sprintf("the disk of the store %s has room for %d more files, opening it safely takes %d", dir, files, FilesOpen),
		Kind:     StartFull, Fix: "delete some files on that disk (see: df -i) and start again; nothing is lost",
	}
}

// IOError turns the failure of a file operation into a start error. The text of
// err names paths only.
func IOError(doing string, err error) *StartError {
	var known *StartError
	if errors.As(err, &known) {
		return known
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &StartError{
			Sentence: "the store cannot be written: " + doing + " failed: " + FileReason(err), Kind: StartReadOnly, Err: err,
			Fix: "give this user write permission on the folder, or name another one with --storage",
		}
	case osfile.IsFull(err):
		return &StartError{
			Sentence: "the disk of the store is full: " + doing + " failed", Kind: StartFull, Err: err,
			Fix: "free some space on that disk and start again; nothing is lost",
		}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return &StartError{
			Sentence: "the store cannot be opened now: " + doing + " failed: " + FileReason(err), Kind: StartExhausted, Err: err,
			Fix: "nothing is lost; end other programs, or raise the limits of this user (`ulimit -n`, `ulimit -v`), and start again",
		}
	case errors.Is(err, syscall.EIO):
		return &StartError{
			Sentence: "the disk of the store fails: " + doing + " failed: " + FileReason(err), Kind: StartCorrupt, Err: err,
			Fix: "check the disk and start again; if it goes on failing, copy the folder to another disk, then restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`",
		}
	}
	return Corrupt(doing+" failed: "+FileReason(err), err)
}

// systemErrors are the failures that the system told of, whatever the store's files hold. Badger
// keeps only the text of an error.
var systemErrors = []syscall.Errno{
	syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO,
}

// databaseFile finds the file that an error of Badger is about.
var databaseFile = lazy.Regexp{Pattern: `\b(\d+\.(mem|vlog|sst)|MANIFEST|KEYREGISTRY|DISCARD|LOCK)\b`}

// DatabaseError says why Badger could not open the folder dir, in our words: its
// own are a chain of what its parts were doing, and stay in the log.
func DatabaseError(dir string, err error) *StartError {
	text, doing, what := err.Error(), "opening the database", "its database cannot be opened"
	err = codec.Redacted{Err: err}
	if name := databaseFile.Get().FindString(text); name != "" {
		doing = "opening " + strconv.Quote(filepath.Join(dir, name))
		what = "its file " + NameBadger + "/" + name + " cannot be opened"
	} else if strings.Contains(text, "Level validation") {
		what = "its tables, " + NameBadger + "/*.sst, contradict each other"
	}
	for _, errno := range systemErrors {
		if errors.Is(err, errno) || strings.Contains(text, errno.Error()) {
			return IOError(doing, errno)
		}
	}
	e := Corrupt(what, err)
	e.Fix = "copy the folder as it is, then restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`, or name another folder with --storage"
	return e
}

// NoFolder refuses a store folder that cannot be made or looked at: what is wrong
// is its name, there is nothing yet that could be damaged.
func NoFolder(doing string, err error) *StartError {
	if e := IOError(doing, err); e.Kind != StartCorrupt {
		return e
	}
	e := NotAStore("the store's folder cannot be used: " + doing + " failed: " + FileReason(err))
	e.Err = err
	return e
}

// FileReason names the file and what the system says about it.
func FileReason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return strconv.Quote(p.Path) + ": " + p.Err.Error()
	}
	return strconv.QuoteToGraphic(err.Error())
}

// FilesOpen is how many files a store may need at once.
const FilesOpen = 32

// Mebibytes shows a number of bytes to a person.
func Mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
