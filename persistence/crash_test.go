package persistence

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// crashFS is a file system in memory that loses what was not synced when it
// crashes, and that fails or crashes at the n-th operation.
type crashFS struct {
	live    map[string]*crashFile // names as the running program sees them
	durable map[string]*crashFile // names that survive: SyncDir copies them
	step    int
	failAt  int // this operation returns an error
	crashAt int // from this operation on nothing has an effect
	reached bool
	random  *rand.Rand
}

// crashFile is a file; synced is what of it survives for certain.
type crashFile struct {
	content []byte
	synced  []byte
}

var (
	errInjected = errors.New("injected failure")
	errCrashed  = errors.New("crashed")
)

func newCrashFS(seed uint64) *crashFS {
	return &crashFS{
		live: map[string]*crashFile{}, durable: map[string]*crashFile{},
		failAt: -1, crashAt: -1, random: rand.New(rand.NewPCG(seed, 1)),
	}
}

func (c *crashFS) operate() error {
	c.step++
	if c.crashAt >= 0 && c.step > c.crashAt {
		c.reached = true
		return errCrashed
	}
	if c.step-1 == c.failAt {
		c.reached = true
		return errInjected
	}
	return nil
}

// restart is what a power cut leaves: synced contents, or newer ones in part, and
// synced names, or newer ones.
func (c *crashFS) restart() *crashFS {
	n := newCrashFS(c.random.Uint64())
	names := c.durable
	if c.random.IntN(2) == 0 {
		names = c.live
	}
	for name, f := range names {
		content := bytes.Clone(f.synced)
		if c.random.IntN(2) == 0 { // some of the bytes that were not synced got there, in pages
			newer := bytes.Clone(f.content)
			for at := 0; at < len(newer); at += 64 {
				if c.random.IntN(2) == 0 {
					end := min(at+64, len(newer))
					old := make([]byte, end-at)
					if at < len(f.synced) {
						copy(old, f.synced[at:min(end, len(f.synced))])
					}
					copy(newer[at:end], old)
				}
			}
			content = newer
		}
		n.live[name] = &crashFile{content: content, synced: bytes.Clone(content)}
		n.durable[name] = n.live[name]
	}
	return n
}

func (c *crashFS) OpenFile(name string, flag int, _ fs.FileMode) (storedir.File, error) {
	if err := c.operate(); err != nil {
		return nil, err
	}
	f := c.live[name]
	if f == nil {
		if flag&os.O_CREATE == 0 {
			return nil, fs.ErrNotExist
		}
		f = &crashFile{}
		c.live[name] = f
	}
	if flag&os.O_TRUNC != 0 {
		f.content = nil
	}
	return &crashHandle{fs: c, f: f}, nil
}

func (c *crashFS) Rename(from, to string) error {
	if err := c.operate(); err != nil {
		return err
	}
	c.live[to] = c.live[from]
	delete(c.live, from)
	return nil
}

func (c *crashFS) Remove(name string) error {
	if err := c.operate(); err != nil {
		return err
	}
	delete(c.live, name)
	return nil
}

func (c *crashFS) ReadDir(dir string) ([]string, error) {
	var names []string
	for name := range c.live {
		if filepath.Dir(name) == dir {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (c *crashFS) SyncDir(dir string) error {
	if err := c.operate(); err != nil {
		return err
	}
	for name := range c.durable {
		if filepath.Dir(name) == dir && c.live[name] == nil {
			delete(c.durable, name)
		}
	}
	for name, f := range c.live {
		if filepath.Dir(name) == dir {
			c.durable[name] = f
		}
	}
	return nil
}

type crashHandle struct {
	fs *crashFS
	f  *crashFile
	at int
}

func (h *crashHandle) Read(p []byte) (int, error) {
	n, err := h.ReadAt(p, int64(h.at))
	h.at += n
	if n > 0 {
		err = nil
	}
	return n, err
}

func (h *crashHandle) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(h.f.content)) {
		return 0, io.EOF
	}
	n := copy(p, h.f.content[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *crashHandle) Write(p []byte) (int, error) {
	n, err := h.WriteAt(p, int64(h.at))
	h.at += n
	return n, err
}

func (h *crashHandle) WriteAt(p []byte, at int64) (int, error) {
	err := h.fs.operate()
	if errors.Is(err, errCrashed) {
		return 0, err
	}
	if err != nil {
		p = p[:len(p)/2] // a short write
	}
	if need := int(at) + len(p) - len(h.f.content); need > 0 {
		h.f.content = append(h.f.content, make([]byte, need)...)
	}
	return copy(h.f.content[at:], p), err
}

func (h *crashHandle) Sync() error {
	if err := h.fs.operate(); err != nil {
		return err
	}
	h.f.synced = bytes.Clone(h.f.content)
	return nil
}

func (h *crashHandle) Close() error { return nil }

// TestHeadSurvivesEveryStep writes HEAD twenty times and fails or crashes at every
// operation: what comes back is one of the marks at or after the last synced one.
func TestHeadSurvivesEveryStep(t *testing.T) {
	everyStep(t, func(t *testing.T, c *crashFS, crash bool) {
		dir := "/s"
		synced, written, created := hub.Seq(0), hub.Seq(0), false
		h, _, _, err := storedir.OpenHead(c, dir, true)
		if err == nil {
			created = true
			for i := hub.Seq(1); i <= 20; i++ {
				written = i
				if h.Write(storedir.Mark{Head: core.Head{Seq: i}}) != nil {
					break
				}
				if i%4 == 0 {
					if h.Sync() != nil {
						break
					}
					synced = i
				}
			}
		}
		if crash {
			c = c.restart()
		}
		c.failAt, c.crashAt = -1, -1
		_, m, found, err := storedir.OpenHead(c, dir, false)
		if !created {
			return // HEAD is made before FORMAT: such a store is begun anew
		}
		if err != nil || !found || m.Seq < synced || m.Seq > written {
			t.Errorf("came back as %d, %v, %v; %d was synced, %d written", m.Seq, found, err, synced, written)
		}
	})
}

// TestCheckpointSurvivesEveryStep saves checkpoints and fails or crashes at every
// operation: those that were saved are all there, or superseded.
func TestCheckpointSurvivesEveryStep(t *testing.T) {
	everyStep(t, func(t *testing.T, c *crashFS, crash bool) {
		s := &Store{dir: "/s", fs: c, log: discardLog}
		saved := hub.Seq(0)
		for seq := hub.Seq(1); seq <= 5; seq++ {
			point := &core.Checkpoint{Head: core.Head{Seq: seq}, Sections: []core.Section{
				{Version: uint16(seq), Data: bytes.Repeat([]byte{byte(seq)}, 1000)},
			}}
			if err := storedir.ReplaceFile(c, filepath.Join(s.checkpointDir(), checkpointName(seq)),
				func(w io.Writer) error { return encodeCheckpoint(w, point) },
				func(r io.Reader) error { _, err := checkWhole(r, point); return err }); err != nil {
				break
			}
			saved = seq
			seqs, _ := s.checkpoints()
			for _, old := range seqs[min(checkpointsKept, len(seqs)):] {
				_ = c.Remove(filepath.Join(s.checkpointDir(), checkpointName(old)))
			}
		}
		if crash {
			c = c.restart()
		}
		c.failAt, c.crashAt = -1, -1
		s.fs = c
		s.sweepTemporary()
		seqs, _ := s.checkpoints()
		if saved > 0 && (len(seqs) == 0 || seqs[0] < saved || seqs[0] > saved+1) {
			t.Fatalf("files %v; %d was saved", seqs, saved)
		}
		good := 0
		for _, seq := range seqs {
			b, err := storedir.ReadFile(c, filepath.Join(s.checkpointDir(), checkpointName(seq)), 1<<20)
			require.NoError(t, err)
			p, err := decodeCheckpoint(b)
			if err != nil || p.Head.Seq != seq || !bytes.Equal(p.Sections[0].Data, bytes.Repeat([]byte{byte(seq)}, 1000)) {
				t.Errorf("checkpoint %d is damaged: %v", seq, err)
				continue
			}
			good++
		}
		if good < min(int(saved), checkpointsKept) {
			t.Errorf("%d good checkpoints of %v; %d was saved", good, seqs, saved)
		}
		for name := range c.live {
			if strings.HasSuffix(name, storedir.TempSuffix) {
				t.Errorf("%s is left", name)
			}
		}
	})
}

// TestMarkerAndSecretsSurviveEveryStep makes the files of a store and crashes at
// every operation: they come back whole or not at all.
func TestMarkerAndSecretsSurviveEveryStep(t *testing.T) {
	everyStep(t, func(t *testing.T, c *crashFS, crash bool) {
		dir := t.TempDir()
		m := storedir.NewMarker()
		key := storedir.RandomBytes(storedir.SecretSize)
		made := storedir.WriteKey(c, dir, key) == nil
		if made {
			made = storedir.WriteMarker(c, dir, m) == nil
		}
		if crash {
			c = c.restart()
		}
		c.failAt, c.crashAt = -1, -1
		b, err := storedir.ReadFile(c, filepath.Join(dir, storedir.NameFormat), 4096)
		if errors.Is(err, fs.ErrNotExist) && !made {
			return
		}
		require.NoError(t, err)
		if got, err := storedir.DecodeMarker(b, storedir.LatestFormat()); err != nil || got != m {
			t.Errorf("marker %+v, %v", got, err)
		}
		content, err := storedir.ReadFile(c, filepath.Join(dir, storedir.NameKey), 4096)
		if err != nil || len(content) != storedir.SecretSize+4 || !bytes.Equal(content[:storedir.SecretSize], key) {
			t.Errorf("the marker is there, the key is not: %d bytes, %v", len(content), err)
		}
	})
}

// everyStep runs work with a failure and with a crash at operation 0, 1, 2, …
// until it gets through without meeting it.
func everyStep(t *testing.T, work func(t *testing.T, c *crashFS, crash bool)) {
	for _, crash := range []bool{false, true} {
		for step := 0; ; step++ {
			done := false
			for seed := range uint64(8) {
				t.Run(fmt.Sprintf("crash=%v/step=%d/%d", crash, step, seed), func(t *testing.T) {
					c := newCrashFS(seed)
					if crash {
						c.crashAt = step
					} else {
						c.failAt = step
					}
					work(t, c, crash)
					done = !c.reached
				})
			}
			if done {
				break
			}
			if step > 500 {
				t.Fatal("it never gets through")
			}
		}
	}
}
