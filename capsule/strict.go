package capsule

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"

	"hubcli/hub"
)

// decode reads one JSON object into the struct that v points to. It is stricter than
// encoding/json: names match in their exact case and stand once, each member that is not
// optional stands there, an optional one is not empty, nothing is null, and a time has the
// one form of the hub. newer says that unknown members are ignored: a later version has
// written them. The error is a sentence without the place.
func decode(raw []byte, v any, newer bool) error {
	if err := checkText(raw); err != nil {
		return err
	}
	of := shapeOf(reflect.TypeOf(v).Elem())
	if len(raw) > boundedText { // its lists may be traps
		if !json.Valid(raw) {
			return errJSON
		}
		if err := of.checkWhole(raw, newer); err != nil {
			return err
		}
	}
	decoded := json.Unmarshal(raw, v)
	var syntax *json.SyntaxError
	if errors.As(decoded, &syntax) {
		return errJSON
	}
	if len(raw) <= boundedText {
		if err := of.checkWhole(raw, newer); err != nil {
			return err
		}
	}
	if decoded != nil {
		return fault("a member has a value of another type: " + reason(decoded))
	}
	return nil
}

const (
	// boundedText is how long a text may be, in bytes, that is decoded before its lists
	// are counted: three bytes may become an element of 200. It is checked afterward, so
	// that encoding/json reads it once only.
	boundedText = 64 << 10
	maxElements = 100_000 // of one list
)

// checkWhole checks an object that is a valid JSON text.
func (s *shape) checkWhole(raw []byte, newer bool) error {
	w := jsonWalk{data: raw}
	if w.peek() != '{' {
		return fault("it is no JSON object")
	}
	return s.check(&w, newer)
}

// fault is what is wrong with a line.
type fault string

func (f fault) Error() string { return string(f) }

// reason names the member of which encoding/json complains.
func reason(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return wrong.Field + " is no " + wrong.Type.Kind().String()
	}
	return "it cannot be read"
}

// shape says which members an object has. A shape without members is that of a value which
// is looked at as a whole: any JSON in a json.RawMessage, or a map.
type shape struct {
	members map[string]*shapeMember
	folded  map[string]string // the lower case of each name: the name
	needed  uint64            // the bits of members that are not optional
}

// shapeMember is one member of a shape.
type shapeMember struct {
	name     string
	bit      uint64 // its own in the shape
	inner    *shape // of an object, or of the objects of a list; nil: a plain value
	optional bool
	zero     bool // its zero value says something else than its absence
	time     bool
	anything bool // any JSON
}

var shapes sync.Map // reflect.Type: *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{members: map[string]*shapeMember{}, folded: map[string]string{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		m := &shapeMember{name: name, bit: 1 << i, optional: strings.Contains(options, "omitempty")}
		of := f.Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && of != rawMessage {
			of = of.Elem()
		}
		switch {
		case of == rawMessage || of.Kind() == reflect.Map:
			m.anything = true
		case of == timeType:
			m.time = true
		case f.Type.Kind() == reflect.Pointer && of.Kind() != reflect.Struct:
			m.zero = true
		case of.Kind() == reflect.Struct:
			m.inner = shapeOf(of)
		}
		s.members[name], s.folded[strings.ToLower(name)] = m, name
		if !m.optional {
			s.needed |= m.bit
		}
	}
	stored, _ := shapes.LoadOrStore(t, s)
	return stored.(*shape)
}

var (
	rawMessage = reflect.TypeFor[json.RawMessage]()
	timeType   = reflect.TypeFor[hub.Time]()
)

// check reads the object at the walk's position.
func (s *shape) check(w *jsonWalk, newer bool) error {
	w.pos++
	var unknown nameSet
	var seen uint64
	for w.next('}') {
		name, err := w.text()
		if err != nil {
			return err
		}
		m := s.members[string(name)]
		if m == nil {
			err = s.unknown(w, string(name), &unknown, newer)
			if err == nil {
				err = w.skip()
			}
		} else if seen&m.bit != 0 {
			err = errTwice
		} else {
			seen |= m.bit
			err = m.check(w, newer)
		}
		if err != nil {
			return err
		}
	}
	if seen&s.needed == s.needed {
		return nil
	}
	for name, m := range s.members {
		if m.bit&s.needed&^seen != 0 {
			return fault("the member " + name + " is missing")
		}
	}
	return nil
}

// unknown refuses a name that no capsule of this version has. A name that differs from a
// known one by its case alone is never ignored: programs would read it differently.
func (s *shape) unknown(w *jsonWalk, name string, names *nameSet, newer bool) error {
	if err := w.once(names, name); err != nil {
		return err
	}
	if known, ok := s.folded[strings.ToLower(name)]; ok {
		return fault("the member " + known + " is written in another case")
	}
	if !newer {
		return fault("it has a member that no capsule of this version has")
	}
	return nil
}

// check reads the value of a member.
func (m *shapeMember) check(w *jsonWalk, newer bool) error {
	c := w.peek()
	if c == 'n' {
		return fault("the member " + m.name + " is null")
	}
	if m.anything {
		return w.skip()
	}
	if m.optional && !m.zero && w.empty() {
		return fault("the optional member " + m.name + " is empty; it must be left out")
	}
	switch {
	case c == '{' && m.inner != nil:
		return m.inner.check(w, newer)
	case c == '[':
		w.pos++
		for n := 0; w.next(']'); n++ {
			if c := w.peek(); c == 'n' || c == '[' {
				return fault("the list " + m.name + " has an element of another type")
			}
			if n == maxElements {
				return fault("the list " + m.name + " is too long")
			}
			if err := m.check(w, newer); err != nil {
				return err
			}
		}
		return nil
	case c == '"' && m.time:
		text, err := w.text()
		if err != nil {
			return err
		}
		return checkTime(m.name, string(text))
	}
	return w.skip()
}

// checkTime refuses a time that is not in the form of the hub, which is the only one that
// gives the same bytes again.
func checkTime(name, text string) error {
	var t hub.Time
	quoted := `"` + text + `"`
	if len(text) != len("2006-01-02T15:04:05.000Z") || t.UnmarshalJSON([]byte(quoted)) != nil || string(t.AppendJSON(nil)) != quoted {
		return fault("the member " + name + " is no time such as 2006-01-02T15:04:05.000Z")
	}
	return nil
}

// empty reports whether an empty string, list or object, false or 0 comes next.
func (w *jsonWalk) empty() bool {
	w.peek()
	rest := w.data[w.pos:]
	switch rest[0] {
	case '"':
		return rest[1] == '"'
	case 'f':
		return true
	case '0':
		return len(rest) == 1 || !scalarByte()[rest[1]]
	case '[', '{':
		inner := jsonWalk{data: w.data, pos: w.pos + 1}
		return !inner.next(rest[0] + 2)
	}
	return false
}
