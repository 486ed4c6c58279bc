package persistence

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

// Examined says how whole a store is.
type Examined struct {
	Refused  error // why a start would refuse it, a *StartError; nil: it starts
	Damaged  []hub.StoreDamage
	Messages int64 // that are whole
	Missing  []hub.NumberRange
}

// Examine reads all of a store that no process has open, as far as it can be read, and
// changes nothing. It needs no space on the disk. Errors: a *StartError if there is no
// store that could be examined, ErrNoStore, ErrLocked.
func Examine(dir string) (Examined, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Examined{}, storedir.IOError("resolving the path", err)
	}
	lock, err := lockUnchanged(dir)
	if err != nil {
		return Examined{}, err
	}
	defer lock.Close()
	v := &salvager{from: dir, damage: map[hub.StoreDamage]bool{}}
	if err := v.outside(); err != nil {
		return Examined{}, err
	}
	x := &examiner{v: v}
	raw := badgerfile.NewRawReader(filepath.Join(dir, storedir.NameBadger))
	defer raw.Close()
	raw.Take, raw.Reaches, raw.AsStart = x.take, v.mark.LastFrame, true
	if d, err := badgerfile.VerifyDatabase(raw.Dir, v.mark.Clean); err == nil && d.Torn != nil {
		raw.Without = d.Torn.Ts
	}
	if err := raw.Listed(); err != nil {
		return Examined{}, err
	}
	for _, d := range raw.Damaged {
		v.tell(d)
	}
	out := Examined{}
	out.Messages, out.Missing = x.missing(x.messages)
	_, unlisted := x.missing(x.blocks)
	out.Refused = x.refused(unlisted)
	for _, r := range out.Missing {
		v.tell(hub.StoreDamage{File: storedir.NameBadger, Reason: fmt.Sprintf("%s missing", numbered("message", r))})
	}
	out.Damaged = v.out.Damaged
	return out, nil
}

func numbered(what string, r hub.NumberRange) string {
	if r.First == r.Last {
		return fmt.Sprintf("%s %d is", what, r.First)
	}
	return fmt.Sprintf("%ss %d to %d are", what, r.First, r.Last)
}

// examiner collects what a start would look at.
type examiner struct {
	v        *salvager
	blocks   []span // of messages, above low up to upto
	messages []span // that are whole
	frames   []span // of records, in the same form
	gaps     []codec.Gap
}

func (x *examiner) take(p badgerfile.RawPair) error {
	if p.Deleted {
		return nil
	}
	switch {
	case bytes.HasPrefix(p.Key, []byte(codec.PrefixMessage)):
		k, err := codec.DecodeBlock(p.Key, p.Value)
		if err != nil {
			return nil // entry has told of the file
		}
		x.blocks = joined(x.blocks, span{k.First - 1, k.Last()})
		if k.Check() == nil {
			x.messages = joined(x.messages, span{k.First - 1, k.Last()})
			return nil
		}
		for _, run := range badgerfile.WholeRuns(p.Key, p.Value) {
			if k, err := codec.DecodeBlock(run.Key, run.Value); err == nil {
				x.messages = joined(x.messages, span{k.First - 1, k.Last()})
			}
		}
	case bytes.HasPrefix(p.Key, []byte(codec.PrefixFrame)):
		if f, err := codec.DecodeFrame(p.Value); err == nil {
			x.frames = joined(x.frames, span{hub.MessageID(f.First() - 1), hub.MessageID(f.Last().Seq)})
		}
	case bytes.HasPrefix(p.Key, []byte(codec.PrefixGap)):
		if g, err := codec.DecodeGap(p.Value); err == nil {
			x.gaps = append(x.gaps, g)
		}
	}
	return nil
}

// joined adds s to a list, whose last entry it continues as a rule.
func joined(list []span, s span) []span {
	if n := len(list); n > 0 && list[n-1].upto == s.low {
		list[n-1].upto = s.upto
		return list
	}
	return append(list, s)
}

// missing returns how many messages of a list are there, and the ranges that are not.
func (x *examiner) missing(list []span) (there int64, ranges []hub.NumberRange) {
	slices.SortFunc(list, func(a, b span) int { return int(int64(a.low) - int64(b.low)) })
	upto := hub.MessageID(0) // everything up to here has been looked at
	lack := func(end hub.MessageID) {
		_ = lacking(x.gaps, upto+1, end, func(first, last hub.MessageID) error {
			ranges = listed(ranges, int64(first), int64(last))
			return nil
		})
	}
	for _, s := range list {
		lack(s.low)
		if s.upto > upto {
			there += int64(s.upto - max(s.low, upto))
			upto = s.upto
		}
	}
	point, _ := x.point()
	lack(max(x.v.mark.Message, point.Message))
	return there, ranges
}

func (x *examiner) point() (core.Head, bool) {
	if x.v.point == nil {
		return core.Head{}, false
	}
	c, err := decodeCheckpoint(x.v.point) // it has been checked
	if err != nil {
		return core.Head{}, false
	}
	return c.Head, true
}

// refused says why a start would refuse the store. The order is that of a start.
func (x *examiner) refused(missing []hub.NumberRange) error {
	v := x.v
	if _, err := storedir.Inspect(v.from); err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(v.from, storedir.NameLock)); err == nil && !info.Mode().IsRegular() {
		return storedir.IOError("opening "+storedir.NameLock, osfile.ErrNotRegular)
	}
	if _, err := storedir.ReadToken(storedir.DiskFS{}, v.from); err != nil {
		return err
	}
	if reason := v.lost(storedir.NameKey); reason != "" {
		return storedir.Corrupt("its key file cannot be used: "+reason, nil)
	}
	if v.lost(storedir.NameHead) != "" {
		return headLost(nil)
	}
	if _, err := verifyReach(filepath.Join(v.from, storedir.NameBadger), v.mark); err != nil {
		return err
	}
	point, has := x.point()
	end, first := point.Seq, hub.Seq(0)
	slices.SortFunc(x.frames, func(a, b span) int { return int(int64(a.low) - int64(b.low)) })
	if len(x.frames) > 0 {
		first = hub.Seq(x.frames[0].low) + 1
	}
	for _, f := range x.frames {
		end = max(end, hub.Seq(f.upto))
	}
	if end = aboveRecords(x.gaps, end+1) - 1; end < v.mark.Seq {
		return truncated(v.mark.Seq, end)
	}
	if !has && first > aboveRecords(x.gaps, 1) {
		return storedir.Corrupt("none of its checkpoints passes its checks, and the journal begins with record "+fmt.Sprint(first), nil)
	}
	head := max(v.mark.Message, point.Message)
	for _, r := range missing {
		if hub.MessageID(r.Last) > head-densityChecked {
			return storedir.Corrupt(numbered("message", r)+" missing from it", nil)
		}
	}
	want := aboveRecords(x.gaps, point.Seq+1)
	for _, f := range x.frames {
		if hub.Seq(f.low) >= want {
			return storedir.Corrupt(fmt.Sprintf("record %d is missing from its journal", want), nil)
		}
		if hub.Seq(f.upto) >= want {
			want = aboveRecords(x.gaps, hub.Seq(f.upto)+1)
		}
	}
	return nil
}

// lost returns what is wrong with a file beside the database, or nothing.
func (v *salvager) lost(name string) string {
	for _, d := range v.out.Damaged {
		if d.File == name {
			return d.Reason
		}
	}
	return ""
}
