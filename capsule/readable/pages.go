package readable

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Sink takes the files of a rendering.
type Sink interface {
	// Append adds data to the file of this name, which the first call makes. Names are
	// relative, with slashes, and safe on every system; no two differ in case alone. The
	// sink does not keep data.
	Append(name string, data []byte) error
}

// spoolBytes is how much is gathered before it goes to the sink. Rooms are written side by
// side, so that the lines of tasks are read once, however many rooms there are.
const spoolBytes = 4 << 20

// A spool gathers what is appended to files.
type spool struct {
	sink    Sink
	pending map[string][]byte
	size    int
}

func (s *spool) add(name, text string) error {
	if s.pending == nil {
		s.pending = map[string][]byte{}
	}
	s.pending[name] = append(s.pending[name], text...)
	if s.size += len(text); s.size < spoolBytes {
		return nil
	}
	return s.flush()
}

// flush hands over everything, file by file.
func (s *spool) flush() error {
	for _, name := range slices.Sorted(maps.Keys(s.pending)) {
		if err := s.sink.Append(name, s.pending[name]); err != nil {
			return err
		}
	}
	clear(s.pending)
	s.size = 0
	return nil
}

// pageBytes is the size from which on a page is continued on the next one. What programs
// show of Markdown ends at a megabyte or less.
const pageBytes = 512 << 10

// A book is one document on as many pages as it needs.
type book struct {
	spool  *spool
	folder *folder
	dir    string // of the pages, with its slash; empty: the top
	stem   string
	title  string // escaped
	name   string // of the page
	page   int
	size   int
	head   string // the heading that the next page repeats
}

// newBook begins a document. The stem is safe.
func newBook(s *spool, f *folder, dir, stem, title string) *book {
	b := &book{spool: s, folder: f, dir: dir, stem: stem, title: title, page: 1}
	b.name = f.free(stem, ".md")
	return b
}

// path is the path of the page, from the top.
func (b *book) path() string { return b.dir + b.name }

// add puts a block on the page, or on the next one if the page is full.
func (b *book) add(block string) error {
	if b.size > 0 && b.size+len(block) > pageBytes {
		if err := b.turn(); err != nil {
			return err
		}
	}
	return b.write(block)
}

// section begins a part of the document, which later pages name too.
func (b *book) section(heading string) error {
	b.head = ""
	if err := b.add("\n" + heading + "\n"); err != nil {
		return err
	}
	b.head = heading
	return nil
}

func (b *book) write(text string) error {
	if b.size == 0 {
		text = "# " + b.title + "\n" + text
	}
	b.size += len(text)
	return b.spool.add(b.path(), text)
}

// turn ends the page and begins the next one. They name each other.
func (b *book) turn() error {
	before := b.name
	b.page++
	b.name = b.folder.free(b.stem+"-"+strconv.Itoa(b.page), ".md")
	if err := b.spool.add(b.dir+before, "\nContinued in ["+b.name+"]("+b.name+").\n"); err != nil {
		return err
	}
	b.size = 0
	var text strings.Builder
	text.WriteString("\nPage " + strconv.Itoa(b.page) + ", continued from [" + before + "](" + before + ").\n")
	if b.head != "" {
		text.WriteString("\n" + b.head + "\n")
	}
	return b.write(text.String())
}
