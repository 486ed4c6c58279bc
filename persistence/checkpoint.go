package persistence

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

// A checkpoint file:
//
//	magic 8 │ version 2 │ seq 8 │ message 8 │ fence 8 │ hub ms 8 │ wall 8 │ sections 4 │
//	(owner kind 1 │ owner name str │ as of 8 │ version 2 │ data bytes)… │ CRC 4 over all before it
const (
	checkpointMagic   = "HUBCKPT\n"
	checkpointVersion = 1
	checkpointHead    = len(checkpointMagic) + 2 + 5*8 + 4
	checkpointSuffix  = ".ckpt"
	checkpointsKept   = 3
	maxCheckpoint     = 4 << 30
)

// encodeCheckpoint writes c; only what follows the last section is buffered.
func encodeCheckpoint(w io.Writer, c *core.Checkpoint) error {
	sum := crc32.New(codec.Castagnoli)
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10)
	e := codec.Encoder{B: append([]byte(nil), checkpointMagic...)}
	e.U16(checkpointVersion)
	e.U64(uint64(c.Head.Seq))
	e.U64(uint64(c.Head.Message))
	e.U64(uint64(c.Head.Fence))
	e.U64(uint64(c.Head.HubMS))
	e.U64(uint64(c.Wall))
	e.Count(len(c.Sections))
	for i := range c.Sections {
		sec := &c.Sections[i]
		e.U8(byte(sec.Owner.Kind))
		e.Str(sec.Owner.Name)
		e.U64(uint64(sec.AsOf))
		e.U16(sec.Version)
		e.Count(len(sec.Data))
		if e.Err != nil {
			return e.Err
		}
		if _, err := out.Write(e.B); err != nil {
			return err
		}
		e.B = e.B[:0]
		if _, err := out.Write(sec.Data); err != nil {
			return err
		}
	}
	if _, err := out.Write(e.B); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := w.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// decodeCheckpoint reads a whole checkpoint. Its sections alias b.
func decodeCheckpoint(b []byte) (*core.Checkpoint, error) {
	end := len(b) - 4
	if end < checkpointHead || string(b[:len(checkpointMagic)]) != checkpointMagic ||
		binary.BigEndian.Uint32(b[end:]) != crc32.Checksum(b[:end], codec.Castagnoli) {
		return nil, codec.ErrDamaged
	}
	d := codec.Decoder{B: b[len(checkpointMagic):end]}
	if d.U16() != checkpointVersion {
		return nil, codec.ErrVersion
	}
	c := &core.Checkpoint{Head: decodePoint(&d), Wall: hub.Time(d.U64())}
	if n := d.Count(17); n > 0 {
		c.Sections = make([]core.Section, n)
	}
	for i := range c.Sections {
		c.Sections[i] = core.Section{
			Owner: core.Owner{Kind: core.OwnerKind(d.U8()), Name: d.Str()},
			AsOf:  hub.Seq(d.U64()), Version: d.U16(), Data: d.Bytes(),
		}
	}
	if !d.Done() {
		return nil, codec.ErrDamaged
	}
	return c, nil
}

func decodePoint(d *codec.Decoder) core.Head {
	return core.Head{
		Seq: hub.Seq(d.U64()), Message: hub.MessageID(d.U64()),
		Fence: hub.Fence(d.U64()), HubMS: int64(d.U64()),
	}
}

// checkWhole reads a checkpoint through and compares its CRC with want, if want
// is given, and with the one at its end.
func checkWhole(r io.Reader, want *core.Checkpoint) (core.Head, error) {
	tail := &tailHash{sum: crc32.New(codec.Castagnoli)}
	in := bufio.NewReaderSize(io.TeeReader(r, tail), 64<<10)
	head := make([]byte, checkpointHead)
	if _, err := io.ReadFull(in, head); err != nil {
		return core.Head{}, err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return core.Head{}, err
	}
	if string(head[:len(checkpointMagic)]) != checkpointMagic || !tail.matches() {
		return core.Head{}, codec.ErrDamaged
	}
	d := codec.Decoder{B: head[len(checkpointMagic)+2:]}
	point := decodePoint(&d)
	if want != nil && point != want.Head {
		return core.Head{}, codec.ErrDamaged
	}
	return point, nil
}

// tailHash sums all but the last four bytes that are written to it.
type tailHash struct {
	sum  hash.Hash32
	last []byte
}

func (t *tailHash) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if n := len(t.last) - 4; n > 0 {
		_, _ = t.sum.Write(t.last[:n])
		t.last = append(t.last[:0], t.last[n:]...)
	}
	return len(p), nil
}

func (t *tailHash) matches() bool {
	return len(t.last) == 4 && binary.BigEndian.Uint32(t.last) == t.sum.Sum32()
}

func (s *Store) checkpointDir() string { return filepath.Join(s.dir, storedir.NameCheckpoints) }

func checkpointName(seq hub.Seq) string { return fmt.Sprintf("%020d%s", seq, checkpointSuffix) }

func checkpointSeq(name string) (hub.Seq, bool) {
	digits, ok := strings.CutSuffix(name, checkpointSuffix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return hub.Seq(n), ok && err == nil && len(digits) == 20
}

// checkpoints lists the sequence numbers of the checkpoint files, newest first.
func (s *Store) checkpoints() ([]hub.Seq, error) {
	names, err := s.fs.ReadDir(s.checkpointDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var seqs []hub.Seq
	for _, name := range names {
		if seq, ok := checkpointSeq(name); ok {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	slices.Reverse(seqs)
	return seqs, nil
}

// SaveCheckpoint stores c atomically and keeps the newest three. The frames of the
// journal stay: they say what a room was like at any moment. The store works on if it
// fails, unless Failed says otherwise.
func (s *Store) SaveCheckpoint(c *core.Checkpoint) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	gen, _, err := s.gate.enter()
	if err != nil {
		return err
	}
	defer s.gate.leave(gen)
	if err := s.ready(); err != nil {
		return err
	}
	if tail := hub.Seq(s.tail.Load()); c.Head.Seq > tail {
		return fmt.Errorf("persistence: a checkpoint at %d is ahead of the journal, which ends at %d", c.Head.Seq, tail)
	}
	var size int64
	for i := range c.Sections {
		size += int64(len(c.Sections[i].Data)) + 256
	}
	if size > maxCheckpoint-math.MaxUint16 {
		return fmt.Errorf("persistence: a checkpoint of %s is too large", storedir.Mebibytes(size))
	}
	if !s.space.has(commitNeeded + size) {
		return errNoCheckpoint()
	}
	switch err := s.raise(s.formats.OfCheckpoint(c)); {
	case errors.Is(err, core.ErrNoRoom):
		return errNoCheckpoint()
	case err != nil:
		return err
	}
	// HEAD first: sections reach beyond the checkpoint's own number, so a journal
	// that has lost their records must be noticed where the checkpoint is found.
	if err := s.syncHeadNow(); err != nil {
		return s.fail(err)
	}
	err = storedir.ReplaceFile(s.fs, filepath.Join(s.checkpointDir(), checkpointName(c.Head.Seq)),
		func(w io.Writer) error { return encodeCheckpoint(w, c) },
		func(r io.Reader) error {
			_, err := checkWhole(r, c)
			return err
		})
	switch {
	case err != nil && osfile.IsFull(err):
		return errNoCheckpoint()
	case err != nil:
		return fmt.Errorf("persistence: saving a checkpoint: %w", err)
	}
	s.space.written.Add(size)
	return s.retire()
}

func errNoCheckpoint() error {
	return hub.NewError(hub.CodeStorageFull, "the disk is too full for a checkpoint").WithFix("free some space on the store's disk")
}

// retire removes the checkpoints beyond the newest three.
func (s *Store) retire() error {
	seqs, err := s.checkpoints()
	if err != nil {
		return fmt.Errorf("persistence: listing the checkpoints: %w", err)
	}
	for _, seq := range seqs[min(len(seqs), checkpointsKept):] {
		if err := s.fs.Remove(filepath.Join(s.checkpointDir(), checkpointName(seq))); err != nil {
			return fmt.Errorf("persistence: removing an old checkpoint: %w", err)
		}
	}
	return nil
}

func (s *Store) syncHeadNow() error {
	s.heading.Lock()
	defer s.heading.Unlock()
	return s.head.Sync()
}

// Checkpoint returns the newest checkpoint that passes its checks, or
// core.ErrNotFound if there is none and the journal is whole from its beginning.
func (s *Store) Checkpoint() (*core.Checkpoint, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	seqs, err := s.checkpoints()
	if err != nil {
		return nil, fmt.Errorf("persistence: listing the checkpoints: %w", err)
	}
	for _, seq := range seqs {
		b, err := storedir.ReadFile(s.fs, filepath.Join(s.checkpointDir(), checkpointName(seq)), maxCheckpoint)
		if err == nil {
			var c *core.Checkpoint
			if c, err = decodeCheckpoint(b); err == nil && c.Head.Seq == seq {
				return c, nil
			}
		}
		s.log.Warn("a checkpoint cannot be used", "seq", seq, "cause", err)
	}
	whole, err := s.beginsAtOne()
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, codec.CorruptRecord("checkpoints, none", map[string]any{"checkpoints": len(seqs)})
	}
	return nil, core.ErrNotFound
}

// beginsAtOne reports whether the journal has its first frame. Earlier versions deleted
// the frames that no checkpoint needed.
func (s *Store) beginsAtOne() (whole bool, err error) {
	err = s.view(func(txn *badger.Txn) error {
		it := iterate(txn, []byte(codec.PrefixFrame), false)
		defer it.Close()
		it.Rewind()
		if !it.Valid() {
			whole = s.tail.Load() == 0 || s.skipGaps(1) > hub.Seq(s.tail.Load())
			return nil
		}
		first, _ := codec.KeyNumber(it.Item().Key())
		whole = hub.Seq(first) <= s.skipGaps(1)
		return nil
	})
	return whole, err
}

// newestPoint returns the as-of of the newest good checkpoint, or zero.
func (s *Store) newestPoint() core.Head {
	seqs, err := s.checkpoints()
	if err != nil {
		return core.Head{}
	}
	for _, seq := range seqs {
		f, err := s.fs.OpenFile(filepath.Join(s.checkpointDir(), checkpointName(seq)), os.O_RDONLY, 0)
		if err != nil {
			continue
		}
		point, err := checkWhole(f, nil)
		_ = f.Close()
		if err == nil && point.Seq == seq {
			return point
		}
	}
	return core.Head{}
}

// sweepTemporary removes what an interrupted replaceFile has left.
func (s *Store) sweepTemporary() {
	for _, dir := range []string{s.dir, s.checkpointDir()} {
		names, _ := s.fs.ReadDir(dir)
		for _, name := range names {
			target, ok := strings.CutSuffix(name, storedir.TempSuffix)
			if _, isPoint := checkpointSeq(target); ok && (isPoint || storedir.OwnedName(name)) {
				_ = s.fs.Remove(filepath.Join(dir, name))
			}
		}
	}
}
