package codec

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

// Castagnoli is the polynomial of all checksums of a store.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Versions of the encodings. They are part of the store's format.
const (
	FrameVersion   = 1
	RecordVersion  = 1
	MessageVersion = 1
	BlockVersion   = 1
	IndexVersion   = 1
	RowVersion     = 1
	EffectVersion  = 1
	GapVersion     = 1
)

const (
	flagWhole = 1 << 0 // message: never shortened
	flagMuted = 1 << 1 // message: wakes nobody
	flagRedo  = 1 << 0 // frame: a redo list follows the records
)

// Why bytes are not taken.
var (
	ErrDamaged  = errors.New("persistence: bytes fail their checks")
	ErrVersion  = errors.New("persistence: unknown version of an encoding")
	ErrTooLarge = errors.New("persistence: a field is too large to be encoded")
)

// CorruptRecord is the error of every read that meets bytes it cannot trust.
func CorruptRecord(what string, detail map[string]any) *hub.Error {
	return hub.NewError(hub.CodeCorruptRecord, "the store holds "+what+" that fails its checks").WithDetail(detail).
		WithFix("stop the hub and restore its store from a backup")
}

// Seal fills in version and CRC in the sealSize bytes that b keeps free at start.
// The CRC covers salt and all that follows it.
func Seal(b []byte, start int, version byte, salt ...[]byte) []byte {
	b[start] = version
	binary.BigEndian.PutUint32(b[start+1:], Checksum(b[start+5:], salt...))
	return b
}

// SealSize is the bytes that a seal takes: version and checksum.
const SealSize = 5

// Unseal checks version and CRC and returns what follows.
func Unseal(b []byte, version byte, salt ...[]byte) ([]byte, error) {
	if len(b) < SealSize {
		return nil, ErrDamaged
	}
	if binary.BigEndian.Uint32(b[1:]) != Checksum(b[SealSize:], salt...) {
		return nil, ErrDamaged
	}
	if b[0] != version {
		return nil, ErrVersion
	}
	return b[SealSize:], nil
}

// Checksum returns the CRC-32C of salt and b.
func Checksum(b []byte, salt ...[]byte) uint32 {
	var c uint32
	for _, s := range salt {
		c = crc32.Update(c, Castagnoli, s)
	}
	return crc32.Update(c, Castagnoli, b)
}

// Encoder appends; a field that does not fit its length makes it fail once.
type Encoder struct {
	B   []byte
	Err error
}

// U8 appends a byte.
func (e *Encoder) U8(v byte) { e.B = append(e.B, v) }

// U16 appends a number of two bytes, big endian.
func (e *Encoder) U16(v uint16) { e.B = binary.BigEndian.AppendUint16(e.B, v) }

// U64 appends a number of eight bytes, big endian.
func (e *Encoder) U64(v uint64) { e.B = binary.BigEndian.AppendUint64(e.B, v) }

// Count appends a number of things or of bytes, which has four bytes.
func (e *Encoder) Count(n int) {
	if n < 0 || n > math.MaxInt32 {
		e.Err = ErrTooLarge
		n = 0
	}
	e.B = binary.BigEndian.AppendUint32(e.B, uint32(n))
}

// Str appends a text of at most 65,535 bytes behind its length.
func (e *Encoder) Str(s string) {
	if len(s) > math.MaxUint16 {
		e.Err = ErrTooLarge
		s = ""
	}
	e.U16(uint16(len(s)))
	e.B = append(e.B, s...)
}

// Bytes appends bytes behind their number.
func (e *Encoder) Bytes(p []byte) {
	e.Count(len(p))
	e.B = append(e.B, p...)
}

// Decoder reads; after the first field that is not there all are zero and bad is
// set. What it returns aliases its input.
type Decoder struct {
	B   []byte
	Bad bool
}

// Take reads the next n bytes.
func (d *Decoder) Take(n int) []byte {
	if d.Bad || n < 0 || n > len(d.B) {
		d.Bad = true
		return nil
	}
	p := d.B[:n:n]
	d.B = d.B[n:]
	return p
}

// U8 reads a byte.
func (d *Decoder) U8() byte {
	if p := d.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// U16 reads what Encoder.U16 has written.
func (d *Decoder) U16() uint16 {
	if p := d.Take(2); p != nil {
		return binary.BigEndian.Uint16(p)
	}
	return 0
}

func (d *Decoder) u32() uint32 {
	if p := d.Take(4); p != nil {
		return binary.BigEndian.Uint32(p)
	}
	return 0
}

// U64 reads what Encoder.U64 has written.
func (d *Decoder) U64() uint64 {
	if p := d.Take(8); p != nil {
		return binary.BigEndian.Uint64(p)
	}
	return 0
}

// Count reads a length and fails if it cannot be one: each of what it counts
// takes at least size bytes.
func (d *Decoder) Count(size int) int {
	n := d.u32()
	if n > math.MaxInt32 || int64(n)*int64(size) > int64(len(d.B)) {
		d.Bad = true
		return 0
	}
	return int(n)
}

// Str reads what Encoder.Str has written.
func (d *Decoder) Str() string { return string(d.Take(int(d.U16()))) }

// Bytes reads what Encoder.Bytes has written.
func (d *Decoder) Bytes() []byte { return d.Take(d.Count(1)) }

// Done reports whether everything was there and nothing is left.
func (d *Decoder) Done() bool { return !d.Bad && len(d.B) == 0 }

// AppendMessage appends the envelope of a message row and its JSON.
func AppendMessage(b []byte, m *core.StoredMessage) ([]byte, error) {
	start := len(b)
	e := Encoder{B: append(b, make([]byte, SealSize)...)}
	e.U64(uint64(m.ID))
	e.U64(uint64(m.TS))
	e.U8(MessageFlags(m))
	e.Str(string(m.From))
	e.Str(string(m.To))
	e.Str(string(m.Channel))
	e.Str(string(m.Thread))
	e.Str(string(m.Kind))
	e.Count(m.BodyStart)
	e.Count(m.BodyEnd)
	e.Count(m.BodyChars)
	e.B = append(e.B, m.JSON...)
	if e.Err == nil && (m.BodyStart > m.BodyEnd || m.BodyEnd > len(m.JSON)) {
		e.Err = fmt.Errorf("persistence: body offsets %d and %d do not lie in a row of %d bytes", m.BodyStart, m.BodyEnd, len(m.JSON))
	}
	return Seal(e.B, start, MessageVersion), e.Err
}

// MessageFlags returns the flags of a message.
func MessageFlags(m *core.StoredMessage) byte {
	return FlagByte(m.Whole)*flagWhole | FlagByte(m.Muted)*flagMuted
}

// DecodeMessage reads a message row. Its JSON aliases b.
func DecodeMessage(b []byte) (m core.StoredMessage, err error) {
	if b, err = Unseal(b, MessageVersion); err != nil {
		return m, err
	}
	d := Decoder{B: b}
	m.ID, m.TS = hub.MessageID(d.U64()), hub.Time(d.U64())
	flags := d.U8()
	m.Whole, m.Muted = flags&flagWhole != 0, flags&flagMuted != 0
	m.From, m.To = hub.AgentID(d.Str()), hub.AgentID(d.Str())
	m.Channel, m.Thread, m.Kind = hub.ChannelName(d.Str()), hub.ThreadID(d.Str()), hub.Kind(d.Str())
	m.BodyStart, m.BodyEnd, m.BodyChars = int(d.u32()), int(d.u32()), int(d.u32())
	m.JSON = d.B
	if d.Bad || flags&^byte(flagWhole|flagMuted) != 0 || m.BodyChars > math.MaxInt32 || m.BodyStart > m.BodyEnd || m.BodyEnd > len(m.JSON) {
		return core.StoredMessage{}, ErrDamaged
	}
	return m, nil
}

// AppendRecord appends a record without its rows.
func AppendRecord(b []byte, r *core.Record) ([]byte, error) {
	start := len(b)
	e := Encoder{B: append(b, make([]byte, SealSize+4)...)}
	e.U64(uint64(r.Seq))
	e.U8(byte(r.Owner.Kind))
	e.Str(r.Owner.Name)
	e.U64(uint64(r.HubMS))
	e.U64(uint64(r.Wall))
	e.U64(uint64(r.FirstMessage))
	e.Count(r.MessageCount)
	e.U64(uint64(r.FirstFence))
	e.Count(r.FenceCount)
	e.Count(len(r.Facts))
	for _, f := range r.Facts {
		e.U16(uint16(f.Type))
		e.Bytes(f.Data)
	}
	size := len(e.B) - start - SealSize - 4
	if size > math.MaxInt32 {
		e.Err = ErrTooLarge
		size = 0
	}
	binary.BigEndian.PutUint32(e.B[start+SealSize:], uint32(size))
	return Seal(e.B, start, RecordVersion), e.Err
}

// nextRecord reads one record off the front of b and returns the rest. The data
// of its facts aliases b.
func nextRecord(b []byte) (r *core.Record, rest []byte, err error) {
	if len(b) < SealSize+4 {
		return nil, nil, ErrDamaged
	}
	size := int64(binary.BigEndian.Uint32(b[SealSize:]))
	if size > int64(len(b)-SealSize-4) {
		return nil, nil, ErrDamaged
	}
	end := SealSize + 4 + int(size)
	body, err := Unseal(b[:end], RecordVersion)
	if err != nil {
		return nil, nil, err
	}
	d := Decoder{B: body[4:]}
	r = &core.Record{Seq: hub.Seq(d.U64()), Owner: core.Owner{Kind: core.OwnerKind(d.U8()), Name: d.Str()}}
	r.HubMS, r.Wall = int64(d.U64()), hub.Time(d.U64())
	r.FirstMessage, r.MessageCount = hub.MessageID(d.U64()), int(d.u32())
	r.FirstFence, r.FenceCount = hub.Fence(d.U64()), int(d.u32())
	if n := d.Count(6); n > 0 {
		r.Facts = make([]core.EncodedFact, n)
	}
	for i := range r.Facts {
		r.Facts[i] = core.EncodedFact{Type: core.FactType(d.U16()), Data: d.Bytes()}
	}
	if !d.Done() || r.MessageCount > math.MaxInt32 || r.FenceCount > math.MaxInt32 {
		return nil, nil, ErrDamaged
	}
	return r, b[end:], nil
}

// Entry is one key and value of a redo list. expires is Unix seconds, 0 never.
type Entry struct {
	Key, Value []byte
	Expires    uint64
}

// AppendFrame appends the frame of records, which follow each other, with redo
// if it is not nil.
func AppendFrame(b []byte, records []*core.Record, redo []Entry) ([]byte, error) {
	start := len(b)
	e := Encoder{B: append(b, make([]byte, SealSize)...)}
	e.U8(FlagByte(redo != nil) * flagRedo)
	e.U64(uint64(records[0].Seq))
	e.Count(len(records))
	for _, r := range records {
		var err error
		if e.B, err = AppendRecord(e.B, r); err != nil {
			return nil, err
		}
	}
	if redo != nil {
		e.Count(len(redo))
		for _, kv := range redo {
			e.Bytes(kv.Key)
			e.Bytes(kv.Value)
			e.U64(kv.Expires)
		}
	}
	return Seal(e.B, start, FrameVersion), e.Err
}

// Frame is a decoded frame. Its contents alias the bytes it was decoded from.
type Frame struct {
	Records []*core.Record
	Redo    []Entry // nil: none
}

// First returns the first record of the frame.
func (f *Frame) First() hub.Seq { return f.Records[0].Seq }

// Last returns the last one.
func (f *Frame) Last() *core.Record { return f.Records[len(f.Records)-1] }

// DecodeFrame returns the frame that a value holds. Errors: ErrDamaged, ErrVersion.
func DecodeFrame(b []byte) (*Frame, error) {
	b, err := Unseal(b, FrameVersion)
	if err != nil {
		return nil, err
	}
	d := Decoder{B: b}
	flags, first := d.U8(), hub.Seq(d.U64())
	n := d.Count(SealSize + 4)
	if d.Bad || n == 0 || flags&^byte(flagRedo) != 0 {
		return nil, ErrDamaged
	}
	f := &Frame{Records: make([]*core.Record, n)}
	for i := range f.Records {
		if f.Records[i], d.B, err = nextRecord(d.B); err != nil {
			return nil, err
		}
		if f.Records[i].Seq != first+hub.Seq(i) {
			return nil, ErrDamaged
		}
	}
	if flags&flagRedo != 0 {
		f.Redo = make([]Entry, d.Count(16))
		for i := range f.Redo {
			f.Redo[i] = Entry{Key: d.Bytes(), Value: d.Bytes(), Expires: d.U64()}
		}
	}
	if !d.Done() {
		return nil, ErrDamaged
	}
	return f, nil
}

// EncodeRow and decodeRow wrap an entity row; the CRC covers its key, so that a
// value under a wrong key is noticed.
func EncodeRow(key, value []byte) []byte {
	b := make([]byte, SealSize, SealSize+len(value))
	return Seal(append(b, value...), 0, RowVersion, key)
}

// DecodeRow returns the value of an entity row. Errors: ErrDamaged, ErrVersion.
func DecodeRow(key, b []byte) ([]byte, error) { return Unseal(b, RowVersion, key) }

// EncodeEffect renders the stored answer of a write.
func EncodeEffect(x *core.Effect) []byte {
	e := Encoder{B: make([]byte, SealSize, SealSize+49+len(x.Answer))}
	e.U8(x.Kind)
	e.B = append(e.B, x.Body[:]...)
	e.U64(uint64(x.Seq))
	e.U64(uint64(x.At))
	e.B = append(e.B, x.Answer...)
	return Seal(e.B, 0, EffectVersion, x.Scope[:])
}

// DecodeEffect reads an effect. Its answer aliases b.
func DecodeEffect(scope [32]byte, b []byte) (*core.Effect, error) {
	b, err := Unseal(b, EffectVersion, scope[:])
	if err != nil {
		return nil, err
	}
	d := Decoder{B: b}
	x := &core.Effect{Scope: scope, Kind: d.U8()}
	copy(x.Body[:], d.Take(len(x.Body)))
	x.Seq, x.At = hub.Seq(d.U64()), hub.Time(d.U64())
	if d.Bad {
		return nil, ErrDamaged
	}
	x.Answer = d.B
	return x, nil
}

// Gap is a range of numbers that no record has: from to upto, and messages above
// lowMessage up to highMessage. --accept-truncated has given them up, or an import took them.
type Gap struct {
	From, Upto              hub.Seq
	LowMessage, HighMessage hub.MessageID
}

// EncodeGap renders a gap of the journal.
func EncodeGap(g Gap) []byte {
	e := Encoder{B: make([]byte, SealSize, SealSize+32)}
	e.U64(uint64(g.From))
	e.U64(uint64(g.Upto))
	e.U64(uint64(g.LowMessage))
	e.U64(uint64(g.HighMessage))
	return Seal(e.B, 0, GapVersion)
}

// DecodeGap is its inverse. Errors: ErrDamaged, ErrVersion.
func DecodeGap(b []byte) (g Gap, err error) {
	if b, err = Unseal(b, GapVersion); err != nil {
		return g, err
	}
	d := Decoder{B: b}
	g.From, g.Upto = hub.Seq(d.U64()), hub.Seq(d.U64())
	g.LowMessage, g.HighMessage = hub.MessageID(d.U64()), hub.MessageID(d.U64())
	if !d.Done() || g.From > g.Upto {
		return Gap{}, ErrDamaged
	}
	return g, nil
}

// IsEOF reports whether a read met the end of its input.
func IsEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// FlagByte returns flag if set, else 0.
func FlagByte(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// Cost returns what Badger counts for an entry toward the limit of a
// transaction.
func (e *Entry) Cost() int64 {
	if len(e.Value) < ValueThreshold {
		return int64(len(e.Key) + len(e.Value) + 12)
	}
	return int64(len(e.Key) + 24)
}

// AsImport returns the gap as the owner of projects knows it.
func (g Gap) AsImport() core.Gap {
	return core.Gap{FromSeq: g.From, UptoSeq: g.Upto, FromMessage: g.LowMessage + 1, UptoMessage: g.HighMessage}
}
