package persistence

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"path/filepath"
	"time"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/maker"
)

// A backup is one stream:
//
//	magic 8 │ version 2 │ chunk…
//	chunk    kind 1 │ length 4 │ data │ CRC 4 (offset of the chunk 8, kind, length, data)
//
//	head     store format 2 │ wall 8 │ seq 8 │ message 8 │ fence 8 │ hub ms 8 │ instance str │ key 32
//	point    a piece of the newest checkpoint's file; absent if there is none
//	entries  (key bytes │ value bytes │ expires 8)… by rising keys
//	maker    the mark of the maker's data root over the SHA-256 of everything before this
//	         chunk, in hexadecimal digits; absent where the hub has no data root
//	end      entries 8 │ SHA-256 32 of everything before this chunk
//	failed   why the hub could not go on; the backup is none
//
// It holds the pairs of keys and values and no file of Badger, so that it does
// not depend on how a database arranges them. Both sides check each value by its
// own checksum: a backup of a damaged store must not pass for a good one.
const (
	backupMagic   = "HUBSAVE\n"
	backupVersion = 2
	// plainBackup is the version of a backup without a mark.
	plainBackup = 1

	chunkHead    = 'h'
	chunkPoint   = 'p'
	chunkEntries = 'k'
	chunkMaker   = 'm'
	chunkEnd     = 'e'
	chunkFailed  = 'f'

	// backupChunk is where a chunk is cut, in bytes; one entry may be larger.
	backupChunk = 256 << 10
	maxChunk    = codec.MaxValue + 1<<20
)

// backupHead is what the first chunk says.
type backupHead struct {
	format   int
	made     hub.Time
	head     core.Head
	instance hub.InstanceID
	key      []byte
}

func (h *backupHead) encode() []byte {
	var e codec.Encoder
	e.U16(uint16(h.format))
	e.U64(uint64(h.made))
	e.U64(uint64(h.head.Seq))
	e.U64(uint64(h.head.Message))
	e.U64(uint64(h.head.Fence))
	e.U64(uint64(h.head.HubMS))
	e.Str(string(h.instance))
	e.B = append(e.B, h.key...)
	return e.B
}

func decodeBackupHead(b []byte) (h backupHead, ok bool) {
	d := codec.Decoder{B: b}
	h.format, h.made = int(d.U16()), hub.Time(d.U64())
	h.head = decodePoint(&d)
	h.instance = hub.InstanceID(d.Str())
	h.key = bytes.Clone(d.Take(storedir.SecretSize))
	return h, d.Done()
}

// Backup writes the store as it is after one commit: everything up to the head at
// this moment, and nothing later. Commits and reads go on meanwhile. After an
// error the stream has no end and says why, if it has begun at all. Close waits
// for a Backup under way, so whoever closes the store ends ctx first.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	view, err := s.freeze()
	if err != nil {
		return err
	}
	defer view.release()
	b := &backupWriter{out: w, sum: newSum()}
	if s.maker != nil {
		b.maker = s.maker.Key
	}
	err = b.writeAll(ctx, s, view)
	if err != nil && b.offset > 0 && b.failed == nil {
		b.chunk(chunkFailed, []byte(backupReason(err)))
	}
	return err
}

// backupReason is what the stream says about an error.
func backupReason(err error) string {
	var known *hub.Error
	switch {
	case errors.As(err, &known):
		return known.Message
	case errors.Is(err, context.Canceled), errors.Is(err, storedir.ErrClosed):
		return "the hub stopped"
	}
	return codec.Redact(err.Error())
}

// frozen is the state of a store after one commit.
type frozen struct {
	format int
	head   core.Head
	point  []byte // newest good checkpoint; nil: none
	txn    *badger.Txn
	mapped *mapped
	leave  func()
}

func (f *frozen) release() {
	f.txn.Discard()
	f.leave()
}

// freeze takes the checkpoint before the snapshot, and no other is saved in
// between. So the snapshot has every record that the checkpoint needs.
func (s *Store) freeze() (*frozen, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	point, err := s.pointFile()
	if err != nil {
		return nil, err
	}
	s.writing.Lock() // so that head and snapshot are those of one commit
	defer s.writing.Unlock()
	if err := s.Err(); err != nil {
		return nil, err
	}
	gen, ts, err := s.gate.enter()
	if err != nil {
		return nil, err
	}
	return &frozen{
		format: s.Format(), head: s.durable, point: point, txn: s.db.NewTransactionAt(ts, false),
		leave: func() { s.gate.leave(gen) }, mapped: s.mapped,
	}, nil
}

// pointFile returns the newest checkpoint file that passes its checks. The caller
// holds s.saving.
func (s *Store) pointFile() ([]byte, error) {
	seqs, err := s.checkpoints()
	if err != nil {
		return nil, fmt.Errorf("persistence: listing the checkpoints: %w", err)
	}
	for _, seq := range seqs {
		b, err := storedir.ReadFile(s.fs, filepath.Join(s.checkpointDir(), checkpointName(seq)), maxCheckpoint)
		if err != nil {
			continue
		}
		if c, err := decodeCheckpoint(b); err == nil && c.Head.Seq == seq {
			return b, nil
		}
	}
	return nil, nil
}

// backupWriter writes chunks and sums them up.
type backupWriter struct {
	out    io.Writer
	maker  *maker.Key // nil: the backup gets no mark
	sum    hash.Hash
	offset int64
	failed error // of out
}

func (b *backupWriter) write(p []byte) {
	if b.failed != nil {
		return
	}
	if _, b.failed = b.out.Write(p); b.failed == nil {
		_, _ = b.sum.Write(p)
		b.offset += int64(len(p))
	}
}

func (b *backupWriter) chunk(kind byte, data []byte) {
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(data)))
	sum := chunkSum(b.offset, head, data)
	b.write(head)
	b.write(data)
	b.write(binary.BigEndian.AppendUint32(nil, sum))
}

// chunkSum covers the place of a chunk, so that none can be left out or moved.
func chunkSum(offset int64, head, data []byte) uint32 {
	place := binary.BigEndian.AppendUint64(nil, uint64(offset))
	return crc32.Update(codec.Checksum(head, place), codec.Castagnoli, data)
}

// begin writes what comes before the entries.
func (b *backupWriter) begin(h *backupHead, point []byte) {
	version := uint16(plainBackup)
	if b.maker != nil {
		version = backupVersion
	}
	b.write(binary.BigEndian.AppendUint16([]byte(backupMagic), version))
	b.chunk(chunkHead, h.encode())
	for rest := point; len(rest) > 0; {
		n := min(len(rest), backupChunk)
		b.chunk(chunkPoint, rest[:n])
		rest = rest[n:]
	}
}

func (b *backupWriter) writeAll(ctx context.Context, s *Store, view *frozen) error {
	b.begin(&backupHead{
		format: view.format, made: hub.TimeOf(time.Now()), head: view.head, instance: s.marker.InstanceID, key: s.key,
	}, view.point)
	entries, err := b.entries(ctx, view.txn, view.mapped)
	if err != nil {
		return err
	}
	b.end(entries)
	return b.failed
}

// end writes the last chunks.
func (b *backupWriter) end(entries uint64) {
	if b.maker != nil {
		b.chunk(chunkMaker, []byte(b.maker.Mark(backupPurpose, hex.EncodeToString(b.sum.Sum(nil)))))
	}
	b.chunk(chunkEnd, b.sum.Sum(binary.BigEndian.AppendUint64(nil, entries)))
}

// backupPurpose is what the maker's mark of a backup is for.
const backupPurpose = "backup"

func newSum() hash.Hash { return sha256.New() }

// entries writes all pairs of keys and values, and returns how many.
func (b *backupWriter) entries(ctx context.Context, txn *badger.Txn, mapped *mapped) (n uint64, err error) {
	o := badger.DefaultIteratorOptions
	o.PrefetchValues = false // it would hold a hundred values, of up to 64 MiB each
	it := txn.NewIterator(o)
	defer it.Close()
	var e codec.Encoder
	var value []byte
	for it.Rewind(); it.Valid(); it.Next() {
		if err := errors.Join(b.failed, context.Cause(ctx)); err != nil {
			return n, err
		}
		item := it.Item()
		mapped.reads(item)
		// A copy: while the bytes are looked at, Badger holds a lock on their file
		// that its writer needs, and the reader of the stream may be slow.
		if value, err = item.ValueCopy(value); err != nil {
			return n, codec.CorruptRecord("a value", nil)
		}
		if err := checkEntry(item.Key(), value); err != nil {
			return n, err
		}
		e.Bytes(item.Key())
		e.Bytes(value)
		e.U64(item.ExpiresAt())
		n++
		if len(e.B) >= backupChunk {
			b.chunk(chunkEntries, e.B)
			if e.B = e.B[:0]; cap(e.B) > maxKept {
				e.B, value = nil, nil
			}
		}
	}
	if len(e.B) > 0 {
		b.chunk(chunkEntries, e.B)
	}
	return n, b.failed
}

// checkEntry checks a value as its reader would.
func checkEntry(key, value []byte) error {
	prefix, _, _ := bytes.Cut(key, []byte{'/'})
	switch string(prefix) + "/" {
	case codec.PrefixFrame:
		f, err := codec.DecodeFrame(value)
		if n, ok := codec.KeyNumber(key); err != nil || !ok || hub.Seq(n) != f.First() {
			return codec.CorruptRecord("a record", nil)
		}
	case codec.PrefixMessage:
		k, err := codec.DecodeBlock(key, value)
		if err == nil {
			err = k.Check()
		}
		if err != nil {
			return damagedBlock(key)
		}
	case codec.PrefixChannel, codec.PrefixThread, codec.PrefixInbox:
		if _, err := codec.DecodeIndex(key, value, nil); err != nil {
			return codec.CorruptRecord("an index entry", nil)
		}
	case codec.PrefixRow:
		if _, err := codec.DecodeRow(key, value); err != nil || len(key) < len(codec.PrefixRow)+2 {
			return codec.CorruptRecord("a row", nil)
		}
	case codec.PrefixEffect:
		var scope [32]byte
		if copy(scope[:], key[len(codec.PrefixEffect):]) != len(scope) || len(key) != len(codec.PrefixEffect)+len(scope) {
			return codec.CorruptRecord("a kept answer", nil)
		}
		if _, err := codec.DecodeEffect(scope, value); err != nil {
			return codec.CorruptRecord("a kept answer", nil)
		}
	case codec.PrefixGap, codec.PrefixImport:
		if _, err := codec.DecodeGap(value); err != nil {
			return codec.CorruptRecord("a note of given up records", nil)
		}
	case codec.KeyRedone:
		if _, err := codec.Unseal(value, codec.RowVersion, []byte(codec.KeyRedone)); err != nil {
			return codec.CorruptRecord("a note of finished groups", nil)
		}
	default:
		return codec.CorruptRecord("a key of an unknown kind", nil)
	}
	return nil
}

// buffered is how a backup is read: its chunks have short heads.
func buffered(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) }
