package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/internal/lazy"
	"hubcli/internal/osfile"
	"hubcli/internal/pause"
)

// Names in the folder of managed engines. An engine is the folder
// <version>-<platform>; everything that begins with a dot belongs to an install that
// is under way, or that did not end.
const (
	lockName    = ".lock"
	stageName   = ".staging"
	oldPrefix   = ".old-"
	partSuffix  = ".part"      // an archive that is not complete
	originName  = ".part.json" // where the part comes from
	newSuffix   = ".new"       // a note that is being written
	receiptName = "hubcli-install.json"

	lockLook = 100 * time.Millisecond // between two looks at a lock that another has
)

// folderOf returns the folder of all managed engines.
func folderOf(dataRoot string) string {
	return filepath.Join(dataRoot, "browsers", "chrome-headless-shell")
}

// name is that of the folder of one engine.
func (p *Pin) name() string { return p.Version + "-" + p.Platform }

// executable returns the program of a managed engine.
func executable(dataRoot string, p *Pin) string {
	return filepath.Join(folderOf(dataRoot), p.name(), p.file())
}

// receipt is what an install notes in the folder of an engine.
type receipt struct {
	Version          string           `json:"version"`
	Platform         string           `json:"platform"`
	ArchiveSHA256    string           `json:"archive_sha256"`
	ExecutableSHA256 string           `json:"executable_sha256"`
	Files            map[string]int64 `json:"files"` // sizes by name
}

// mostReceipt bounds a receipt that is read.
const mostReceipt = 1 << 20

// verify returns nil if a managed engine is what its pin says: all files are there, and
// the program has the pinned checksum. Where the pin has none, it is that of the program
// when the archive was unpacked.
func verify(dataRoot string, p *Pin) error {
	dir := filepath.Join(folderOf(dataRoot), p.name())
	data, err := osfile.ReadSmall(filepath.Join(dir, receiptName), mostReceipt)
	if err != nil {
		return errors.New("it was not installed by hubcli browser install, or not as a whole")
	}
	var r receipt
	if err := json.Unmarshal(data, &r); err != nil || r.ArchiveSHA256 != p.ArchiveSHA256 {
		return errors.New("its note about the install does not fit the pinned archive")
	}
	for name, size := range r.Files {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !info.Mode().IsRegular() || info.Size() != size {
			return fmt.Errorf("its file %s is missing or damaged", name)
		}
	}
	sum, err := sumOf(filepath.Join(dir, p.file()))
	if err != nil {
		return reasonOf(err)
	}
	want := p.ExecutableSHA256
	if want == "" {
		want = r.ExecutableSHA256
	}
	if sum != want {
		return errors.New("its checksum is not the pinned one")
	}
	return nil
}

// sumOf returns the SHA-256 of a file in hexadecimal digits.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// lockFolder waits until no other install works in a folder. told is called once if there is
// one.
func lockFolder(ctx context.Context, dir string, told func()) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE|osfile.NoFollow, 0o600)
	if err != nil {
		return nil, err
	}
	for waits := 0; ; waits++ {
		got, err := osfile.TryLock(f)
		switch {
		case err != nil:
			_ = f.Close()
			return nil, err
		case got:
			return func() { _ = f.Close() }, nil
		case waits == 0:
			told()
		}
		if !pause.For(ctx, lockLook) {
			_ = f.Close()
			return nil, context.Cause(ctx)
		}
	}
}

var engineName = lazy.Regexp{Pattern: `^\d+(\.\d+){3}-[a-z0-9-]+$`}

// clean removes what installs that did not end have left in a folder, but for the part of
// the archive to install now.
func clean(dir string, keep *Pin) error {
	return eachEntry(dir, func(e fs.DirEntry) error {
		name := e.Name()
		part := strings.HasPrefix(name, ".") && strings.HasSuffix(name, partSuffix) && name != keep.part()
		if name == stageName || name == originName+newSuffix || strings.HasPrefix(name, oldPrefix) || part {
			return os.RemoveAll(filepath.Join(dir, name))
		}
		return nil
	})
}

// removeOthers removes all engines but one and returns their names, and those that
// cannot be removed because a program uses them.
func removeOthers(dir string, keep *Pin) (removed, left []string, err error) {
	err = eachEntry(dir, func(e fs.DirEntry) error {
		name := e.Name()
		if !e.IsDir() || !engineName.MatchString(name) || name == keep.name() {
			return nil
		}
		if err := discard(dir, name); err != nil {
			left = append(left, name)
			return nil
		}
		removed = append(removed, name)
		return nil
	})
	return removed, left, err
}

// discard removes an engine. Its name goes first, so that nothing half is left under it.
func discard(dir, name string) error {
	old := filepath.Join(dir, oldPrefix+name)
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(dir, name), old); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

func eachEntry(dir string, do func(fs.DirEntry) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// part is the name of the file that holds the archive while it is downloaded.
func (p *Pin) part() string { return "." + p.name() + partSuffix }
