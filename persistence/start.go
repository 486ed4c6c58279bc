package persistence

import (
	"errors"
	"io/fs"
	"strconv"
	"syscall"
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
)

// StartError says in one sentence why a store cannot be opened and in Fix what
// to do. It matches the sentinel of its kind with errors.Is.
type StartError struct {
	Sentence string
	Fix      string
	Kind     StartKind
	Err      error // what led to it, without contents of the store; may be nil
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

func notAStore(sentence string) *StartError {
	return &StartError{
		Sentence: sentence, Kind: StartNotAStore,
		Fix: "name an empty or absent folder, or the folder of an existing store, with --storage",
	}
}

func corrupt(what string, err error) *StartError {
	return &StartError{
		Sentence: "the store is damaged: " + what, Kind: StartCorrupt, Err: err,
		Fix: "nothing has been changed; restore the folder from a backup, or name another folder with --storage",
	}
}

func storeFull(dir string, free, need int64) *StartError {
	return &StartError{
		Sentence: "the disk of the store " + dir + " has " + mebibytes(free) + " free, opening it safely takes " + mebibytes(need),
		Kind:     StartFull, Fix: "free some space on that disk and start again; nothing is lost",
	}
}

// ioError turns the failure of a file operation into a start error. The text of
// err names paths only.
func ioError(doing string, err error) *StartError {
	var known *StartError
	if errors.As(err, &known) {
		return known
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &StartError{
			Sentence: "the store cannot be written: " + doing + " failed: " + fileReason(err), Kind: StartReadOnly, Err: err,
			Fix: "give this user write permission on the folder, or name another one with --storage",
		}
	case isNoSpace(err):
		return &StartError{
			Sentence: "the disk of the store is full: " + doing + " failed", Kind: StartFull, Err: err,
			Fix: "free some space on that disk and start again; nothing is lost",
		}
	}
	return corrupt(doing+" failed: "+fileReason(err), err)
}

// noFolder refuses a store folder that cannot be made or looked at: what is wrong
// is its name, there is nothing yet that could be damaged.
func noFolder(doing string, err error) *StartError {
	if e := ioError(doing, err); e.Kind != StartCorrupt {
		return e
	}
	e := notAStore("the store's folder cannot be used: " + doing + " failed: " + fileReason(err))
	e.Err = err
	return e
}

// fileReason names the file and what the system says about it.
func fileReason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return strconv.Quote(p.Path) + ": " + p.Err.Error()
	}
	return strconv.QuoteToGraphic(err.Error())
}
