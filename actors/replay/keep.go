package replay

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The states that are kept. A moment applies the records behind one, so they bound its
// time, which `stress bench --figures moments` measures. A large state is kept less often, so
// that the kept states take at most keptPerRecord bytes for each record.
const (
	keptEvery     = 5_000
	keptPerRecord = 200
	partBytes     = 256 << 10 // of one row
	maxKept       = 1 << 30   // more than any state has
)

// kept is a state that was kept, without what no moment shows.
type kept struct {
	Head     core.Head      `json:"head"`
	Wall     hub.Time       `json:"wall"`
	Sections []core.Section `json:"sections"`
}

// asOf is the first moment for which the state can be used: all of its sections are of
// records up to it.
func (k *kept) asOf() hub.Seq {
	last := k.Head.Seq
	for i := range k.Sections {
		last = max(last, k.Sections[i].AsOf)
	}
	return last
}

// Begin looks for the beginning of the history. A store of an earlier version has lost its
// first records; there the history begins with the state of its latest checkpoint.
func (r *Replay) Begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.journal.Records(0, func(*core.Record) error { return errEnough })
	if err == nil || errors.Is(err, errEnough) {
		r.begins = true // the first record is there, or will be
	}
	err = r.rows.RowsOf(core.TableMoment, nil, true, func(key, _ []byte) bool {
		r.lastKept = momentSeq(key)
		return false
	})
	if err != nil || r.begins {
		return err
	}
	if r.lastKept > 0 {
		return r.beginAtKept()
	}
	c, err := r.journal.Checkpoint()
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = r.keep(c)
	}
	if err != nil { // a full disk, say: the next checkpoint tries it again
		r.log.LogAttrs(context.Background(), slog.LevelWarn, "the history of rooms does not begin yet", slog.Any("error", err))
	}
	return nil
}

// beginAtKept begins the history with the first state that is kept.
func (r *Replay) beginAtKept() error {
	err := r.rows.RowsOf(core.TableMoment, nil, false, func(key, _ []byte) bool {
		r.from = momentSeq(key)
		return false
	})
	if err != nil {
		return err
	}
	k, err := r.before(r.from)
	if err == nil {
		r.begins, r.fromTS = true, k.Wall
	}
	return err
}

// Saving is told of each checkpoint before it is saved, and keeps its state if enough has
// happened since the last one.
func (r *Replay) Saving(c *core.Checkpoint) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropIdle()
	if r.begins && c.Head.Seq < r.lastKept+max(r.every, r.lastSize/keptPerRecord) {
		return nil
	}
	return r.keep(c)
}

// keep stores the state of a checkpoint. Its first part comes last and says how many there
// are, so that a state is whole or not there.
func (r *Replay) keep(c *core.Checkpoint) error {
	k := kept{Head: c.Head, Wall: c.Wall}
	for _, s := range c.Sections {
		if s.Owner.Kind == core.OwnerTasks || s.Owner.Kind == core.OwnerLeases {
			k.Sections = append(k.Sections, s)
		}
	}
	data, err := pack(&k)
	if err != nil {
		return err
	}
	at := k.asOf()
	var rows []core.Row
	for part := range slices.Chunk(data, partBytes) {
		rows = append(rows, core.Row{Table: core.TableMoment, Key: momentKey(at, uint32(len(rows))), Value: part})
	}
	rows[0].Value = append(binary.BigEndian.AppendUint32(nil, uint32(len(rows))), rows[0].Value...)
	slices.Reverse(rows)
	if err := r.journal.PutRows(rows); err != nil {
		return err
	}
	if !r.begins {
		r.begins, r.from, r.fromTS = true, at, c.Wall
	}
	r.lastKept, r.lastSize = at, hub.Seq(len(data))
	return nil
}

func pack(k *kept) ([]byte, error) {
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		err = json.NewEncoder(z).Encode(k)
	}
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

// before returns the latest state that can be used for a moment; an empty one if the
// history begins with the first record.
func (r *Replay) before(seq hub.Seq) (*kept, error) {
	for behind := momentKey(seq+1, 0); ; {
		var at hub.Seq
		found := false
		err := r.rows.RowsBehind(core.TableMoment, nil, behind, true, func(key, _ []byte) bool {
			at, found = momentSeq(key), true
			return false
		})
		if err != nil {
			return nil, err
		}
		if !found {
			return &kept{}, nil
		}
		k, err := r.read(at)
		if k != nil || err != nil {
			return k, err
		}
		behind = momentKey(at, 0)
	}
}

// read returns the state that was kept at seq, or nil if it was not kept whole.
func (r *Replay) read(seq hub.Seq) (*kept, error) {
	var data []byte
	parts, want := uint32(0), uint32(1)
	err := r.rows.RowsOf(core.TableMoment, core.SeqKey(seq), false, func(key, value []byte) bool {
		if binary.BigEndian.Uint32(key[8:]) != parts || parts == 0 && len(value) < 4 {
			return false
		}
		if parts == 0 {
			want, value = binary.BigEndian.Uint32(value), value[4:]
		}
		data = append(data, value...)
		parts++
		return parts < want
	})
	if err != nil || parts != want {
		return nil, err
	}
	var k kept
	z := io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxKept)
	if json.NewDecoder(z).Decode(&k) != nil {
		return nil, hub.NewError(hub.CodeCorruptRecord, "a kept state cannot be read").With("seq", seq)
	}
	return &k, nil
}

// momentKey is the key of a part of the state that was kept at seq.
func momentKey(seq hub.Seq, part uint32) []byte {
	return binary.BigEndian.AppendUint32(core.SeqKey(seq), part)
}

func momentSeq(key []byte) hub.Seq { return hub.Seq(binary.BigEndian.Uint64(key)) }
