package persistence

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"hubcli/actors/core"
	"hubcli/hub"
)

// mark is what HEAD holds: how far the journal reached when it was last written.
type mark struct {
	core.Head
	lastFrame hub.Seq // first sequence number of the last frame, its key
	clean     bool    // written by Close: no commit can be torn
}

// headFile is HEAD: two slots, written in turn, each on a page of its own, so
// that a torn write never takes the older one with it. It is not safe for
// concurrent use.
type headFile struct {
	f       file
	counter uint64 // of the last written slot
	dirty   bool   // written since the last sync
}

const (
	headMagic    = "HUBH"
	headSlotSize = 4 + 1 + 1 + 6*8 + 4
	headSlotGap  = 4096
)

func encodeMark(counter uint64, m mark) []byte {
	b := make([]byte, 0, headSlotSize)
	b = append(b, headMagic...)
	b = append(b, 1, flagByte(m.clean))
	b = binary.BigEndian.AppendUint64(b, counter)
	b = binary.BigEndian.AppendUint64(b, uint64(m.Seq))
	b = binary.BigEndian.AppendUint64(b, uint64(m.Message))
	b = binary.BigEndian.AppendUint64(b, uint64(m.Fence))
	b = binary.BigEndian.AppendUint64(b, uint64(m.HubMS))
	b = binary.BigEndian.AppendUint64(b, uint64(m.lastFrame))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeMark(b []byte) (counter uint64, m mark, ok bool) {
	if len(b) != headSlotSize || string(b[:4]) != headMagic || b[4] != 1 || b[5] > 1 ||
		binary.BigEndian.Uint32(b[headSlotSize-4:]) != crc32.Checksum(b[:headSlotSize-4], castagnoli) {
		return 0, mark{}, false
	}
	u64 := func(i int) uint64 { return binary.BigEndian.Uint64(b[6+8*i:]) }
	m.clean = b[5] == 1
	m.Seq, m.Message, m.Fence = hub.Seq(u64(1)), hub.MessageID(u64(2)), hub.Fence(u64(3))
	m.HubMS, m.lastFrame = int64(u64(4)), hub.Seq(u64(5))
	return u64(0), m, true
}

// openHead opens HEAD and returns the newer of its good slots. found is false if
// there is none: both are damaged, or the file was absent and create asked for it.
func openHead(fsy fsys, dir string, create bool) (h *headFile, m mark, found bool, err error) {
	name := filepath.Join(dir, nameHead)
	f, err := fsy.OpenFile(name, os.O_RDWR, 0)
	if create && errors.Is(err, fs.ErrNotExist) {
		h, err = createHead(fsy, dir, name)
		return h, mark{}, false, err
	}
	if err != nil {
		return nil, mark{}, false, err
	}
	h = &headFile{f: f}
	for slot := range int64(2) {
		b := make([]byte, headSlotSize)
		if n, rerr := f.ReadAt(b, slot*headSlotGap); n < len(b) {
			if rerr != nil && !isEOF(rerr) {
				return nil, mark{}, false, errors.Join(rerr, f.Close())
			}
			continue
		}
		if counter, sm, ok := decodeMark(b); ok && (!found || counter > h.counter) {
			h.counter, m, found = counter, sm, true
		}
	}
	return h, m, found, nil
}

// createHead makes HEAD: a journal without records, with the space for both
// slots, so that a full disk cannot refuse a later write.
func createHead(fsy fsys, dir, name string) (*headFile, error) {
	f, err := fsy.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	content := make([]byte, 2*headSlotGap)
	copy(content, encodeMark(0, mark{}))
	if _, err = f.WriteAt(content, 0); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fsy.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &headFile{f: f}, nil
}

// write puts m into the older slot. It reaches the disk with the next sync.
func (h *headFile) write(m mark) error {
	counter := h.counter + 1
	if _, err := h.f.WriteAt(encodeMark(counter, m), int64(counter%2)*headSlotGap); err != nil {
		return err
	}
	h.counter, h.dirty = counter, true
	return nil
}

func (h *headFile) sync() error {
	if !h.dirty {
		return nil
	}
	h.dirty = false
	return h.f.Sync()
}

func flagByte(set bool) byte {
	if set {
		return 1
	}
	return 0
}
