package search

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/internal/osfile"
)

// Names in the folder of an index.
const (
	// markerFile marks the folder as an index and names its version and its
	// store. Nothing is changed in a folder without it.
	markerFile = "VERSION"
	markerTemp = "VERSION.new"
	// runsFile counts the short runs, this one included.
	runsFile     = "runs"
	engineFolder = "words"
)

// formatVersion rises with every change of the indexed fields or their
// encoding.
const formatVersion = 3

// ErrForeign says that something else is at the path of the index.
var ErrForeign = errors.New("search: something that is not a search index stands in its place")

// markerTitle begins every marker.
const markerTitle = "hubcli search index\n"

func (x *Index) marker() string {
	return fmt.Sprintf(markerTitle+"version %d\ninstance %s\n", formatVersion, x.instance)
}

// Open makes the index ready; see core.Index. An unusable index is deleted and
// rebuilt. It returns ErrForeign if the folder is not an index.
func (x *Index) Open(end core.IndexPosition) (core.IndexPosition, error) {
	usable, err := x.inspect()
	if err != nil {
		return core.IndexPosition{}, err
	}
	if usable {
		at, err := x.resume(end)
		if err == nil || errors.Is(err, errLate) {
			return at, err
		}
		x.log.Warn("the search index cannot be used and is made anew", "error", err)
	}
	if err := x.begin(); err != nil {
		return core.IndexPosition{}, err
	}
	return x.start()
}

// resume continues an index that holds nothing behind end. Error: errLate; every other
// one means that the index cannot be used.
func (x *Index) resume(end core.IndexPosition) (at core.IndexPosition, err error) {
	if err := x.short.begin(x.dir); err != nil {
		return at, err
	}
	if err := verify(x.enginePath()); err != nil {
		return at, err
	}
	at, err = x.start()
	if err == nil && (at.Message > end.Message || at.Seq > end.Seq) {
		err = fmt.Errorf("it goes up to message %d and record %d, and the store only to %d and %d", at.Message, at.Seq, end.Message, end.Seq)
	}
	if err != nil {
		_ = x.stop()
	}
	return at, err
}

// inspect reports whether there is an index of this version and store.
func (x *Index) inspect() (usable bool, err error) {
	info, err := os.Lstat(x.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, ErrForeign
	}
	b, err := os.ReadFile(filepath.Join(x.dir, markerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if !strings.HasPrefix(string(b), markerTitle) {
		if !isCut(b) || !onlyIndex(x.dir) {
			return false, ErrForeign
		}
		return false, nil
	}
	return string(b) == x.marker(), nil
}

// isCut reports whether a marker, if any, is what a loss of power leaves of one: nothing,
// blanks, or its beginning.
func isCut(marker []byte) bool {
	return len(bytes.Trim(marker, "\x00")) == 0 || strings.HasPrefix(markerTitle, string(marker))
}

// onlyIndex reports whether a folder holds nothing that is not of an index.
func onlyIndex(dir string) bool {
	ours := func(dir string, is func(fs.DirEntry) bool) bool {
		left, err := os.ReadDir(dir)
		return err == nil && !slices.ContainsFunc(left, func(e fs.DirEntry) bool { return !is(e) })
	}
	return ours(dir, func(e fs.DirEntry) bool {
		switch e.Name() {
		case markerFile, markerTemp, runsFile:
			return e.Type().IsRegular()
		case engineFolder:
			return e.IsDir() && ours(filepath.Join(dir, engineFolder), func(e fs.DirEntry) bool {
				return e.Type().IsRegular() && (e.Name() == "root.bolt" || filepath.Ext(e.Name()) == ".zap")
			})
		}
		return false
	})
}

// begin makes the folder of an empty index. It deletes only the files of an
// index.
func (x *Index) begin() error {
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	if err := os.RemoveAll(x.enginePath()); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(x.dir, runsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return osfile.Replace(osfile.Disk{}, filepath.Join(x.dir, markerFile), osfile.Content{Temp: markerTemp, Write: osfile.Bytes([]byte(x.marker()))})
}

// Close ends the use of the index. Recent documents may be indexed again.
func (x *Index) Close() error {
	x.mu.RLock()
	open := x.engine != nil
	x.mu.RUnlock()
	err := x.stop()
	if open {
		x.short.end(x.dir)
	}
	return err
}
