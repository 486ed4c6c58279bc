package storedir

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"hubcli/persistence/codec"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Mark is what HEAD holds: how far the journal reached when it was last written.
type Mark struct {
	core.Head
	LastFrame hub.Seq // first sequence number of the last frame, its key
	Clean     bool    // written by Close: no commit can be torn
}

// HeadFile is HEAD: two slots, written in turn, each on a page of its own, so
// that a torn write never takes the older one with it. It is not safe for
// concurrent use.
type HeadFile struct {
	F       File
	counter uint64 // of the last written slot
	Dirty   bool   // written since the last sync
}

// HEAD has two slots of HeadSlotSize bytes, which begin HeadSlotGap bytes apart.
const (
	headMagic    = "HUBH"
	HeadSlotSize = 4 + 1 + 1 + 6*8 + 4
	HeadSlotGap  = 4096
)

// EncodeMark renders a mark for one of the slots of HEAD.
func EncodeMark(counter uint64, m Mark) []byte {
	b := make([]byte, 0, HeadSlotSize)
	b = append(b, headMagic...)
	b = append(b, 1, codec.FlagByte(m.Clean))
	b = binary.BigEndian.AppendUint64(b, counter)
	b = binary.BigEndian.AppendUint64(b, uint64(m.Seq))
	b = binary.BigEndian.AppendUint64(b, uint64(m.Message))
	b = binary.BigEndian.AppendUint64(b, uint64(m.Fence))
	b = binary.BigEndian.AppendUint64(b, uint64(m.HubMS))
	b = binary.BigEndian.AppendUint64(b, uint64(m.LastFrame))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, codec.Castagnoli))
}

// DecodeMark is its inverse; ok is false for bytes that fail their checks.
func DecodeMark(b []byte) (counter uint64, m Mark, ok bool) {
	if len(b) != HeadSlotSize || string(b[:4]) != headMagic || b[4] != 1 || b[5] > 1 ||
		binary.BigEndian.Uint32(b[HeadSlotSize-4:]) != crc32.Checksum(b[:HeadSlotSize-4], codec.Castagnoli) {
		return 0, Mark{}, false
	}
	u64 := func(i int) uint64 { return binary.BigEndian.Uint64(b[6+8*i:]) }
	m.Clean = b[5] == 1
	m.Seq, m.Message, m.Fence = hub.Seq(u64(1)), hub.MessageID(u64(2)), hub.Fence(u64(3))
	m.HubMS, m.LastFrame = int64(u64(4)), hub.Seq(u64(5))
	return u64(0), m, true
}

// OpenHead opens HEAD and returns the newer of its good slots. found is false if
// there is none: both are damaged, or the file was absent and create asked for it.
func OpenHead(fsy Fsys, dir string, create bool) (h *HeadFile, m Mark, found bool, err error) {
	name := filepath.Join(dir, NameHead)
	f, err := fsy.OpenFile(name, os.O_RDWR, 0)
	if create && errors.Is(err, fs.ErrNotExist) {
		h, err = CreateHead(fsy, dir, name)
		return h, Mark{}, false, err
	}
	if err != nil {
		return nil, Mark{}, false, err
	}
	h = &HeadFile{F: f}
	for slot := range int64(2) {
		b := make([]byte, HeadSlotSize)
		if n, rerr := f.ReadAt(b, slot*HeadSlotGap); n < len(b) {
			if rerr != nil && !codec.IsEOF(rerr) {
				return nil, Mark{}, false, errors.Join(rerr, f.Close())
			}
			continue
		}
		if counter, sm, ok := DecodeMark(b); ok && (!found || counter > h.counter) {
			h.counter, m, found = counter, sm, true
		}
	}
	return h, m, found, nil
}

// CreateHead makes HEAD: a journal without records, with the space for both
// slots, so that a full disk cannot refuse a later write.
func CreateHead(fsy Fsys, dir, name string) (*HeadFile, error) {
	f, err := fsy.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	content := make([]byte, 2*HeadSlotGap)
	copy(content, EncodeMark(0, Mark{}))
	if _, err = f.WriteAt(content, 0); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fsy.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &HeadFile{F: f}, nil
}

// Write puts m into the older slot. It reaches the disk with the next sync.
func (h *HeadFile) Write(m Mark) error {
	counter := h.counter + 1
	if _, err := h.F.WriteAt(EncodeMark(counter, m), int64(counter%2)*HeadSlotGap); err != nil {
		return err
	}
	h.counter, h.Dirty = counter, true
	return nil
}

// Sync makes what was written durable.
func (h *HeadFile) Sync() error {
	if !h.Dirty {
		return nil
	}
	h.Dirty = false
	return h.F.Sync()
}
