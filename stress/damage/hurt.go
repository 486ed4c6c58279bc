package damage

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// kinds of damage, in turn.
var kinds = []string{"flip", "blank", "truncate", "delete", "duplicate", "swap", "old"}

// copyStore copies a store with its holes: the database's files are mostly holes.
func copyStore(from, to string) error {
	if out, err := exec.Command("cp", "-a", "--sparse=always", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return nil
}

// storeFiles lists the files of a store that it cannot do without, by name.
func storeFiles(store string) (names []string, err error) {
	err = filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(store, path) // it lies below
		if err == nil && d.IsDir() && rel == "search" {
			return filepath.SkipDir // it can be made anew
		}
		if err == nil && d.Type().IsRegular() && rel != "ballast" && rel != "LOCK" { // a killed hub leaves its socket, too
			names = append(names, rel)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// listing sums up the files of a folder.
func listing(dir string) (string, error) {
	sum := sha256.New()
	names, err := storeFiles(dir)
	for _, name := range names {
		b, rerr := os.ReadFile(filepath.Join(dir, name))
		err = errors.Join(err, rerr)
		fmt.Fprintf(sum, "%s %d\n", name, len(b))
		_, _ = sum.Write(b)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// hurt damages one file of a store and says which and how.
func (r *run) hurt(store, kind string) (file, how string, err error) {
	names, err := storeFiles(store)
	if err != nil {
		return "", "", err
	}
	file = names[r.random.IntN(len(names))]
	path := filepath.Join(store, file)
	switch kind {
	case "delete":
		return file, "deleted", os.Remove(path)
	case "duplicate":
		to := r.another(file)
		return file, "duplicated as " + to, exec.Command("cp", "--sparse=always", path, filepath.Join(store, to)).Run()
	case "swap":
		names = slices.DeleteFunc(names, func(name string) bool { return name == file })
		other := names[r.random.IntN(len(names))]
		there := filepath.Join(store, other)
		return file, "swapped with " + other, errors.Join(os.Rename(path, path+"~"), os.Rename(there, path), os.Rename(path+"~", there))
	case "old":
		old, err := storeFiles(r.path("old"))
		if err != nil {
			return "", "", err
		}
		file = old[r.random.IntN(len(old))]
		return file, "as it was halfway", exec.Command("cp", "--sparse=always", filepath.Join(r.path("old"), file), filepath.Join(store, file)).Run()
	}
	how, err = r.spoil(path, kind)
	return file, how, err
}

// another is the name of a further file of the same kind.
func (r *run) another(file string) string {
	base := filepath.Base(file)
	digits, suffix, ok := strings.Cut(base, ".")
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return file + "-copy"
	}
	n := 0
	_, _ = fmt.Sscan(strings.TrimLeft(digits, "0"), &n)
	return filepath.Join(filepath.Dir(file), fmt.Sprintf("%0*d.%s", len(digits), n+1+r.random.IntN(40), suffix))
}

// spoil changes a file within its data, not in the hole behind it.
func (r *run) spoil(path, kind string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	size := len(bytes.TrimRight(b, "\x00"))
	if size == 0 {
		return "left as it is: it is blank", nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	at := int64(r.random.IntN(size))
	switch kind {
	case "flip":
		_, err = f.WriteAt([]byte{b[at] ^ 1<<r.random.IntN(8)}, at)
	case "blank":
		at &^= 4095
		_, err = f.WriteAt(make([]byte, min(4096, int64(len(b))-at)), at)
	default:
		err = f.Truncate(at)
	}
	return fmt.Sprintf("%s at byte %d of %d", kind, at, size), errors.Join(err, f.Close())
}
