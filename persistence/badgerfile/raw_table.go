package badgerfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"path/filepath"

	"hubcli/persistence/codec"

	"github.com/dgraph-io/badger/v4/fb"
)

// A table is a row of blocks and an index of them:
//
//	block…  │ index │ length of index 4 │ checksum │ length of checksum 4
//	block   entry… │ (offset of an entry 4)… │ count 4 │ checksum │ length of checksum 4
//	entry   shared 2 │ own 2 │ key after the shared bytes of the first key │ meta │ user meta │ expiry │ value
//
// A checksum is a protocol buffer. The offsets and the lengths of an entry have the
// memory order of the machine.

// maxRawBlock bounds a block: Badger cuts it at 4 KiB, and one entry may be longer.
const maxRawBlock = 256 << 10

// table reads one table, block by block.
func (r *RawReader) table(path string) error {
	name := filepath.Base(path)
	b, ok := r.whole(path)
	if !ok {
		return nil
	}
	blocks, data, err := tableBlocks(b)
	if err != nil {
		r.damage(name, "its index cannot be read: %s", codec.Redact(err.Error()))
		r.Unlisted = true
		blocks, data = scanBlocks(b), b
	}
	end := 0
	for _, at := range blocks {
		if at[0] > end {
			r.damage(name, "bytes %d to %d cannot be read", end, at[0]-1)
			r.Unlisted = true
		}
		end = at[1]
		entries, err := blockEntries(data[at[0]:at[1]])
		if err != nil {
			r.damage(name, "the block at byte %d fails its checksum", at[0])
			r.Unlisted = true
			continue
		}
		for i := range entries {
			if err := r.entry(entries[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// tableBlocks returns where the blocks begin and end, as the index says.
func tableBlocks(b []byte) (blocks [][2]int, data []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // the index has its checksum and is none of Badger's all the same
			blocks, err = nil, fmt.Errorf("damaged: %s", codec.Redact(fmt.Sprint(p)))
		}
	}()
	rest, sum, ok := cutChecksum(b)
	if !ok || len(rest) < 4 {
		return nil, nil, errors.New("its end is damaged")
	}
	size := int64(binary.BigEndian.Uint32(rest[len(rest)-4:]))
	data = rest[:len(rest)-4]
	if size > int64(len(data)) {
		return nil, nil, errors.New("its end is damaged")
	}
	index := data[int64(len(data))-size:]
	data = data[:int64(len(data))-size]
	if crc32.Checksum(index, codec.Castagnoli) != sum {
		return nil, nil, errors.New("it fails its checksum")
	}
	root := fb.GetRootAsTableIndex(index, 0)
	var block fb.BlockOffset
	for i := range root.OffsetsLength() {
		if !root.Offsets(&block, i) {
			return nil, nil, errors.New("it is none that Badger writes")
		}
		from, upto := int64(block.Offset()), int64(block.Offset())+int64(block.Len())
		if from > upto || upto > int64(len(data)) {
			return nil, nil, errors.New("it names bytes beyond the file")
		}
		blocks = append(blocks, [2]int{int(from), int(upto)})
	}
	return blocks, data, nil
}

// cutChecksum cuts the checksum off the end of b.
func cutChecksum(b []byte) (rest []byte, sum uint32, ok bool) {
	if len(b) < 4 {
		return nil, 0, false
	}
	size := binary.BigEndian.Uint32(b[len(b)-4:])
	b = b[:len(b)-4]
	if size > 16 || int(size) > len(b) {
		return nil, 0, false
	}
	text := b[len(b)-int(size):]
	for len(text) > 0 {
		field, number, _, left, good := nextField(text)
		if !good || field != 2 && number != 0 { // field 1 is the kind: CRC-32C is 0
			return nil, 0, false
		}
		if field == 2 {
			sum, ok = uint32(number), number <= math.MaxUint32
		}
		text = left
	}
	return b[:len(b)-int(size)], sum, ok || size == 0
}

// scanBlocks finds the blocks of a table without its index. A block follows the one
// before it. Behind damage, a block must be longer than a value can be.
func scanBlocks(b []byte) (blocks [][2]int) {
	start, resync := 0, false
	for start < len(b) {
		end := blockEnd(b, start, resync)
		if end > 0 {
			blocks = append(blocks, [2]int{start, end})
			start, resync = end, false
			continue
		}
		// The damaged block ends where the next checksum does, or later.
		next := checksumEnd(b, start+1)
		if next == 0 {
			return blocks
		}
		start, resync = next, true
	}
	return blocks
}

// blockEnd returns where the block that begins at start ends, or 0.
func blockEnd(b []byte, start int, resync bool) int {
	for end := checksumEnd(b, start+1); end != 0 && end-start <= maxRawBlock; end = checksumEnd(b, end+1) {
		if resync && end-start <= codec.ValueThreshold {
			continue
		}
		if _, err := blockEntries(b[start:end]); err == nil {
			return end
		}
	}
	return 0
}

// checksumEnd returns the first place from at on where a checksum may end, or 0.
func checksumEnd(b []byte, at int) int {
	for ; at <= len(b); at++ {
		if at < 9 || b[at-4] != 0 || b[at-3] != 0 || b[at-2] != 0 || b[at-1] < 2 || b[at-1] > 6 {
			continue
		}
		if b[at-4-int(b[at-1])] == 0x10 { // field 2, a number
			return at
		}
	}
	return 0
}

var errRawBlock = errors.New("it is no block of a table")

// blockEntries decodes a block whose checksum is right.
func blockEntries(b []byte) (entries []LogEntry, err error) {
	rest, sum, ok := cutChecksum(b)
	if !ok || crc32.Checksum(rest, codec.Castagnoli) != sum || len(rest) < 4 {
		return nil, errRawBlock
	}
	n := int64(binary.BigEndian.Uint32(rest[len(rest)-4:]))
	if n == 0 || 4*n > int64(len(rest)-4) {
		return nil, errRawBlock
	}
	offsets := rest[int64(len(rest)-4)-4*n : len(rest)-4]
	data := rest[:int64(len(rest)-4)-4*n]
	var first []byte
	for i := range int(n) {
		from, upto := uint32(0), uint32(len(data))
		from = binary.NativeEndian.Uint32(offsets[4*i:])
		if i+1 < int(n) {
			upto = binary.NativeEndian.Uint32(offsets[4*i+4:])
		}
		if from > upto || int64(upto) > int64(len(data)) {
			return nil, errRawBlock
		}
		e, key, ok := tableEntry(data[from:upto], first)
		if !ok {
			return nil, errRawBlock
		}
		if i == 0 {
			first = key
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// tableEntry decodes an entry. first is the first key of the block.
func tableEntry(b, first []byte) (e LogEntry, key []byte, ok bool) {
	if len(b) < 4 {
		return e, nil, false
	}
	shared, own := int(binary.NativeEndian.Uint16(b)), int(binary.NativeEndian.Uint16(b[2:]))
	if b = b[4:]; shared > len(first) || own > len(b) {
		return e, nil, false
	}
	key = append(bytes.Clone(first[:shared]), b[:own]...)
	if b = b[own:]; len(key) < 8 || len(b) < 3 {
		return e, nil, false
	}
	expires, size := binary.Uvarint(b[2:])
	if size <= 0 {
		return e, nil, false
	}
	e = LogEntry{
		Meta: b[0], Key: key[:len(key)-8], Value: b[2+size:], Expires: expires,
		Ts: math.MaxUint64 - binary.BigEndian.Uint64(key[len(key)-8:]),
	}
	return e, key, true
}
