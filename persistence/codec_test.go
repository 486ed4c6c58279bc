package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

func sampleFrame(tb testing.TB) []byte {
	tb.Helper()
	w := &conformance.Writer{}
	b, err := codec.AppendFrame(nil, []*core.Record{w.Post("general", "t", "x"), w.Record()},
		[]codec.Entry{{Key: []byte("m/1"), Value: []byte("v"), Expires: 9}, {Key: []byte("k"), Value: []byte{}}})
	require.NoError(tb, err)
	return b
}

// FuzzFrame: arbitrary bytes never panic, and what decodes encodes to the same
// bytes again.
func FuzzFrame(f *testing.F) {
	f.Add(sampleFrame(f)[codec.SealSize:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		_, _ = codec.DecodeFrame(payload)
		b := codec.Seal(append(make([]byte, codec.SealSize), payload...), 0, codec.FrameVersion) // past the checksum
		fr, err := codec.DecodeFrame(b)
		if err != nil {
			return
		}
		again, err := codec.AppendFrame(nil, fr.Records, fr.Redo)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%x encodes to %x, %v", b, again, err)
		}
	})
}

func FuzzMessage(f *testing.F) {
	w := &conformance.Writer{}
	b, err := codec.AppendMessage(nil, &w.Post("general", "t", "hello").Messages[0])
	require.NoError(f, err)
	f.Add(b[codec.SealSize:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		_, _ = codec.DecodeMessage(payload)
		b := codec.Seal(append(make([]byte, codec.SealSize), payload...), 0, codec.MessageVersion)
		m, err := codec.DecodeMessage(b)
		if err != nil {
			return
		}
		again, err := codec.AppendMessage(nil, &m)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%x encodes to %x, %v", b, again, err)
		}
	})
}

func sampleCheckpoint(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	require.NoError(tb, encodeCheckpoint(&b, &core.Checkpoint{
		Head: core.Head{Seq: 3, Message: 2, Fence: 1, HubMS: 5}, Wall: 7,
		Sections: []core.Section{{Owner: core.Owner{Kind: core.OwnerTasks}, Version: 1, Data: []byte("state")}},
	}))
	return b.Bytes()
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(sampleCheckpoint(f)[:len(sampleCheckpoint(f))-4])
	f.Fuzz(func(t *testing.T, payload []byte) {
		_, _ = decodeCheckpoint(payload)
		b := append(bytes.Clone(payload), 0, 0, 0, 0)
		sum := codec.Checksum(payload)
		b[len(b)-4], b[len(b)-3], b[len(b)-2], b[len(b)-1] = byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum)
		c, err := decodeCheckpoint(b)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := encodeCheckpoint(&again, c); err != nil || !bytes.Equal(again.Bytes(), b) {
			t.Errorf("%x encodes to %x, %v", b, again.Bytes(), err)
		}
		if point, err := checkWhole(bytes.NewReader(b), c); err != nil || point != c.Head {
			t.Errorf("checkWhole = %+v, %v", point, err)
		}
	})
}

// FuzzLogEntry: the reader of Badger's files never panics and never goes beyond
// its input.
func FuzzLogEntry(f *testing.F) {
	f.Add([]byte{0, 0, 19, 1, 0, 'k'})
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, ok := badgerfile.NextLogEntry(b); ok && e.Size > len(b) {
			t.Errorf("an entry of %d bytes in %d", e.Size, len(b))
		}
		w := badgerfile.WalState{Values: map[uint32]uint32{}}
		_ = w.Scan(b, true)
		_ = w.CheckValues(b, 1, badgerfile.IntactValues(b), true)
		w.Unsynced(b, 1, badgerfile.IntactValues(b))
	})
}

// TestValueLogIsNoWriteAheadFile: Badger takes the entries of a value log that has the name of
// a write-ahead file into its memtable, and ends the process when that is full.
func TestValueLogIsNoWriteAheadFile(t *testing.T) {
	entry := func(meta byte, key string, value []byte) []byte {
		b := []byte{meta, 0}
		for _, n := range []int{len(key) + 8, len(value), 0} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = binary.BigEndian.AppendUint64(append(b, key...), math.MaxUint64-7)
		b = append(b, value...)
		return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, codec.Castagnoli))
	}
	commit := slices.Concat(entry(badgerfile.MetaTxn, "k", []byte("v")), entry(badgerfile.MetaTxn|badgerfile.MetaFin, badgerfile.TxnKey, []byte("7")))
	for _, c := range []struct {
		name  string
		body  []byte
		whole bool
	}{
		{"commits", slices.Concat(commit, commit), true},
		{"a torn commit at the end", slices.Concat(commit, commit[:len(commit)-9], make([]byte, 64)), true},
		{"a value of a value log", entry(0, "k", []byte("v")), false},
		{"the same behind a commit", slices.Concat(commit, entry(0, "k", []byte("v"))), false},
	} {
		w := badgerfile.WalState{Values: map[uint32]uint32{}}
		if err := w.Scan(append(make([]byte, badgerfile.LogHeaderSize), c.body...), true); (err == nil) != c.whole {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestHeadersOfLogsAreChecked: a changed header of any log is noticed before Badger, which does
// not open it, and so the doctor names it, too.
func TestHeadersOfLogsAreChecked(t *testing.T) {
	names := []string{"00001.mem", "000001.vlog", "000002.vlog"}
	for _, bad := range append(names, "") {
		dir := t.TempDir()
		for _, name := range names {
			b := make([]byte, badgerfile.LogHeaderSize)
			if name == bad {
				b[4] = 4
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		}
		d := &badgerfile.Database{Dir: dir, Wal: badgerfile.WalState{Values: map[uint32]uint32{}}}
		err := d.VerifyLogs(true)
		if bad == "" && err != nil || bad != "" && (err == nil || !strings.Contains(err.Error(), bad)) {
			t.Errorf("damaged %q: %v", bad, err)
		}
	}
}

// decodeAll decodes every message of a block that begins with first.
func decodeAll(first hub.MessageID, b []byte) error {
	k, err := codec.DecodeBlock(codec.MessageKey(first), b)
	if err != nil {
		return err
	}
	for id := k.First; id <= k.Last(); id++ {
		if _, err := k.Message(id); err != nil {
			return err
		}
	}
	return nil
}

func FuzzBlock(f *testing.F) {
	w := &conformance.Writer{}
	message, err := codec.AppendMessage(nil, &w.Post("general", "t", "hello").Messages[0])
	require.NoError(f, err)
	f.Add(uint32(1), uint32(len(message)), message)
	f.Add(uint32(1<<30), uint32(5), []byte("x"))
	f.Fuzz(func(t *testing.T, count, end uint32, body []byte) {
		_ = decodeAll(1, body)
		k := codec.MessageBlock{First: 1, Ends: []uint32{end, count}, Body: body}
		_ = decodeAll(1, k.Seal(nil)) // past the checksum of the table
	})
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte{1, 200, 3})
	f.Fuzz(func(t *testing.T, payload []byte) {
		key := codec.IndexKey(codec.PrefixChannel, "c", 5)
		_, _ = codec.DecodeIndex(key, payload, nil)
		ids, err := codec.DecodeIndex(key, codec.Seal(append(make([]byte, codec.SealSize), payload...), 0, codec.IndexVersion, key), nil)
		if err == nil && !slices.IsSorted(ids) {
			t.Errorf("%x decodes to %v", payload, ids)
		}
	})
}

func FuzzMarker(f *testing.F) {
	f.Add(storedir.NewMarker().Encode())
	f.Add([]byte("hubcli store\nformat 2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := storedir.DecodeMarker(b, storedir.LatestFormat()); err == nil && !bytes.Equal(m.Encode(), b) {
			t.Errorf("%q decodes to %+v", b, m)
		}
	})
}

// TestEveryBitCounts: no single flipped bit of any encoding goes unnoticed.
func TestEveryBitCounts(t *testing.T) {
	w := &conformance.Writer{}
	message, err := codec.AppendMessage(nil, &w.Post("general", "t", "hello").Messages[0])
	require.NoError(t, err)
	effect := &core.Effect{Scope: [32]byte{1}, Seq: 4, Answer: []byte("a")}
	second, err := codec.AppendMessage(nil, &w.Post("general", "t", "again").Messages[0])
	require.NoError(t, err)
	k := codec.MessageBlock{First: 1, Ends: []uint32{uint32(len(message)), uint32(len(message) + len(second))}, Body: append(bytes.Clone(message), second...)}
	list := codec.IndexList{IndexName: codec.IndexName{Prefix: codec.PrefixChannel, Name: "general"}, Ids: []hub.MessageID{1, 2, 300}}
	encodings := map[string]struct {
		bytes  []byte
		decode func([]byte) error
	}{
		"block": {k.Seal(nil), func(b []byte) error { return decodeAll(1, b) }},
		"index": {list.Entry().Value, func(b []byte) error {
			if len(b) == 0 {
				return codec.ErrDamaged // an empty value is the index of one message
			}
			_, err := codec.DecodeIndex(list.Entry().Key, b, nil)
			return err
		}},
		"frame":      {sampleFrame(t), func(b []byte) error { _, err := codec.DecodeFrame(b); return err }},
		"message":    {message, func(b []byte) error { _, err := codec.DecodeMessage(b); return err }},
		"row":        {codec.EncodeRow([]byte("k"), []byte("value")), func(b []byte) error { _, err := codec.DecodeRow([]byte("k"), b); return err }},
		"empty row":  {codec.EncodeRow([]byte("k"), nil), func(b []byte) error { _, err := codec.DecodeRow([]byte("k"), b); return err }},
		"effect":     {codec.EncodeEffect(effect), func(b []byte) error { _, err := codec.DecodeEffect(effect.Scope, b); return err }},
		"gap":        {codec.EncodeGap(codec.Gap{From: 1, Upto: 2}), func(b []byte) error { _, err := codec.DecodeGap(b); return err }},
		"checkpoint": {sampleCheckpoint(t), func(b []byte) error { _, err := decodeCheckpoint(b); return err }},
		"marker":     {storedir.NewMarker().Encode(), func(b []byte) error { _, err := storedir.DecodeMarker(b, storedir.LatestFormat()); return err }},
		"mark": {storedir.EncodeMark(1, storedir.Mark{Head: core.Head{Seq: 3}}), func(b []byte) error {
			if _, _, ok := storedir.DecodeMark(b); !ok {
				return codec.ErrDamaged
			}
			return nil
		}},
	}
	for name, e := range encodings {
		t.Run(name, func(t *testing.T) {
			if err := e.decode(e.bytes); err != nil {
				t.Fatalf("decode: %v", err)
			}
			for bit := range 8 * len(e.bytes) {
				b := bytes.Clone(e.bytes)
				b[bit/8] ^= 1 << (bit % 8)
				if e.decode(b) == nil {
					t.Errorf("bit %d of %d flipped and nobody noticed", bit, 8*len(b))
				}
			}
			for n := range e.bytes {
				if e.decode(e.bytes[:n]) == nil {
					t.Errorf("cut to %d of %d bytes and nobody noticed", n, len(e.bytes))
				}
			}
		})
	}
	if _, err := codec.DecodeRow([]byte("other"), codec.EncodeRow([]byte("k"), []byte("value"))); err == nil {
		t.Error("a row under another's key was not noticed")
	}
	if _, err := codec.DecodeEffect([32]byte{2}, codec.EncodeEffect(effect)); err == nil {
		t.Error("an effect under another's scope was not noticed")
	}
}

func TestFrameRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[a-z/☃ ]{0,20}`)
	record := rapid.Custom(func(r *rapid.T) *core.Record {
		rec := &core.Record{
			Owner: core.Owner{Kind: core.OwnerKind(rapid.Uint8().Draw(r, "kind")), Name: text.Draw(r, "name")},
			HubMS: rapid.Int64().Draw(r, "hub ms"), Wall: hub.Time(rapid.Int64().Draw(r, "wall")),
			FirstMessage: hub.MessageID(rapid.Int64().Draw(r, "message")), MessageCount: rapid.IntRange(0, 1<<31-1).Draw(r, "messages"),
			FirstFence: hub.Fence(rapid.Int64().Draw(r, "fence")), FenceCount: rapid.IntRange(0, 1<<31-1).Draw(r, "fences"),
		}
		for range rapid.IntRange(0, 4).Draw(r, "facts") {
			rec.Facts = append(rec.Facts, core.EncodedFact{
				Type: core.FactType(rapid.Uint16().Draw(r, "type")),
				Data: rapid.SliceOf(rapid.Byte()).Draw(r, "data"),
			})
		}
		return rec
	})
	rapid.Check(t, func(r *rapid.T) {
		records := rapid.SliceOfN(record, 1, 5).Draw(r, "records")
		first := hub.Seq(rapid.Uint64Max(1<<60).Draw(r, "first"))
		for i, rec := range records {
			rec.Seq = first + hub.Seq(i)
		}
		b, err := codec.AppendFrame(nil, records, nil)
		require.NoError(r, err)
		f, err := codec.DecodeFrame(b)
		if err != nil || !reflect.DeepEqual(f.Records, records) || f.Redo != nil {
			r.Fatalf("%+v came back as %+v, %v", records, f, err)
		}
	})
}

func TestEncodersRefuseWhatDoesNotFit(t *testing.T) {
	long := strings.Repeat("n", 1<<16)
	if _, err := codec.AppendMessage(nil, &core.StoredMessage{Channel: hub.ChannelName(long)}); !errors.Is(err, codec.ErrTooLarge) {
		t.Errorf("a name of 64 KiB: %v", err)
	}
	if _, err := codec.AppendMessage(nil, &core.StoredMessage{BodyStart: 1, BodyEnd: 9, JSON: []byte("{}")}); err == nil {
		t.Error("body offsets beyond the row were accepted")
	}
	if _, err := codec.AppendRecord(nil, &core.Record{Owner: core.Owner{Name: long}}); !errors.Is(err, codec.ErrTooLarge) {
		t.Errorf("an owner's name of 64 KiB: %v", err)
	}
}
