package persistence

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Free space. Badger writes through memory maps of sparse files: on a full disk
// the process dies of SIGBUS, and again at the next start. So writes stop while
// there is still room for what Badger does in the background.
const (
	ballastSize = 8 << 20
	reserve     = 64 << 20
	// roomNeeded must be free for another command to be admitted.
	roomNeeded = 2*memTableSize + 2*MaxGroupBytes + reserve
	// roomAgain must be free before commands are admitted again after a refusal:
	// the ballast's own space is not enough, or they would flap.
	roomAgain = roomNeeded + 3*ballastSize
	// openNeeded must be free for Badger to be opened at all: it flushes what
	// the memtables hold and begins new files.
	openNeeded = 2*memTableSize + 24<<20
	// commitNeeded must be free beyond the group itself when it is committed,
	// whatever was admitted: below it the store fails rather than the process.
	commitNeeded = 2*memTableSize + 16<<20

	spaceAge   = 50 * time.Millisecond // how old an answer of the disk may be
	spaceBytes = 4 << 20               // how much may have been written since
)

// space watches how much of the store's disk is free.
type space struct {
	dir     string
	free    func(dir string) (int64, error) // statfs; a seam for tests
	written atomic.Int64                    // bytes since the disk was asked
	state   atomic.Pointer[spaceState]

	mu      sync.Mutex // guards asking and the ballast
	ballast bool
}

type spaceState struct {
	at   time.Time
	free int64
	ok   bool
}

func newSpace(dir string, free func(string) (int64, error)) *space {
	s := &space{dir: dir, free: free}
	s.state.Store(&spaceState{ok: true})
	return s
}

// room answers Room. The disk is asked at most every spaceAge or spaceBytes; the
// others take the last answer.
func (s *space) room() (bool, int64) {
	last := s.state.Load()
	if time.Since(last.at) < spaceAge && s.written.Load() < spaceBytes {
		return last.ok, last.free
	}
	if last.at.IsZero() {
		s.mu.Lock()
	} else if !s.mu.TryLock() {
		return last.ok, last.free
	}
	defer s.mu.Unlock()
	now := s.ask()
	return now.ok, now.free
}

// ask asks the disk and gives up or takes back the ballast. mu is held.
func (s *space) ask() *spaceState {
	last := s.state.Load()
	s.written.Store(0)
	free, err := s.free(s.dir)
	if err != nil {
		free = 0 // a disk that cannot be asked has no room
	}
	need := int64(roomNeeded)
	if !last.ok {
		need = roomAgain
	}
	now := &spaceState{at: time.Now(), free: free, ok: free >= need}
	switch {
	case !now.ok && s.ballast:
		s.drop()
	case now.ok && !s.ballast:
		s.ballast = fillBallast(s.ballastName()) == nil
	}
	s.state.Store(now)
	return now
}

// fits reports whether a group of size bytes can be committed without danger,
// giving up the ballast if that helps. It asks the disk every time: statfs takes
// a microsecond, and a wrong answer costs the process.
func (s *space) fits(size int64) bool {
	enough := func() bool {
		free, err := s.free(s.dir)
		return err == nil && free >= commitNeeded+size
	}
	if enough() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ask()
	return enough()
}

func (s *space) ballastName() string { return filepath.Join(s.dir, nameBallast) }

func (s *space) drop() {
	_ = os.Remove(s.ballastName())
	s.ballast = false
}

// prepare finds out at the start whether Badger can be opened, giving up the
// ballast for it if it must.
func (s *space) prepare() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.ballastName())
	s.ballast = err == nil && info.Size() == ballastSize
	free, err := s.free(s.dir)
	if err == nil && free < openNeeded && s.ballast {
		s.drop()
		free, err = s.free(s.dir)
	}
	if err != nil {
		return ioError("asking for the free space", err)
	}
	if free < openNeeded {
		return storeFull(s.dir, free, openNeeded)
	}
	return nil
}

// fillBallast makes the ballast with real space behind it.
func fillBallast(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = allocate(f, ballastSize)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}

// writeNoise fills f with bytes that no file system can compress away or store
// as a hole.
func writeNoise(f *os.File, size int64) error {
	var seed [32]byte
	copy(seed[:], randomBytes(len(seed)))
	noise := rand.NewChaCha8(seed)
	block := make([]byte, 256<<10)
	for ; size > 0; size -= int64(len(block)) {
		_, _ = noise.Read(block)
		if _, err := f.Write(block[:min(size, int64(len(block)))]); err != nil {
			return err
		}
	}
	return nil
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
