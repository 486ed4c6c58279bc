package persistence

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/maker"
)

// Backup is what a backup holds.
type Backup struct {
	Instance hub.InstanceID // of the store that it was made of
	Made     hub.Time
	Head     core.Head
	Entries  int64
	Bytes    int64
	content  [sha256.Size]byte // of the entries, as contentSum sums them up
	format   int
	key      []byte
	frame    hub.Seq // first number of the last frame
	sum      string  // of what the mark is over, in hexadecimal digits
	mark     string  // of its maker; empty: it has none
}

// madeBy reports whether a hub with this secret made the backup, all of it.
func (b *Backup) madeBy(k *maker.Key) bool {
	return b.mark != "" && k.Proves(b.mark, backupPurpose, b.sum)
}

// CheckBackup reads a backup from its beginning to its end and checks all of it:
// that it is whole, that every value passes its checksum, that no record after the
// checkpoint and no message is missing. Errors: a *StartError.
func CheckBackup(r io.Reader) (Backup, error) {
	b, err := readBackup(r, backupSink{})
	return b, err
}

// backupSink takes what a backup holds; nil functions take nothing. entry must
// not keep what it gets.
type backupSink struct {
	head  func(*Backup) error
	point func([]byte) error // the whole checkpoint, once
	entry func(*codec.Entry) error
}

func badBackup(format string, args ...any) *storedir.StartError {
	return &storedir.StartError{
		Sentence: "the backup cannot be used: " + fmt.Sprintf(format, args...), Kind: storedir.StartBadBackup,
		Fix: "nothing has been changed; use another backup, or make a new one with `hubcli app backup FILE`",
	}
}

// backupReader reads chunks.
type backupReader struct {
	in     io.Reader
	sum    hash.Hash // of everything before the chunk that was read last
	offset int64
	last   []byte // the chunk that was read last, as it stands in the stream
	data   []byte // its data
}

// readBackup checks a backup and hands what it holds to sink. What sink has taken
// is worth nothing if there is an error.
func readBackup(r io.Reader, sink backupSink) (Backup, error) {
	in := &backupReader{in: buffered(r), sum: sha256.New()}
	if err := in.begin(); err != nil {
		return Backup{}, err
	}
	c := &backupCheck{sink: sink, content: sha256.New()}
	for {
		kind, err := in.next()
		if err == nil {
			err = c.take(kind, in)
		}
		if err != nil {
			return Backup{}, err
		}
		if kind == chunkEnd {
			break
		}
	}
	if n, _ := io.ReadFull(in.in, make([]byte, 1)); n != 0 {
		return Backup{}, badBackup("it goes on after its end")
	}
	c.b.Bytes = in.offset
	c.content.Sum(c.b.content[:0])
	return c.b, nil
}

func (r *backupReader) begin() error {
	b := make([]byte, len(backupMagic)+2)
	n, err := io.ReadFull(r.in, b)
	switch {
	case err != nil && !codec.IsEOF(err):
		return unreadBackup(err)
	case n == 0:
		return badBackup("the file is empty")
	case n < len(b) || string(b[:len(backupMagic)]) != backupMagic:
		return badBackup("the file is no backup of a hub")
	}
	if v := binary.BigEndian.Uint16(b[len(backupMagic):]); v != backupVersion && v != plainBackup {
		e := badBackup("it has version %d, and this hubcli knows versions up to %d", v, backupVersion)
		e.Fix = "restore it with the hubcli that wrote it"
		return e
	}
	r.last, r.offset = b, int64(len(b))
	return nil
}

// unreadBackup says that the system did not let us read the file.
func unreadBackup(err error) *storedir.StartError {
	e := badBackup("it cannot be read: %s", storedir.FileReason(err))
	e.Err = err
	return e
}

// next reads one chunk into r.data.
func (r *backupReader) next() (kind byte, err error) {
	_, _ = r.sum.Write(r.last)
	head := make([]byte, 5)
	if _, err := io.ReadFull(r.in, head); err != nil {
		return 0, r.cut(err)
	}
	size := int64(binary.BigEndian.Uint32(head[1:]))
	if size > maxChunk {
		return 0, r.damaged()
	}
	// The length is not checked yet: the buffer grows with what is really there.
	body := bytes.NewBuffer(append(r.last[:0], head...))
	if _, err := io.CopyN(body, r.in, size+4); err != nil {
		return 0, r.cut(err)
	}
	r.last = body.Bytes()
	r.data = r.last[5 : 5+size]
	if binary.BigEndian.Uint32(r.last[5+size:]) != chunkSum(r.offset, r.last[:5], r.data) {
		return 0, r.damaged()
	}
	r.offset += int64(len(r.last))
	return r.last[0], nil
}

func (r *backupReader) damaged() error {
	return badBackup("it is damaged at byte %d or soon after", r.offset)
}

func (r *backupReader) cut(err error) error {
	if codec.IsEOF(err) {
		return badBackup("it ends at byte %d or soon after and is not whole", r.offset)
	}
	return unreadBackup(err)
}

// backupCheck checks that what the chunks hold makes a whole store.
type backupCheck struct {
	b       Backup
	sink    backupSink
	content hash.Hash
	began   bool
	point   []byte
	settled bool // the checkpoint is complete
	lastKey []byte
	gaps    []codec.Gap
	message hub.MessageID // last one seen
	seq     hub.Seq       // last record seen; 0: none
	first   hub.Seq       // first record seen
	pointAt hub.Seq
}

func (c *backupCheck) take(kind byte, in *backupReader) error {
	if c.began == (kind == chunkHead) || c.b.mark != "" && kind != chunkEnd {
		return badBackup("its parts are out of order")
	}
	switch kind {
	case chunkHead:
		return c.takeHead(in.data)
	case chunkPoint:
		if c.settled {
			return badBackup("its parts are out of order")
		}
		c.point = append(c.point, in.data...)
		return nil
	case chunkEntries:
		return c.takeEntries(in.data)
	case chunkMaker:
		c.b.sum, c.b.mark = hex.EncodeToString(in.sum.Sum(nil)), string(in.data)
		return nil
	case chunkEnd:
		return c.takeEnd(in)
	case chunkFailed:
		return badBackup("the hub could not finish it: %s", codec.Redact(string(in.data)))
	}
	return badBackup("it has a part of the unknown kind %q", kind)
}

func (c *backupCheck) takeHead(data []byte) error {
	h, ok := decodeBackupHead(data)
	if !ok {
		return badBackup("its head fails its checks")
	}
	if h.format > storedir.LatestFormat() {
		e := badBackup("it was made by a newer hubcli: its store has format %d, and this hubcli knows formats up to %d", h.format, storedir.LatestFormat())
		e.Fix = "restore it with the newer hubcli that wrote it"
		return e
	}
	c.began = true
	c.b = Backup{Instance: h.instance, Made: h.made, Head: h.head, format: h.format, key: h.key}
	if c.sink.head != nil {
		return c.sink.head(&c.b)
	}
	return nil
}

// settlePoint checks the checkpoint once all of its pieces are there.
func (c *backupCheck) settlePoint() error {
	if c.settled {
		return nil
	}
	c.settled = true
	if len(c.point) == 0 {
		return nil
	}
	p, err := decodeCheckpoint(c.point)
	if err != nil || p.Head.Seq > c.b.Head.Seq {
		return badBackup("its checkpoint fails its checks")
	}
	c.pointAt = p.Head.Seq
	if c.sink.point != nil {
		err = c.sink.point(c.point)
	}
	c.point = nil
	return err
}

func (c *backupCheck) takeEntries(data []byte) error {
	if err := c.settlePoint(); err != nil {
		return err
	}
	for d := (codec.Decoder{B: data}); len(d.B) > 0; {
		e := codec.Entry{Key: d.Bytes(), Value: d.Bytes(), Expires: d.U64()}
		if d.Bad || bytes.Compare(e.Key, c.lastKey) <= 0 {
			return badBackup("its entries are out of order")
		}
		c.lastKey = append(c.lastKey[:0], e.Key...)
		if err := checkEntry(e.Key, e.Value); err != nil {
			return badBackup("%s", backupReason(err))
		}
		if err := c.follow(&e); err != nil {
			return err
		}
		c.b.Entries++
		sumEntry(c.content, &e)
		if c.sink.entry != nil {
			if err := c.sink.entry(&e); err != nil {
				return err
			}
		}
	}
	return nil
}

// sumEntry adds an entry to a sum of the content. Kept answers are left out: they
// expire while the sum is made.
func sumEntry(sum hash.Hash, e *codec.Entry) {
	if bytes.HasPrefix(e.Key, []byte(codec.PrefixEffect)) {
		return
	}
	var enc codec.Encoder
	enc.Bytes(e.Key)
	enc.Bytes(e.Value)
	enc.U64(e.Expires)
	_, _ = sum.Write(enc.B)
}

// follow checks that records and messages follow each other. The gaps sort before
// both.
func (c *backupCheck) follow(e *codec.Entry) error {
	switch {
	case bytes.HasPrefix(e.Key, []byte(codec.PrefixGap)):
		g, err := codec.DecodeGap(e.Value)
		c.gaps = append(c.gaps, g)
		return err
	case bytes.HasPrefix(e.Key, []byte(codec.PrefixFrame)):
		f, err := codec.DecodeFrame(e.Value)
		if err != nil {
			return err
		}
		if c.first == 0 {
			c.first = f.First()
		} else if want := c.skip(c.seq + 1); f.First() != want {
			return badBackup("record %d is missing", want)
		}
		c.seq, c.b.frame = f.Last().Seq, f.First()
	case bytes.HasPrefix(e.Key, []byte(codec.PrefixMessage)):
		k, err := codec.DecodeBlock(e.Key, e.Value)
		if err != nil {
			return err
		}
		if want := c.skipMessages(c.message + 1); k.First != want && !c.inGap(k.First, k.Last()) {
			return badBackup("message %d is missing", want)
		}
		c.message = k.Last()
	}
	return nil
}

func (c *backupCheck) skip(seq hub.Seq) hub.Seq { return aboveRecords(c.gaps, seq) }

func (c *backupCheck) skipMessages(id hub.MessageID) hub.MessageID { return aboveGaps(c.gaps, id) }

// aboveGaps returns the first id from id on that was not given up. The order of gaps is
// that of their records, not of their messages.
func aboveGaps(gaps []codec.Gap, id hub.MessageID) hub.MessageID {
	for at := hub.MessageID(-1); at != id; {
		at = id
		for _, g := range gaps {
			if id > g.LowMessage && id <= g.HighMessage {
				id = g.HighMessage + 1
			}
		}
	}
	return id
}

// lacking calls fn for the ranges of ids from want to upto that were not given up.
func lacking(gaps []codec.Gap, want, upto hub.MessageID, fn func(first, last hub.MessageID) error) error {
	for first := aboveGaps(gaps, want); first <= upto; first = aboveGaps(gaps, want) {
		last := upto
		for _, g := range gaps {
			if g.LowMessage >= first && g.LowMessage < last && g.HighMessage > g.LowMessage {
				last = g.LowMessage
			}
		}
		if err := fn(first, last); err != nil {
			return err
		}
		want = last + 1
	}
	return nil
}

// aboveRecords returns the first record number from seq on that was not given up.
func aboveRecords(gaps []codec.Gap, seq hub.Seq) hub.Seq {
	for _, g := range gaps {
		if seq >= g.From && seq <= g.Upto {
			seq = g.Upto + 1
		}
	}
	return seq
}

// inGap reports whether a block lies within numbers that no record has: an import took them.
func (c *backupCheck) inGap(first, last hub.MessageID) bool {
	return slices.ContainsFunc(c.gaps, func(g codec.Gap) bool { return first > g.LowMessage && last <= g.HighMessage })
}

// takeEnd compares the last chunk with what came before it.
func (c *backupCheck) takeEnd(in *backupReader) error {
	if err := c.settlePoint(); err != nil {
		return err
	}
	d := codec.Decoder{B: in.data}
	entries, sum := d.U64(), d.Take(sha256.Size)
	switch {
	case !d.Done():
		return badBackup("its end fails its checks")
	case entries != uint64(c.b.Entries):
		return badBackup("it has %d entries and should have %d", c.b.Entries, entries)
	case !bytes.Equal(sum, in.sum.Sum(nil)):
		return badBackup("it fails its checksum")
	}
	end := c.b.Head
	if c.first == 0 { // no record came after the checkpoint
		c.seq = c.pointAt
	}
	if c.skip(c.seq+1) != end.Seq+1 {
		return badBackup("its records end at %d, and its head says %d", c.seq, end.Seq)
	}
	if c.skipMessages(c.message+1) != end.Message+1 {
		return badBackup("its messages end at %d, and its head says %d", c.message, end.Message)
	}
	if c.first > c.skip(c.pointAt+1) {
		return badBackup("records before %d are missing", c.first)
	}
	return nil
}

// asStartError keeps the errors that already are for users.
func asStartError(doing string, err error) error {
	var known *storedir.StartError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return storedir.IOError(doing, err)
}
