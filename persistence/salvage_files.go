package persistence

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// outside reads the files of the damaged store beside its database. None of them must
// be there.
func (v *salvager) outside() error {
	if err := v.marker(); err != nil {
		return err
	}
	names, err := storedir.DiskFS{}.ReadDir(filepath.Join(v.from, storedir.NameBadger))
	if err != nil {
		v.tell(hub.StoreDamage{File: storedir.NameBadger, Reason: badgerfile.PlainReason(err)})
	}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(v.from, storedir.NameBadger, name)); err == nil && info.Mode().IsRegular() {
			v.size += info.Size()
		}
	}
	v.secret()
	v.head()
	return v.checkpoint()
}

// marker reads FORMAT. A store of a later format may hold what this program would
// leave out without a word.
func (v *salvager) marker() error {
	m, err := storedir.Inspect(v.from)
	switch {
	case err == nil:
		v.out.Instance, v.format = m.InstanceID, m.Format
		return nil
	case errors.Is(err, storedir.ErrNewerFormat):
		return err
	}
	info, derr := os.Stat(filepath.Join(v.from, storedir.NameBadger))
	if derr != nil || !info.IsDir() {
		return err // nothing shows that this is a store
	}
	v.format = storedir.LatestFormat() // it is not known what the store holds
	v.tell(hub.StoreDamage{File: storedir.NameFormat, Reason: cause(err)})
	return nil
}

// cause is the reason in a start error, without what the reader knows already.
func cause(err error) string {
	var e *storedir.StartError
	if errors.As(err, &e) && e.Err != nil {
		return badgerfile.PlainReason(e.Err)
	}
	return badgerfile.PlainReason(err)
}

func (v *salvager) secret() {
	b, err := osfile.ReadSmall(filepath.Join(v.from, storedir.NameKey), 4096)
	if err == nil && (len(b) != storedir.SecretSize+4 || binary.BigEndian.Uint32(b[storedir.SecretSize:]) != crc32.Checksum(b[:storedir.SecretSize], codec.Castagnoli)) {
		err = errors.New("it fails its checksum")
	}
	if err == nil {
		v.key = b[:storedir.SecretSize]
		return
	}
	v.tell(hub.StoreDamage{File: storedir.NameKey, Reason: badgerfile.PlainReason(err)})
	v.note("the secret key is lost and the new store has another: sessions, resume keys and codes of invites are no longer good, so agents register anew")
	v.key = storedir.RandomBytes(storedir.SecretSize)
}

func (v *salvager) head() {
	b, err := osfile.ReadSmall(filepath.Join(v.from, storedir.NameHead), 1<<20)
	found, best := false, uint64(0)
	for slot := range 2 {
		at := slot * storedir.HeadSlotGap
		if at+storedir.HeadSlotSize > len(b) {
			continue
		}
		if counter, m, ok := storedir.DecodeMark(b[at : at+storedir.HeadSlotSize]); ok && (!found || counter > best) {
			found, best, v.mark = true, counter, m
		}
	}
	if found {
		return
	}
	if err == nil {
		err = errors.New("it fails its checksum")
	}
	v.tell(hub.StoreDamage{File: storedir.NameHead, Reason: badgerfile.PlainReason(err)})
	v.note("HEAD is lost, so it is not known how far the journal reached: records at its very end may be missing without being listed")
}

// checkpoint finds the newest one that passes its checks.
func (v *salvager) checkpoint() error {
	s := &Store{dir: v.from, fs: storedir.DiskFS{}}
	seqs, err := s.checkpoints()
	if err != nil {
		v.tell(hub.StoreDamage{File: storedir.NameCheckpoints, Reason: badgerfile.PlainReason(err)})
	}
	for _, seq := range seqs {
		name := storedir.NameCheckpoints + "/" + checkpointName(seq)
		b, err := osfile.ReadSmall(filepath.Join(s.checkpointDir(), checkpointName(seq)), maxCheckpoint)
		if err == nil {
			c, derr := decodeCheckpoint(b)
			if err = derr; err == nil && c.Head.Seq == seq {
				v.point = b
				return nil
			}
			if err == nil {
				err = errors.New("it is another checkpoint than its name says")
			}
		}
		v.tell(hub.StoreDamage{File: name, Reason: badgerfile.PlainReason(err)})
	}
	return nil
}
