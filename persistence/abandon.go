package persistence

import (
	"os"
	"path/filepath"
	"slices"

	"hubcli/persistence/storedir"
)

// abandon ends a start that was refused, and leaves the folder as it was before as far as the
// first half of the start has come.
func (s *Store) abandon() {
	if s.gate != nil {
		s.gate.close()
	}
	if s.rest != nil {
		s.rest.close()
	}
	if s.db != nil {
		_ = s.db.Close()
		s.db = nil
	}
	if s.head != nil {
		_ = s.head.F.Close()
	}
	st := s.start
	if st != nil {
		s.closePreview()
		if st.fresh {
			s.unmake()
		}
	}
	if s.lock != nil {
		s.lock.Undo()
	}
	if st == nil {
		return
	}
	for _, dir := range st.folders {
		_ = os.Remove(dir) // stays if something is in it
	}
	if st.fresh || len(st.folders) > 0 {
		for _, back := range st.times {
			back()
		}
	}
}

// unmake removes what a start has put into the folder of a store that it could not make.
func (s *Store) unmake() {
	if s.start.before == nil {
		return
	}
	names := []string{storedir.NameFormat, storedir.NameHead, storedir.NameKey, storedir.NameToken, storedir.NameMaker, storedir.NameBallast, storedir.NameCheckpoints, storedir.NameBadger}
	names = slices.DeleteFunc(names, func(name string) bool { return s.start.before[name] })
	for _, name := range names {
		_ = os.RemoveAll(filepath.Join(s.dir, name))
	}
	_ = os.Chmod(s.dir, s.start.mode)
}
