package engine

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Bounds of what an archive may hold. The archives of Linux have 274 MB unpacked.
const (
	mostExpanded = 1 << 30
	mostEntries  = 10_000
	mostName     = 255
)

// bundle is an archive whose entries have been checked.
type bundle struct {
	dirs  []string // relative to the top folder, parents first
	files []entry
	size  int64 // of all files
}

type entry struct {
	name string // relative to the top folder
	file *zip.File
	mode fs.FileMode
}

// readBundle checks all entries of an archive before anything is written: they are plain
// files and folders in the one folder that the pin names, with plain names, and together
// not too large.
func readBundle(r io.ReaderAt, size int64, p *Pin) (*bundle, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("it is no zip archive: %w", err)
	}
	if len(z.File) > mostEntries {
		return nil, fmt.Errorf("it has %d entries, more than %d", len(z.File), mostEntries)
	}
	b := &bundle{}
	seen := map[string]bool{} // names in lower case; true: a folder
	for _, f := range z.File {
		if err := b.take(f, p.top(), seen); err != nil {
			return nil, fmt.Errorf("its entry %.100q %w", f.Name, err)
		}
	}
	if folder, ok := seen[p.file()]; !ok || folder {
		return nil, fmt.Errorf("it has no %s/%s", p.top(), p.file())
	}
	return b, nil
}

// take checks one entry and adds it.
func (b *bundle) take(f *zip.File, top string, seen map[string]bool) error {
	name, folder := strings.CutSuffix(f.Name, "/")
	if err := plainName(name); err != nil {
		return err
	}
	if name == top && folder {
		return nil
	}
	name, inside := strings.CutPrefix(name, top+"/")
	mode := f.Mode()
	switch {
	case !inside:
		return fmt.Errorf("is not in the folder %s", top)
	case folder && !mode.IsDir() || !folder && !mode.IsRegular():
		return errors.New("is neither a plain file nor a folder")
	case strings.EqualFold(name, receiptName):
		return errors.New("has the name of the hub's own note")
	case f.Flags&0x1 != 0:
		return errors.New("is encrypted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("is packed with the unknown method %d", f.Method)
	case f.UncompressedSize64 > uint64(mostExpanded-b.size):
		return fmt.Errorf("makes the archive larger than %d MiB", mostExpanded>>20)
	}
	if err := b.addParents(path.Dir(name), seen); err != nil {
		return err
	}
	if folder {
		return b.addParents(name, seen)
	}
	key := strings.ToLower(name)
	if _, ok := seen[key]; ok {
		return errors.New("is there twice, or differs from another in upper and lower case only")
	}
	seen[key] = false
	b.size += int64(f.UncompressedSize64)
	b.files = append(b.files, entry{name: name, file: f, mode: mode.Perm() & 0o755})
	return nil
}

// addParents adds a folder and those above it.
func (b *bundle) addParents(dir string, seen map[string]bool) error {
	if dir == "." {
		return nil
	}
	if err := b.addParents(path.Dir(dir), seen); err != nil {
		return err
	}
	key := strings.ToLower(dir)
	switch folder, ok := seen[key]; {
	case !ok:
		seen[key] = true
		b.dirs = append(b.dirs, dir)
	case !folder:
		return errors.New("is in a folder that is also a file")
	}
	return nil
}

// plainName refuses a name that means something else on some system.
func plainName(name string) error {
	if name == "" || len(name) > mostName || path.Clean(name) != name || path.IsAbs(name) {
		return errors.New("has no plain relative name")
	}
	for part := range strings.SplitSeq(name, "/") {
		base, _, _ := strings.Cut(part, ".")
		switch {
		case part == "..":
			return errors.New("leads out of its folder")
		case strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`\:*?"<>|`, r) }):
			return errors.New("has a character in its name that not every system allows")
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || deviceName(base):
			return errors.New("has a name that Windows reads as another")
		}
	}
	return nil
}

// deviceName reports whether Windows takes a name for a device.
func deviceName(name string) bool {
	name = strings.ToUpper(strings.TrimSpace(name))
	switch name {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")) && name[3] >= '0' && name[3] <= '9'
}

// unpack writes an archive into an empty folder. Nothing in it is durable yet.
func (b *bundle) unpack(ctx context.Context, root *os.Root, report func(done, total int64)) error {
	for _, dir := range b.dirs {
		if err := root.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	done := int64(0)
	for _, e := range b.files {
		if err := e.write(ctx, root); err != nil {
			return err
		}
		done += int64(e.file.UncompressedSize64)
		report(done, b.size)
	}
	return nil
}

// write unpacks one file, which must not be there, and makes it durable. It is exactly as
// long as the archive says.
func (e *entry) write(ctx context.Context, root *os.Root) (err error) {
	from, err := e.file.Open()
	if err != nil {
		return damaged(e.name, err)
	}
	defer from.Close()
	to, err := root.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, e.mode|0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = to.Sync()
		}
		if closed := to.Close(); err == nil {
			err = closed
		}
	}()
	size := int64(e.file.UncompressedSize64)
	w := &failing{w: to}
	n, err := io.Copy(w, &untilDone{ctx, io.LimitReader(from, size+1)})
	switch {
	case w.err != nil:
		return w.err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return damaged(e.name, err)
	case n != size:
		return damaged(e.name, errors.New("it is not as long as the archive says"))
	}
	return nil
}

func damaged(name string, err error) error {
	return fmt.Errorf("its entry %.100q cannot be unpacked: %w", name, err)
}

// failing remembers that it was the writer that failed, not the reader.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if err != nil {
		f.err = err
	}
	return n, err
}

// untilDone is a reader that ends with a context.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilDone) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(b)
}
