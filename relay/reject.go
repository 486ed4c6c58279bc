package relay

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// How much is kept of what was rejected.
const (
	maxRejected      = 1000
	maxRejectedBytes = 64 << 20
	reasonSuffix     = ".reason"
)

// rejects moves what is no request out of the way, to where a human can look at
// it. Nothing of it is opened or copied.
type rejects struct {
	log *troubles

	mu    sync.Mutex
	known bool  // the next two count what is there
	files int   // two for each entry: itself and its reason
	bytes int64 // of all files

	told map[string]bool // folders that the log has been told of
}

// move rejects requests/<folder>/<name>; the empty folder is requests itself.
func (r *rejects) move(s *spool, folder, name, why string) (err error) {
	defer func() {
		if err == nil {
			r.log.end(troubleReject, "folder", folder)
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	from := path.Join(RequestsDir, folder, name)
	info, err := s.root.Lstat(from)
	if err != nil {
		return ignoreMissing(err)
	}
	kept := cmp.Or(folder, "_")
	dir, err := r.folder(s, kept)
	if err != nil {
		return err
	}
	defer dir.Close()
	entry := rejectedName(name)
	note := fmt.Sprintf("%q was rejected at %s. %s\n", from, time.Now().UTC().Format(time.RFC3339), why)
	if info.Mode().IsRegular() && info.Size() > maxRejectedBytes {
		note += "It was too large to be kept.\n"
		err = s.root.Remove(from)
	} else {
		err = s.root.Rename(from, path.Join(RejectedDir, kept, entry))
	}
	if err != nil {
		return ignoreMissing(err)
	}
	r.files += 2
	r.bytes += min(info.Size(), maxRejectedBytes) + int64(len(note))
	err = writeWhole(dir, ".", entry+reasonSuffix, []byte(note))
	if !r.known || info.IsDir() || r.files > 2*maxRejected || r.bytes > maxRejectedBytes {
		err = errors.Join(err, r.trimTo(s, maxRejected))
	}
	return err
}

// news reports whether the log is to hear of the folder: once a minute.
func (r *rejects) news(folder string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told[folder] {
		return false
	}
	if r.told == nil || len(r.told) > maxFolders {
		r.told = map[string]bool{}
	}
	r.told[folder] = true
	return true
}

// folder opens rejected/<folder>.
func (r *rejects) folder(s *spool, folder string) (*os.Root, error) {
	rejected, err := makeFolder(s.root, RejectedDir)
	if err != nil {
		return nil, err
	}
	defer rejected.Close()
	return makeFolder(rejected, folder)
}

// rejectedName is a name that is free and safe, and that tells something of the
// one that was.
func rejectedName(name string) string {
	const longest = 60
	plain := []byte(strings.ToValidUTF8(name, "_"))
	for i, b := range plain {
		if !isPlain(b) {
			plain[i] = '_'
		}
	}
	return string(NewRequestID()) + "-" + string(plain[:min(len(plain), longest)])
}

// rejected is one file or folder that is kept.
type rejected struct {
	folder, name string
	bytes        int64
}

// trim removes the oldest of what was rejected, until it is within the bounds.
func (r *rejects) trim(s *spool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.told)
	return r.trimTo(s, maxRejected)
}

// trimTo counts everything anew, and makes room for more where there is too much.
func (r *rejects) trimTo(s *spool, entries int) error {
	root, err := openFolder(s.root, RejectedDir)
	if err != nil {
		return ignoreMissing(err)
	}
	defer root.Close()
	kept, err := listRejected(root)
	if err != nil {
		return err
	}
	// Names begin with the time; the newest come first.
	slices.SortFunc(kept, func(a, b rejected) int { return cmp.Compare(b.name, a.name) })
	files, size := 2*entries, int64(maxRejectedBytes)
	if len(kept) > files {
		files -= files / 10
	}
	r.known, r.files, r.bytes = true, 0, 0
	for _, e := range kept {
		if r.files < files && r.bytes+e.bytes <= size {
			r.files++
			r.bytes += e.bytes
			continue
		}
		err = errors.Join(err, root.RemoveAll(path.Join(e.folder, e.name)))
	}
	return err
}

func listRejected(root *os.Root) (list []rejected, err error) {
	folders, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		entries, err := fs.ReadDir(root.FS(), folder.Name())
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				continue // gone
			}
			one := rejected{folder: folder.Name(), name: e.Name(), bytes: info.Size()}
			if e.IsDir() {
				one.bytes = sizeOf(root, path.Join(one.folder, one.name))
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// sizeOf is the size of a folder, or more than is kept if it is too much to
// count.
func sizeOf(root *os.Root, name string) (bytes int64) {
	const most = 1000
	n := 0
	err := fs.WalkDir(root.FS(), name, func(_ string, e fs.DirEntry, err error) error {
		if n++; err != nil || n > most {
			return errors.Join(err, fs.ErrInvalid)
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return maxRejectedBytes + 1
	}
	return bytes
}
