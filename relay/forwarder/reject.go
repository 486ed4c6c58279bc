package forwarder

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"hubcli/internal/bounded"
	"hubcli/relay"
)

// Bounds of the rejected files that are kept.
const (
	maxRejected      = 1000
	maxRejectedBytes = 64 << 20
	reasonSuffix     = ".reason"
)

// rejects moves what is no request out of the way, to where a human can look at
// it. Nothing of it is opened or copied.
type rejects struct {
	log      *troubles
	run      context.Context // Run's; nothing is trimmed after it
	trimming sync.Mutex      // held while trimming, never together with mu

	mu    sync.Mutex
	known bool  // the next two count what is there
	files int   // two for each entry: itself and its reason
	bytes int64 // of all files

	told *bounded.Map[string, struct{}] // folders that the log has been told of
}

// move rejects requests/<folder>/<name>; the empty folder is requests itself.
func (r *rejects) move(s *spool, folder, name, why string) error {
	much, err := r.put(s, folder, name, why)
	if err != nil {
		return err
	}
	r.log.end(troubleReject, "folder", folder)
	if much {
		// What cannot be removed is no reason to leave the next file where it is; the
		// sweep tells of it.
		_ = r.trim(r.run, s, fewRemovals)
	}
	return nil
}

// put is move without making room; much reports that there may be too much now.
func (r *rejects) put(s *spool, folder, name, why string) (much bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := path.Join(relay.RequestsDir, folder, name)
	info, err := s.root.Lstat(from)
	if err != nil {
		return false, relay.IgnoreMissing(err)
	}
	kept := cmp.Or(folder, "_")
	dir, err := r.folder(s, kept)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	entry := rejectedName(name)
	note := fmt.Sprintf("%q was rejected at %s. %s\n", from, time.Now().UTC().Format(time.RFC3339), why)
	if info.Mode().IsRegular() && info.Size() > maxRejectedBytes {
		note += "It was too large to be kept.\n"
		err = s.root.Remove(from)
	} else {
		err = s.root.Rename(from, path.Join(relay.RejectedDir, kept, entry))
	}
	if err != nil {
		return false, relay.IgnoreMissing(err)
	}
	r.files += 2
	r.bytes += min(info.Size(), maxRejectedBytes) + int64(len(note))
	err = relay.WriteWhole(dir, ".", entry+reasonSuffix, []byte(note))
	return !r.known || info.IsDir() || r.files > 2*maxRejected || r.bytes > maxRejectedBytes, err
}

// forget has the log hear of all folders again.
func (r *rejects) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told.Clear()
}

// news reports whether the log is to hear of the folder: once a minute.
func (r *rejects) news(folder string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, before := r.told.Get(folder)
	r.told.Put(folder, struct{}{})
	return !before
}

// folder opens rejected/<folder>.
func (r *rejects) folder(s *spool, folder string) (*os.Root, error) {
	rejected, err := makeFolder(s.root, relay.RejectedDir)
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
		if !relay.IsPlain(b) {
			plain[i] = '_'
		}
	}
	return string(relay.NewRequestID()) + "-" + string(plain[:min(len(plain), longest)])
}
