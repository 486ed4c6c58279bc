package persistence

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/internal/osfile"
)

// Free space. Badger writes through memory maps of sparse files: on a full disk
// the process dies of SIGBUS, and again at the next start. Three defenses prevent
// that. Each one covers the case that the one before cannot:
//
//  1. The gate: commands are refused while there is still room for what is under
//     way and for what Badger does in the background.
//  2. Blocks that are reserved in Badger's logs before they are written (ahead.go),
//     and the ballast, which is given up for a commit that needs more: other
//     programs may fill the disk between the gate and the commit.
//  3. If there is no room even then, Append does not begin the group: it returns
//     core.ErrNoRoom, and the hub takes the group back.
const (
	// ballastSize is enough for a commit with the flush that it may begin, or
	// for opening the database.
	ballastSize = 2*codec.MemTableSize + MaxGroupBytes + 16<<20
	reserve     = 64 << 20
	// roomNeeded must be free for another command to be admitted.
	roomNeeded = 2*codec.MemTableSize + 2*MaxGroupBytes + reserve
	// roomAgain must be free before commands are admitted again after a
	// refusal, plus the ballast's size if the ballast was given up. Without
	// this margin the gate would flap.
	roomAgain = roomNeeded + 8<<20
	// foresight is how far the gate looks ahead while other programs fill the
	// disk: Badger's work in the background takes about that long. The gate
	// asks for as many more free bytes as they would write in that time, at
	// most maxForesight.
	foresight    = 250 * time.Millisecond
	maxForesight = 1 << 30
	// ownShare is how many bytes the hub itself may take between two looks. A loss
	// up to that size is not counted as other programs' writing.
	ownShare = 32 << 20
	// openNeeded must be free for Badger to be opened at all: it flushes what
	// the memtables hold and begins new files.
	openNeeded = 2*codec.MemTableSize + 24<<20
	// commitNeeded must be free beyond the group itself when the group is
	// committed, unless its blocks are reserved.
	commitNeeded = 2*codec.MemTableSize + 16<<20

	// The same steps need room for new files, which some file systems keep apart from
	// room for bytes: Badger begins logs and tables, a checkpoint and the search index
	// write new files beside old ones.
	filesNeeded = 96
	filesAgain  = 128
	filesCommit = 24

	spaceAge   = 50 * time.Millisecond // how old an answer of the disk may be
	spaceBytes = 4 << 20               // how many bytes may be written before the disk is asked again
)

// space watches how much of the store's disk is free.
type space struct {
	dir     string
	log     *slog.Logger
	free    func(dir string) (int64, error) // statfs; a seam for tests
	files   func(dir string) (int64, error) // the same of files
	written atomic.Int64                    // bytes since the disk was asked
	state   atomic.Pointer[spaceState]

	// gone reports whether the store's folder is not at its path any more. Nothing is
	// asked or made there then; the calls that write are told. nil: it is not looked at.
	gone func() bool
	// still says that the ballast stays as it is: the store is open for reading.
	still bool

	mu      sync.Mutex // guards asking and the ballast
	ballast bool
}

type spaceState struct {
	at    time.Time
	free  int64 // bytes
	files int64
	ok    bool
}

func newSpace(dir string, log *slog.Logger, free func(string) (int64, error)) *space {
	s := &space{dir: dir, log: log, free: free, files: osfile.FreeFiles}
	s.state.Store(&spaceState{ok: true})
	return s
}

// room implements Room. The disk is asked at most every spaceAge or spaceBytes;
// other calls use the last answer.
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

// look is room, but always asks the disk.
func (s *space) look() (bool, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.ask()
	return now.ok, now.free
}

// short asks the disk whether it is full.
func (s *space) short() bool {
	ok, _ := s.look()
	return !ok
}

// ask asks the disk, and gives up the ballast or makes it anew. mu is held.
func (s *space) ask() *spaceState {
	last := s.state.Load()
	if s.gone != nil && s.gone() {
		return last
	}
	s.written.Store(0)
	free, err := s.free(s.dir)
	if err != nil {
		free = 0 // a disk that cannot be asked has no room
	}
	files, err := s.files(s.dir)
	if err != nil {
		files = 0
	}
	now := &spaceState{at: time.Now(), free: free, files: files}
	need, needFiles := int64(roomNeeded), int64(filesNeeded)
	if !last.ok {
		need, needFiles = roomAgain, filesAgain
		if !s.ballast {
			need += ballastSize
		}
	}
	if passed := now.at.Sub(last.at); !last.at.IsZero() && passed < time.Second && last.free-free > ownShare {
		lost := float64(last.free-free-ownShare) * float64(foresight) / float64(max(passed, spaceAge))
		need += int64(min(lost, maxForesight))
	}
	now.ok = free >= need && files >= needFiles
	switch {
	case s.still:
	case s.ballast && free < commitNeeded: // a flush in the background may need it
		s.drop()
	case now.ok && !s.ballast:
		if s.ballast = fillBallast(s.ballastName()) == nil; s.ballast {
			now.free -= ballastSize // no other program took it
		}
	}
	s.change(last, now)
	return now
}

// change puts a new state in the place of last, and logs that writes stop or
// resume. It does nothing if another caller changed the state meanwhile.
func (s *space) change(last, now *spaceState) {
	switch {
	case !s.state.CompareAndSwap(last, now):
	case last.ok && !now.ok && now.files < filesNeeded:
		s.log.Warn("the disk has nearly no room for new files: writes are refused until files are deleted; reads go on and nothing is lost",
			"free_files", now.files, "needed", filesAgain, "folder", s.dir)
	case last.ok && !now.ok:
		s.log.Warn("the disk is nearly full: writes are refused until space is freed; reads go on and nothing is lost",
			"free", storedir.Mebibytes(now.free), "needed", storedir.Mebibytes(roomAgain), "folder", s.dir)
	case !last.ok && now.ok:
		s.log.Info("the disk has room again: writes are accepted", "free", storedir.Mebibytes(now.free))
	}
}

// fits reports whether size bytes can be committed without danger, giving up the
// ballast where that helps. It asks the disk every time: statfs takes a
// microsecond, and a wrong answer costs the process.
func (s *space) fits(size int64) bool {
	if !s.tight(size) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ballast && s.has(commitNeeded+size-ballastSize) {
		s.drop()
	}
	return s.has(commitNeeded + size)
}

// tight reports whether less than size bytes are free beyond what a commit needs,
// and closes the gate then. It keeps the ballast.
func (s *space) tight(size int64) bool {
	if s.has(commitNeeded + size) {
		return false
	}
	last := s.state.Load()
	s.change(last, &spaceState{at: time.Now(), free: last.free, files: last.files})
	return true
}

// has reports whether size bytes are free, and room for the files of a commit.
func (s *space) has(size int64) bool {
	free, err := s.free(s.dir)
	if err != nil || free < size {
		return false
	}
	files, err := s.files(s.dir)
	return err == nil && files >= filesCommit
}

func (s *space) ballastName() string { return filepath.Join(s.dir, storedir.NameBallast) }

func (s *space) drop() {
	_ = os.Remove(s.ballastName())
	s.ballast = false
}

// enough checks whether there is room to open Badger, if need be without the ballast. It
// changes nothing.
func (s *space) enough() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.ballastName())
	s.ballast = err == nil && info.Size() == ballastSize
	given := int64(0)
	if s.ballast {
		given = ballastSize
	}
	return s.enoughWith(given)
}

// enoughWith does the same where giving up the ballast gives so many bytes.
func (s *space) enoughWith(ballast int64) error {
	free, err := s.free(s.dir)
	if err != nil {
		return storedir.IOError("asking for the free space", err)
	}
	if free+ballast < openNeeded {
		return storedir.StoreFull(s.dir, free, openNeeded)
	}
	files, err := s.files(s.dir)
	if err != nil {
		return storedir.IOError("asking for the free files", err)
	}
	if files < storedir.FilesOpen {
		return storedir.StoreFullOfFiles(s.dir, files)
	}
	return nil
}

// prepare gives up the ballast if Badger cannot be opened otherwise.
func (s *space) prepare() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ballast, folder := keepTime(s.ballastName()), keepTime(s.dir)
	given := false
	if free, err := s.free(s.dir); err == nil && free < openNeeded && s.ballast {
		s.drop()
		given = true
	}
	err := s.enoughWith(0)
	if err != nil && given { // and that was not enough
		s.ballast = fillBallast(s.ballastName()) == nil
		ballast()
		folder()
	}
	return err
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

// writeNoise fills f with bytes that no file system can compress or store as a
// hole.
func writeNoise(f *os.File, size int64) error {
	var seed [32]byte
	copy(seed[:], storedir.RandomBytes(len(seed)))
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

// Free returns how many bytes are free on the disk of a folder, or -1 if that
// cannot be told.
func Free(dir string) int64 {
	free, err := osfile.Free(dir)
	if err != nil {
		return -1
	}
	return free
}
