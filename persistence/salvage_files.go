package persistence

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// outside reads the files of the damaged store beside its database. None of them must
// be there.
func (v *salvager) outside() error {
	if err := v.marker(); err != nil {
		return err
	}
	names, err := diskFS{}.ReadDir(filepath.Join(v.from, nameBadger))
	if err != nil {
		v.tell(hub.StoreDamage{File: nameBadger, Reason: plainReason(err)})
	}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(v.from, nameBadger, name)); err == nil && info.Mode().IsRegular() {
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
	m, err := Inspect(v.from)
	switch {
	case err == nil:
		v.out.Instance, v.format = m.InstanceID, m.Format
		return nil
	case errors.Is(err, ErrNewerFormat):
		return err
	}
	info, derr := os.Stat(filepath.Join(v.from, nameBadger))
	if derr != nil || !info.IsDir() {
		return err // nothing shows that this is a store
	}
	v.format = LatestFormat() // it is not known what the store holds
	v.tell(hub.StoreDamage{File: nameFormat, Reason: cause(err)})
	return nil
}

// cause is the reason in a start error, without what the reader knows already.
func cause(err error) string {
	var e *StartError
	if errors.As(err, &e) && e.Err != nil {
		return plainReason(e.Err)
	}
	return plainReason(err)
}

func (v *salvager) secret() {
	b, err := osfile.ReadSmall(filepath.Join(v.from, nameKey), 4096)
	if err == nil && (len(b) != secretSize+4 || binary.BigEndian.Uint32(b[secretSize:]) != crc32.Checksum(b[:secretSize], castagnoli)) {
		err = errors.New("it fails its checksum")
	}
	if err == nil {
		v.key = b[:secretSize]
		return
	}
	v.tell(hub.StoreDamage{File: nameKey, Reason: plainReason(err)})
	v.note("the secret key is lost and the new store has another: sessions, resume keys and codes of invites are no longer good, so agents register anew")
	v.key = randomBytes(secretSize)
}

func (v *salvager) head() {
	b, err := osfile.ReadSmall(filepath.Join(v.from, nameHead), 1<<20)
	found, best := false, uint64(0)
	for slot := range 2 {
		at := slot * headSlotGap
		if at+headSlotSize > len(b) {
			continue
		}
		if counter, m, ok := decodeMark(b[at : at+headSlotSize]); ok && (!found || counter > best) {
			found, best, v.mark = true, counter, m
		}
	}
	if found {
		return
	}
	if err == nil {
		err = errors.New("it fails its checksum")
	}
	v.tell(hub.StoreDamage{File: nameHead, Reason: plainReason(err)})
	v.note("HEAD is lost, so it is not known how far the journal reached: records at its very end may be missing without being listed")
}

// checkpoint finds the newest one that passes its checks.
func (v *salvager) checkpoint() error {
	s := &Store{dir: v.from, fs: diskFS{}}
	seqs, err := s.checkpoints()
	if err != nil {
		v.tell(hub.StoreDamage{File: nameCheckpoints, Reason: plainReason(err)})
	}
	for _, seq := range seqs {
		name := nameCheckpoints + "/" + checkpointName(seq)
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
		v.tell(hub.StoreDamage{File: name, Reason: plainReason(err)})
	}
	return nil
}
