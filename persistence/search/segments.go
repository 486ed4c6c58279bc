package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bleve "github.com/blevesearch/bleve/v2/util"
	bolt "go.etcd.io/bbolt"
)

const (
	// listFile names the files of words that belong to the index. The engine writes
	// a file of words first and names it afterward, in one transaction.
	listFile = "root.bolt"
	wordsExt = ".zap"
	// maxListWait ends the wait for another program that holds the list.
	maxListWait = 2 * time.Second
)

// verify reads every file of words that the list names and compares its checksum.
// The engine maps these files and believes them. Other files of words are debris of
// a process that was killed before it named them, or before it deleted them: verify
// deletes them and judges the index by the named ones alone.
func verify(dir string) error {
	named, err := namedFiles(filepath.Join(dir, listFile))
	if err != nil {
		return err
	}
	for name := range named {
		if err := verifyFile(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return deleteDebris(dir, named)
}

// namedFiles returns the names of the files of words in the list at path. A list
// that is absent names none, and so does one without a byte: the engine was killed
// right after it had made the file.
func namedFiles(path string) (named map[string]bool, err error) {
	named = map[string]bool{}
	if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return named, nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the list is mapped, and may be cut
	defer func() {
		if r := recover(); r != nil { // a damaged page
			err = fmt.Errorf("reading the list of its files: %v", r)
		}
	}()
	list, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: maxListWait})
	if err != nil {
		return nil, fmt.Errorf("opening the list of its files: %w", err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	return named, list.View(func(tx *bolt.Tx) error {
		states := tx.Bucket(bleve.BoltSnapshotsBucket)
		if states == nil {
			return nil
		}
		return states.ForEachBucket(func(state []byte) error {
			segments := states.Bucket(state)
			return segments.ForEachBucket(func(segment []byte) error {
				name := string(segments.Bucket(segment).Get(bleve.BoltPathKey))
				switch {
				case name == "": // no segment: what else a state keeps
				case filepath.Base(name) != name || filepath.Ext(name) != wordsExt:
					return fmt.Errorf("the list names %q", name)
				default:
					named[name] = true
				}
				return nil
			})
		})
	})
}

// deleteDebris deletes the files of words that are not named. What cannot be deleted
// makes the index unusable: the engine refuses names that it would not have given.
func deleteDebris(dir string, named map[string]bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != wordsExt || named[e.Name()] {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("deleting what a killed process has left: %w", err)
		}
	}
	return nil
}

// verifyFile compares the checksum at the end of a file (CRC-32 of all before it)
// with what the file holds.
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
