package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hubcli/actors/core"
	"hubcli/internal/osfile"
)

// Names in the folder of an index.
const (
	// markerFile marks the folder as an index and names its version and its
	// store. Nothing is changed in a folder without it.
	markerFile = "VERSION"
	markerTemp = "VERSION.new"
	// runsFile counts the runs that ended without Close.
	runsFile     = "runs"
	engineFolder = "words"
)

// formatVersion rises with every change of the indexed fields or their
// encoding.
const formatVersion = 3

// After maxRuns runs in a row that each ended without Close within runLong, the
// index itself is suspected and rebuilt.
const (
	maxRuns = 5
	runLong = time.Minute
)

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
		err := verify(x.enginePath())
		if err == nil {
			var at core.IndexPosition
			at, err = x.start()
			if err == nil && at.Message <= end.Message && at.Seq <= end.Seq {
				return at, x.countRun()
			}
			_ = x.stop()
		}
		x.log.Warn("the search index cannot be used and is made anew", "error", err)
	}
	if err := x.begin(); err != nil {
		return core.IndexPosition{}, err
	}
	at, err := x.start()
	if err != nil {
		return at, err
	}
	return at, x.countRun()
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
	if string(b) != x.marker() {
		return false, nil
	}
	x.runs = 0
	if b, err := os.ReadFile(filepath.Join(x.dir, runsFile)); err == nil {
		x.runs, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	return x.runs < maxRuns, nil
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
	x.runs = 0
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	if err := os.RemoveAll(x.enginePath()); err != nil {
		return err
	}
	return osfile.Replace(osfile.Disk{}, filepath.Join(x.dir, markerFile), osfile.Content{Temp: markerTemp, Write: osfile.Bytes([]byte(x.marker()))})
}

func (x *Index) countRun() error {
	x.runs++
	return x.writeRuns()
}

func (x *Index) writeRuns() error {
	return os.WriteFile(filepath.Join(x.dir, runsFile), []byte(strconv.Itoa(x.runs)), 0o600)
}

// survived forgets earlier runs once this one has gone well for long enough.
func (x *Index) survived() {
	if x.runs > 0 && time.Since(x.opened) > runLong {
		x.runs = 0
		_ = x.writeRuns() // one suspicion too many only costs time
	}
}

// Close ends the use of the index. Recent documents may be indexed again.
func (x *Index) Close() error {
	x.mu.RLock()
	open := x.engine != nil
	x.mu.RUnlock()
	err := x.stop()
	if open {
		x.runs = 0
		err = errors.Join(err, x.writeRuns())
	}
	return err
}

// verify reads every file of words and compares its checksum, which stands at
// its end (CRC-32 of all before it). The engine maps these files and believes
// them.
func verify(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := verifyFile(path); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return nil
}

func verifyFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < crc32.Size {
		return io.ErrUnexpectedEOF
	}
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, f, info.Size()-crc32.Size); err != nil {
		return err
	}
	var want [crc32.Size]byte
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(want[:]) != sum.Sum32() {
		return errors.New("its checksum does not fit")
	}
	return nil
}
