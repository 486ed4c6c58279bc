package edit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Format is the syntax of a document.
type Format string

// The formats.
const (
	JSON     Format = "json"     // comments and trailing commas are accepted, and kept
	TOML     Format = "toml"     // entries stand in marked blocks at the end
	YAML     Format = "yaml"     // block style on the way to the entry
	Markdown Format = "markdown" // a block between two comments
	Shell    Format = "shell"    // a script of a shell, with a block between two comments
	Whole    Format = "whole"    // the whole file is the entry
)

// Text reports whether an entry of the format is a text, not a value of JSON.
func (f Format) Text() bool { return f == Markdown || f == Shell || f == Whole }

// Limits of a document that is edited.
const (
	maxDocument = 16 << 20 // bytes; the largest known file, ~/.claude.json, has some MB
	maxText     = 2 << 20  // bytes of a document in another format than JSON
	maxDepth    = 200      // brackets within brackets
	maxValues   = 400_000  // members and elements; each takes about 200 bytes when parsed
)

// Pointer names the place of an entry.
type Pointer struct {
	// Keys lead from the root to the entry; a key may hold dots. A block
	// of Markdown or Shell has one key, its name; a Whole file has none.
	Keys []string `json:"keys,omitempty"`
	// Mark makes the entry an element of the list at Keys: the one in which any
	// string contains Mark. Other people's elements stay where they are.
	Mark string `json:"mark,omitempty"`
	// Exact narrows Mark to the element that is this very string. So a rule such
	// as mcp__hub is not taken for another that begins with it.
	Exact bool `json:"exact,omitempty"`
	// Apart names a member of the entry, an object, that is no part of it: Get and
	// Canonical leave it out, Replace carries it over, and Remove takes it along.
	// Others may change it, and it may hold entries of its own.
	Apart string `json:"apart,omitempty"`
}

// Same reports whether both pointers name one place. Apart does not count.
func (p Pointer) Same(q Pointer) bool {
	return slices.Equal(p.Keys, q.Keys) && p.Mark == q.Mark && p.Exact == q.Exact
}

// part returns the tree of an entry without the member that is apart.
func (p Pointer) part(tree any) any {
	object, ok := tree.(map[string]any)
	if _, there := object[p.Apart]; !ok || p.Apart == "" || !there {
		return tree
	}
	rest := maps.Clone(object)
	delete(rest, p.Apart)
	return rest
}

// marks reports whether a string in an element makes it the pointer's element.
// alone says that the string is the whole element.
func (p Pointer) marks(s string, alone bool) bool {
	if p.Exact {
		return alone && s == p.Mark
	}
	return strings.Contains(s, p.Mark)
}

// String is for messages: keys joined with slashes.
func (p Pointer) String() string {
	s := strings.Join(p.Keys, "/")
	if p.Mark != "" {
		s += "[" + p.Mark + "]"
	}
	if s == "" {
		return "the whole file"
	}
	return s
}

// Trace tells Remove about an Insert, so that Remove is its exact inverse. It
// is stored as JSON. With the zero Trace, Remove removes only the entry.
type Trace struct {
	// Parents counts the objects, lists and documents around the entry that
	// Insert made. Remove takes out those of them that become empty.
	Parents int `json:"parents,omitempty"`
	// Space is the blank text that Insert replaced; Remove puts it back. In a script it is
	// the line end that Insert added to the only line; Remove takes it out.
	Space string `json:"space,omitempty"`
}

// Insert puts value at a place and leaves every other byte unchanged. value is
// encoded by encoding/json, with members in that order (a string for the formats
// of text). If an equal entry is there already, Insert returns the document
// unchanged and a zero Trace. If a different one is there, the Refusal's reason
// is Exists. An absent or empty document is nil.
func Insert(f Format, doc []byte, at Pointer, value any) ([]byte, Trace, error) {
	e, err := open(f, doc, at)
	if err != nil {
		return nil, Trace{}, err
	}
	v, err := newEntry(f, value, at)
	if err != nil {
		return nil, Trace{}, err
	}
	if have, found := lookup(e.tree(), at); found {
		if reflect.DeepEqual(at.part(have), v.tree) {
			return doc, Trace{}, nil
		}
		return nil, Trace{}, refuse(Exists, "there is another %s already", at)
	}
	want, err := set(e.tree(), at, v.tree)
	if err != nil {
		return nil, Trace{}, err
	}
	out, trace, err := e.insert(v)
	if err != nil {
		return nil, Trace{}, err
	}
	if err := same(f, out, at, want); err != nil {
		return nil, Trace{}, err
	}
	return out, trace, nil
}

// Replace replaces the entry with value, but for the member that is apart. If there is no entry, the Refusal's
// reason is Absent.
func Replace(f Format, doc []byte, at Pointer, value any) ([]byte, error) {
	e, err := open(f, doc, at)
	if err != nil {
		return nil, err
	}
	v, err := newEntry(f, value, at)
	if err != nil {
		return nil, err
	}
	have, found := lookup(e.tree(), at)
	if !found {
		return nil, refuse(Absent, "there is no %s", at)
	}
	if reflect.DeepEqual(at.part(have), v.tree) {
		return doc, nil
	}
	if err := v.carry(at, have); err != nil {
		return nil, err
	}
	want, err := set(e.tree(), at, v.tree)
	if err != nil {
		return nil, err
	}
	out, err := e.replace(v)
	if err != nil {
		return nil, err
	}
	return out, same(f, out, at, want)
}

// Remove takes the entry out, and the parents that Insert made for it if they
// become empty. If there is no entry, the Refusal's reason is Absent. If
// nothing remains, the result is empty, not nil.
func Remove(f Format, doc []byte, at Pointer, trace Trace) ([]byte, error) {
	e, err := open(f, doc, at)
	if err != nil {
		return nil, err
	}
	if _, found := lookup(e.tree(), at); !found {
		return nil, refuse(Absent, "there is no %s", at)
	}
	out, err := e.remove(trace)
	if err != nil {
		return nil, err
	}
	// A parent with comments stays although its tree is empty.
	parents := trace.Parents
	if f == TOML { // outer tables have no text of their own
		parents = len(at.Keys)
	}
	for ; ; parents-- {
		want := unset(e.tree(), at, parents)
		if err = same(f, out, at, want); err == nil || parents <= 0 {
			return out, err
		}
	}
}

// Get reads the entry in its canonical form: JSON with sorted members and no
// blanks, whatever the format, and without the member that is apart.
func Get(f Format, doc []byte, at Pointer) (canonical []byte, found bool, err error) {
	e, err := open(f, doc, at)
	if err != nil {
		return nil, false, err
	}
	have, found := lookup(e.tree(), at)
	if !found {
		return nil, false, nil
	}
	canonical, err = canonicalOf(at.part(have))
	return canonical, err == nil, err
}

// Canonical returns the canonical form of a value, as Get returns it for an
// entry.
func Canonical(f Format, at Pointer, value any) ([]byte, error) {
	v, err := newEntry(f, value, at)
	if err != nil {
		return nil, err
	}
	return canonicalOf(v.tree)
}

// Hash returns the SHA-256 of b, in hexadecimal.
func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// editor is a parsed document of one format with a place in it.
type editor interface {
	tree() any // the document's values; never changed
	insert(v *entry) ([]byte, Trace, error)
	replace(v *entry) ([]byte, error)
	remove(trace Trace) ([]byte, error)
}

// open parses a document.
func open(f Format, doc []byte, at Pointer) (editor, error) {
	limit := maxText
	if f == JSON {
		limit = maxDocument
	}
	if len(doc) > limit {
		return nil, refuse(TooLarge, "the file has %d bytes, more than %d", len(doc), limit)
	}
	if f != Whole {
		if err := checkText(doc); err != nil {
			return nil, err
		}
	}
	if slices.Contains(at.Keys, "") || len(at.Keys) == 0 && f != Whole {
		return nil, fmt.Errorf("edit: %v is no place in a %s document", at, f)
	}
	switch f {
	case JSON:
		return openJSON(doc, at)
	case TOML:
		return openTOML(doc, at)
	case YAML:
		return openYAML(doc, at)
	case Markdown:
		return openMarkdown(doc, at)
	case Shell:
		return openShell(doc, at)
	case Whole:
		return wholeDoc{doc}, nil
	default:
		return nil, fmt.Errorf("edit: unknown format %q", f)
	}
}

// checkText refuses a document that is not UTF-8 text.
func checkText(doc []byte) error {
	if i := bytes.IndexByte(doc, 0); i >= 0 {
		return refuseAt(doc, i, Unparsable, "there is a zero byte; the file is no UTF-8 text")
	}
	for i := 0; i < len(doc); {
		r, n := utf8.DecodeRune(doc[i:])
		if r == utf8.RuneError && n == 1 {
			return refuseAt(doc, i, Unparsable, "the file is no UTF-8 text")
		}
		i += n
	}
	return nil
}

// same parses a result and compares it with the wanted tree.
func same(f Format, out []byte, at Pointer, want any) error {
	e, err := open(f, out, at)
	if err != nil {
		return refuse(Unsafe, "the edited file would not parse (%v); nothing was changed", err)
	}
	if !reflect.DeepEqual(e.tree(), want) {
		return refuse(Unsafe, "the edited file would differ in more than %s; nothing was changed", at)
	}
	return nil
}

// entry is a value to be written: its JSON text, in the order given, and its tree.
type entry struct {
	text json.RawMessage
	tree any
	// carried is the text of the last member as a JSON document has it, with its
	// comments and line breaks; nil: the member is written like the others.
	carried []byte
}

func newEntry(f Format, value any, at Pointer) (*entry, error) {
	if f.Text() {
		s, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("edit: the value of a %s entry is a string, not %T", f, value)
		}
		return &entry{tree: s}, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("edit: value of %v: %w", at, err)
	}
	text := bytes.TrimSpace(b.Bytes())
	e, err := parseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("edit: value of %v: %w", at, err)
	}
	if at.Mark != "" && !marked(e.content, at, true) {
		return nil, fmt.Errorf("edit: value of %v does not hold its mark", at)
	}
	if !reflect.DeepEqual(at.part(e.content), e.content) {
		return nil, fmt.Errorf("edit: value of %v holds %q, which is apart", at, at.Apart)
	}
	return &entry{text: text, tree: e.content}, nil
}

// carry adds the member that is apart, as the present entry has it, behind the
// others.
func (v *entry) carry(at Pointer, have any) error {
	old, _ := have.(map[string]any)
	apart, there := old[at.Apart]
	object, ok := v.tree.(map[string]any)
	if at.Apart == "" || !there || !ok {
		return nil
	}
	more, err := canonicalOf(map[string]any{at.Apart: apart})
	if err != nil {
		return err
	}
	text := bytes.TrimSuffix(slices.Clone(v.text), []byte("}"))
	if len(object) > 0 {
		text = append(text, ',')
	}
	tree := maps.Clone(object)
	tree[at.Apart] = apart
	v.text, v.tree = append(text, more[1:]...), tree
	return nil
}
