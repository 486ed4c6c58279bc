package capsule

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"strings"
	"sync"
)

const streamBuffer = 32 << 10 // bytes, one for the packed and one for the expanded side

// stream expands one entry and sums up what it reads.
type stream struct {
	f        *file
	packed   *bufio.Reader
	deflated io.ReadCloser // nil: the entry is stored
	left     int64         // bytes that are still to come
	sha      hash.Hash
	crc      uint32
	lines    *bufio.Reader
	long     []byte // a line that is longer than the buffer
}

// inflaters keeps what expands, which takes 40 KiB each.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(strings.NewReader("")) }}

func (c *Reader) stream(f *file) *stream {
	s := &stream{f: f, left: f.size, sha: sha256.New()}
	s.packed = bufio.NewReaderSize(io.NewSectionReader(c.r, f.data, f.packed), int(min(streamBuffer, max(f.packed, 16))))
	if f.method == methodDeflated {
		s.deflated = inflaters.Get().(io.ReadCloser)
		_ = s.deflated.(flate.Resetter).Reset(s.packed, nil)
	}
	return s
}

func (s *stream) close() {
	if s.deflated != nil {
		inflaters.Put(s.deflated)
		s.deflated = nil
	}
}

// Read expands. It never gives more than the directory says.
func (s *stream) Read(b []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	if int64(len(b)) > s.left {
		b = b[:s.left]
	}
	from := io.Reader(s.packed)
	if s.deflated != nil {
		from = s.deflated
	}
	n, err := from.Read(b)
	s.left -= int64(n)
	s.sha.Write(b[:n])
	s.crc = crc32.Update(s.crc, crc32.IEEETable, b[:n])
	if err == io.EOF && s.left > 0 {
		return n, io.ErrUnexpectedEOF
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// problem turns an error of expanding into a refusal.
func (s *stream) problem(err error) error {
	var damaged flate.CorruptInputError
	if errors.As(err, &damaged) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid(s.f.name, "the entry cannot be expanded")
	}
	return err
}

// line returns the next line without its end, at most limit bytes long. It stays valid
// until the next call. After the last one the error is io.EOF.
func (s *stream) line(limit int) ([]byte, error) {
	if s.lines == nil {
		s.lines = bufio.NewReaderSize(s, int(min(streamBuffer, max(s.f.size, 16))))
	}
	s.long = s.long[:0]
	for {
		part, err := s.lines.ReadSlice('\n')
		if len(s.long)+len(part) > limit {
			return nil, fault("the line is too long")
		}
		switch {
		case err == nil && len(s.long) == 0:
			return bytes.TrimSuffix(part, []byte("\n")), nil
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
			if s.long = append(s.long, part...); err == nil {
				return s.long[:len(s.long)-1], nil
			}
		case err == io.EOF && len(s.long)+len(part) > 0:
			return nil, fault("the line does not end with a line feed")
		default:
			return nil, s.problem(err)
		}
	}
}

// end compares what was read with what the directory and the manifest say. entry is nil
// for what the manifest does not list.
func (s *stream) end(entry *Entry) error {
	if s.deflated != nil {
		var one [1]byte
		switch n, err := s.deflated.Read(one[:]); {
		case n != 0:
			return invalid(s.f.name, "the entry expands to more than the directory says")
		case err != io.EOF:
			return s.problem(err)
		}
	}
	if _, err := s.packed.ReadByte(); err != io.EOF {
		return invalid(s.f.name, "there are bytes behind the end of the entry")
	}
	if s.crc != s.f.crc {
		return invalid(s.f.name, "the check sum of the entry is wrong")
	}
	if entry != nil && hex.EncodeToString(s.sha.Sum(nil)) != entry.SHA256 {
		return invalid(s.f.name, "the entry is not the one that the manifest lists: its SHA-256 is another")
	}
	return nil
}

// maxSmall bounds the entries that are no lines and no blobs, in bytes.
const maxSmall = 64 << 10
