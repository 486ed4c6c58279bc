package persistence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"hubcli/actors/core"
	"hubcli/hub"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Versions of the encodings. They are part of the store's format.
const (
	frameVersion   = 1
	recordVersion  = 1
	messageVersion = 1
	blockVersion   = 1
	indexVersion   = 1
	rowVersion     = 1
	effectVersion  = 1
	gapVersion     = 1
)

const (
	flagWhole = 1 << 0 // message: never shortened
	flagMuted = 1 << 1 // message: wakes nobody
	flagRedo  = 1 << 0 // frame: a redo list follows the records
)

var (
	errDamaged  = errors.New("persistence: bytes fail their checks")
	errVersion  = errors.New("persistence: unknown version of an encoding")
	errTooLarge = errors.New("persistence: a field is too large to be encoded")
)

// corruptRecord is the error of every read that meets bytes it cannot trust.
func corruptRecord(what string, detail map[string]any) *hub.Error {
	return hub.NewError(hub.CodeCorruptRecord, "the store holds "+what+" that fails its checks").WithDetail(detail).
		WithFix("stop the hub and restore its store from a backup")
}

// seal fills in version and CRC in the sealSize bytes that b keeps free at start.
// The CRC covers salt and all that follows it.
func seal(b []byte, start int, version byte, salt ...[]byte) []byte {
	b[start] = version
	binary.BigEndian.PutUint32(b[start+1:], checksum(b[start+5:], salt...))
	return b
}

const sealSize = 5

// unseal checks version and CRC and returns what follows.
func unseal(b []byte, version byte, salt ...[]byte) ([]byte, error) {
	if len(b) < sealSize {
		return nil, errDamaged
	}
	if binary.BigEndian.Uint32(b[1:]) != checksum(b[sealSize:], salt...) {
		return nil, errDamaged
	}
	if b[0] != version {
		return nil, errVersion
	}
	return b[sealSize:], nil
}

func checksum(b []byte, salt ...[]byte) uint32 {
	var c uint32
	for _, s := range salt {
		c = crc32.Update(c, castagnoli, s)
	}
	return crc32.Update(c, castagnoli, b)
}

// encoder appends; a field that does not fit its length makes it fail once.
type encoder struct {
	b   []byte
	err error
}

func (e *encoder) u8(v byte)    { e.b = append(e.b, v) }
func (e *encoder) u16(v uint16) { e.b = binary.BigEndian.AppendUint16(e.b, v) }
func (e *encoder) u64(v uint64) { e.b = binary.BigEndian.AppendUint64(e.b, v) }

func (e *encoder) count(n int) {
	if n < 0 || n > math.MaxInt32 {
		e.err = errTooLarge
		n = 0
	}
	e.b = binary.BigEndian.AppendUint32(e.b, uint32(n))
}

func (e *encoder) str(s string) {
	if len(s) > math.MaxUint16 {
		e.err = errTooLarge
		s = ""
	}
	e.u16(uint16(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) bytes(p []byte) {
	e.count(len(p))
	e.b = append(e.b, p...)
}

// decoder reads; after the first field that is not there all are zero and bad is
// set. What it returns aliases its input.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.b) {
		d.bad = true
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) u8() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (d *decoder) u16() uint16 {
	if p := d.take(2); p != nil {
		return binary.BigEndian.Uint16(p)
	}
	return 0
}

func (d *decoder) u32() uint32 {
	if p := d.take(4); p != nil {
		return binary.BigEndian.Uint32(p)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if p := d.take(8); p != nil {
		return binary.BigEndian.Uint64(p)
	}
	return 0
}

// count reads a length and fails if it cannot be one: each of what it counts
// takes at least size bytes.
func (d *decoder) count(size int) int {
	n := d.u32()
	if n > math.MaxInt32 || int64(n)*int64(size) > int64(len(d.b)) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) str() string   { return string(d.take(int(d.u16()))) }
func (d *decoder) bytes() []byte { return d.take(d.count(1)) }

// done reports whether everything was there and nothing is left.
func (d *decoder) done() bool { return !d.bad && len(d.b) == 0 }

// appendMessage appends the envelope of a message row and its JSON.
func appendMessage(b []byte, m *core.StoredMessage) ([]byte, error) {
	start := len(b)
	e := encoder{b: append(b, make([]byte, sealSize)...)}
	e.u64(uint64(m.ID))
	e.u64(uint64(m.TS))
	e.u8(messageFlags(m))
	e.str(string(m.From))
	e.str(string(m.To))
	e.str(string(m.Channel))
	e.str(string(m.Thread))
	e.str(string(m.Kind))
	e.count(m.BodyStart)
	e.count(m.BodyEnd)
	e.count(m.BodyChars)
	e.b = append(e.b, m.JSON...)
	if e.err == nil && (m.BodyStart > m.BodyEnd || m.BodyEnd > len(m.JSON)) {
		e.err = fmt.Errorf("persistence: body offsets %d and %d do not lie in a row of %d bytes", m.BodyStart, m.BodyEnd, len(m.JSON))
	}
	return seal(e.b, start, messageVersion), e.err
}

func messageFlags(m *core.StoredMessage) byte {
	return flagByte(m.Whole)*flagWhole | flagByte(m.Muted)*flagMuted
}

// decodeMessage reads a message row. Its JSON aliases b.
func decodeMessage(b []byte) (m core.StoredMessage, err error) {
	if b, err = unseal(b, messageVersion); err != nil {
		return m, err
	}
	d := decoder{b: b}
	m.ID, m.TS = hub.MessageID(d.u64()), hub.Time(d.u64())
	flags := d.u8()
	m.Whole, m.Muted = flags&flagWhole != 0, flags&flagMuted != 0
	m.From, m.To = hub.AgentID(d.str()), hub.AgentID(d.str())
	m.Channel, m.Thread, m.Kind = hub.ChannelName(d.str()), hub.ThreadID(d.str()), hub.Kind(d.str())
	m.BodyStart, m.BodyEnd, m.BodyChars = int(d.u32()), int(d.u32()), int(d.u32())
	m.JSON = d.b
	if d.bad || flags&^byte(flagWhole|flagMuted) != 0 || m.BodyChars > math.MaxInt32 || m.BodyStart > m.BodyEnd || m.BodyEnd > len(m.JSON) {
		return core.StoredMessage{}, errDamaged
	}
	return m, nil
}

// appendRecord appends a record without its rows.
func appendRecord(b []byte, r *core.Record) ([]byte, error) {
	start := len(b)
	e := encoder{b: append(b, make([]byte, sealSize+4)...)}
	e.u64(uint64(r.Seq))
	e.u8(byte(r.Owner.Kind))
	e.str(r.Owner.Name)
	e.u64(uint64(r.HubMS))
	e.u64(uint64(r.Wall))
	e.u64(uint64(r.FirstMessage))
	e.count(r.MessageCount)
	e.u64(uint64(r.FirstFence))
	e.count(r.FenceCount)
	e.count(len(r.Facts))
	for _, f := range r.Facts {
		e.u16(uint16(f.Type))
		e.bytes(f.Data)
	}
	size := len(e.b) - start - sealSize - 4
	if size > math.MaxInt32 {
		e.err = errTooLarge
		size = 0
	}
	binary.BigEndian.PutUint32(e.b[start+sealSize:], uint32(size))
	return seal(e.b, start, recordVersion), e.err
}

// nextRecord reads one record off the front of b and returns the rest. The data
// of its facts aliases b.
func nextRecord(b []byte) (r *core.Record, rest []byte, err error) {
	if len(b) < sealSize+4 {
		return nil, nil, errDamaged
	}
	size := int64(binary.BigEndian.Uint32(b[sealSize:]))
	if size > int64(len(b)-sealSize-4) {
		return nil, nil, errDamaged
	}
	end := sealSize + 4 + int(size)
	body, err := unseal(b[:end], recordVersion)
	if err != nil {
		return nil, nil, err
	}
	d := decoder{b: body[4:]}
	r = &core.Record{Seq: hub.Seq(d.u64()), Owner: core.Owner{Kind: core.OwnerKind(d.u8()), Name: d.str()}}
	r.HubMS, r.Wall = int64(d.u64()), hub.Time(d.u64())
	r.FirstMessage, r.MessageCount = hub.MessageID(d.u64()), int(d.u32())
	r.FirstFence, r.FenceCount = hub.Fence(d.u64()), int(d.u32())
	if n := d.count(6); n > 0 {
		r.Facts = make([]core.EncodedFact, n)
	}
	for i := range r.Facts {
		r.Facts[i] = core.EncodedFact{Type: core.FactType(d.u16()), Data: d.bytes()}
	}
	if !d.done() || r.MessageCount > math.MaxInt32 || r.FenceCount > math.MaxInt32 {
		return nil, nil, errDamaged
	}
	return r, b[end:], nil
}

// entry is one key and value of a redo list. expires is Unix seconds, 0 never.
type entry struct {
	key, value []byte
	expires    uint64
}

// appendFrame appends the frame of records, which follow each other, with redo
// if it is not nil.
func appendFrame(b []byte, records []*core.Record, redo []entry) ([]byte, error) {
	start := len(b)
	e := encoder{b: append(b, make([]byte, sealSize)...)}
	e.u8(flagByte(redo != nil) * flagRedo)
	e.u64(uint64(records[0].Seq))
	e.count(len(records))
	for _, r := range records {
		var err error
		if e.b, err = appendRecord(e.b, r); err != nil {
			return nil, err
		}
	}
	if redo != nil {
		e.count(len(redo))
		for _, kv := range redo {
			e.bytes(kv.key)
			e.bytes(kv.value)
			e.u64(kv.expires)
		}
	}
	return seal(e.b, start, frameVersion), e.err
}

// frame is a decoded frame. Its contents alias the bytes it was decoded from.
type frame struct {
	records []*core.Record
	redo    []entry // nil: none
}

func (f *frame) first() hub.Seq     { return f.records[0].Seq }
func (f *frame) last() *core.Record { return f.records[len(f.records)-1] }

func decodeFrame(b []byte) (*frame, error) {
	b, err := unseal(b, frameVersion)
	if err != nil {
		return nil, err
	}
	d := decoder{b: b}
	flags, first := d.u8(), hub.Seq(d.u64())
	n := d.count(sealSize + 4)
	if d.bad || n == 0 || flags&^byte(flagRedo) != 0 {
		return nil, errDamaged
	}
	f := &frame{records: make([]*core.Record, n)}
	for i := range f.records {
		if f.records[i], d.b, err = nextRecord(d.b); err != nil {
			return nil, err
		}
		if f.records[i].Seq != first+hub.Seq(i) {
			return nil, errDamaged
		}
	}
	if flags&flagRedo != 0 {
		f.redo = make([]entry, d.count(16))
		for i := range f.redo {
			f.redo[i] = entry{key: d.bytes(), value: d.bytes(), expires: d.u64()}
		}
	}
	if !d.done() {
		return nil, errDamaged
	}
	return f, nil
}

// encodeRow and decodeRow wrap an entity row; the CRC covers its key, so that a
// value under a wrong key is noticed.
func encodeRow(key, value []byte) []byte {
	b := make([]byte, sealSize, sealSize+len(value))
	return seal(append(b, value...), 0, rowVersion, key)
}

func decodeRow(key, b []byte) ([]byte, error) { return unseal(b, rowVersion, key) }

func encodeEffect(x *core.Effect) []byte {
	e := encoder{b: make([]byte, sealSize, sealSize+49+len(x.Answer))}
	e.u8(x.Kind)
	e.b = append(e.b, x.Body[:]...)
	e.u64(uint64(x.Seq))
	e.u64(uint64(x.At))
	e.b = append(e.b, x.Answer...)
	return seal(e.b, 0, effectVersion, x.Scope[:])
}

// decodeEffect reads an effect. Its answer aliases b.
func decodeEffect(scope [32]byte, b []byte) (*core.Effect, error) {
	b, err := unseal(b, effectVersion, scope[:])
	if err != nil {
		return nil, err
	}
	d := decoder{b: b}
	x := &core.Effect{Scope: scope, Kind: d.u8()}
	copy(x.Body[:], d.take(len(x.Body)))
	x.Seq, x.At = hub.Seq(d.u64()), hub.Time(d.u64())
	if d.bad {
		return nil, errDamaged
	}
	x.Answer = d.b
	return x, nil
}

// gap is a range of numbers that no record has: from to upto, and messages above
// lowMessage up to highMessage. --accept-truncated has given them up, or an import took them.
type gap struct {
	from, upto              hub.Seq
	lowMessage, highMessage hub.MessageID
}

func encodeGap(g gap) []byte {
	e := encoder{b: make([]byte, sealSize, sealSize+32)}
	e.u64(uint64(g.from))
	e.u64(uint64(g.upto))
	e.u64(uint64(g.lowMessage))
	e.u64(uint64(g.highMessage))
	return seal(e.b, 0, gapVersion)
}

func decodeGap(b []byte) (g gap, err error) {
	if b, err = unseal(b, gapVersion); err != nil {
		return g, err
	}
	d := decoder{b: b}
	g.from, g.upto = hub.Seq(d.u64()), hub.Seq(d.u64())
	g.lowMessage, g.highMessage = hub.MessageID(d.u64()), hub.MessageID(d.u64())
	if !d.done() || g.from > g.upto {
		return gap{}, errDamaged
	}
	return g, nil
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
