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

// rejects moves files that are no requests to a folder where a human can look
// at them. It opens and copies none of them.
type rejects struct {
	log      *troubles
	run      context.Context // Run's; no trim begins after its end
	trimming sync.Mutex      // held while trimming; mu is locked under it, never the other way

	mu    sync.Mutex // guards what follows, and serializes moves
	known bool       // the next two count what is there
	files int        // two for each entry: itself and its reason
	bytes int64      // of all files

	told *bounded.Map[string, struct{}] // folders that the log has named already
}

// move rejects requests/<folder>/<name>; the empty folder is requests itself.
func (r *rejects) move(s *spool, folder, name, why string) error {
	much, err := r.put(s, folder, name, why)
	if err != nil {
		return err
	}
	r.log.end(troubleReject, "folder", folder)
	if much {
		// A failed removal does not stop the move of the next file; the sweep
		// reports it.
		_ = r.trim(r.run, s, fewRemovals)
	}
	return nil
}

// put is move without a trim; much reports that a trim may be due.
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

// forget makes the log name all folders again.
func (r *rejects) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told.Clear()
}

// news reports whether the log should name the folder now: at most once a
// minute.
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

// rejectedName returns a free and safe name that resembles the old one.
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
