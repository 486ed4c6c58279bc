package files

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// backupPath returns the path of a backup, or "" if name is empty.
func (s *Store) backupPath(name string) string {
	if name == "" {
		return ""
	}
	return filepath.Join(s.dir, nameBackups, name)
}

// nextBackup returns the number of the next backup: one above the highest.
func (s *Store) nextBackup() (int, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, nameBackups))
	highest := 0
	for _, e := range entries {
		digits, _, _ := strings.Cut(e.Name(), "-")
		if n, err := strconv.Atoi(digits); err == nil {
			highest = max(highest, n)
		}
	}
	return highest + 1, err
}

// prune removes backups that the ledger does not name, except the newest. A
// failure only costs space.
func (s *Store) prune() {
	l, _, err := s.readLedger()
	if err != nil {
		return
	}
	named := map[string]bool{}
	for _, f := range l.Files {
		named[f.Original] = true
		for _, e := range f.Entries {
			named[e.Backup] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, nameBackups)) // sorted by name, so by number
	if err != nil {
		return
	}
	var unused []string
	for _, e := range entries {
		if !named[e.Name()] {
			unused = append(unused, e.Name())
		}
	}
	for len(unused) > keepUnused {
		_ = s.removeOwn(filepath.Join(nameBackups, unused[0]))
		unused = unused[1:]
	}
}
