package capsule

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

// decode reads one JSON object into the struct that v points to. It is stricter than
// encoding/json: names match in their exact case and stand once, each member that is not
// optional stands there, an optional one is not empty, nothing is null, and a time has the
// one form of the hub. newer says that unknown members are ignored: a later version has
// written them. The error is a sentence without the place.
//
// The text is read whole before encoding/json sees it: three bytes of a list may become an
// element of 200 in memory.
func decode(raw []byte, v any, newer bool) error {
	of := shapeOf(reflect.TypeOf(v).Elem())
	err := readJSON(raw, func(s *strictjson.Scanner) error {
		if s.Peek() == '{' {
			return of.check(s, newer)
		}
		if err := s.Pass(); err != nil {
			return err
		}
		return fault("it is no JSON object")
	})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fault("a member has a value of another type: " + reason(err))
	}
	return nil
}

const maxElements = 100_000 // of one list

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
	members []*shapeMember
	known   func(name []byte) int // the index of a member, or -1
	folded  map[string]string     // the lower case of each name: the name
	needed  uint64                // the bits of members that are not optional
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
	s, numbers := &shape{folded: map[string]string{}}, map[string]int{}
	s.known = func(name []byte) int {
		if n, ok := numbers[string(name)]; ok {
			return n
		}
		return -1
	}
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
		numbers[name], s.folded[strings.ToLower(name)] = len(s.members), name
		s.members = append(s.members, m)
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

// check reads the object at the scanner.
func (s *shape) check(in *strictjson.Scanner, newer bool) error {
	var seen uint64
	err := in.Object(s.known, func(name []byte, number int) error {
		if number < 0 {
			if err := s.unknown(string(name), newer); err != nil {
				return err
			}
			return in.Pass()
		}
		m := s.members[number]
		seen |= m.bit
		return m.check(in, newer)
	})
	if err != nil || seen&s.needed == s.needed {
		return err
	}
	for _, m := range s.members {
		if m.bit&s.needed&^seen != 0 {
			return fault("the member " + m.name + " is missing")
		}
	}
	return nil
}

// unknown refuses a name that no capsule of this version has. A name that differs from a
// known one by its case alone is never ignored: programs would read it differently.
func (s *shape) unknown(name string, newer bool) error {
	if known, ok := s.folded[strings.ToLower(name)]; ok {
		return fault("the member " + known + " is written in another case")
	}
	if !newer {
		return fault("it has a member that no capsule of this version has")
	}
	return nil
}

// check reads the value of a member.
func (m *shapeMember) check(in *strictjson.Scanner, newer bool) error {
	c := in.Peek()
	if c == 'n' {
		return fault("the member " + m.name + " is null")
	}
	if m.anything {
		return in.Pass()
	}
	if m.optional && !m.zero && in.Empty() {
		return fault("the optional member " + m.name + " is empty; it must be left out")
	}
	switch {
	case c == '{' && m.inner != nil:
		return m.inner.check(in, newer)
	case c == '[':
		return in.Array(func(i int) error {
			if c := in.Peek(); c == 'n' || c == '[' {
				return fault("the list " + m.name + " has an element of another type")
			}
			if i == maxElements {
				return fault("the list " + m.name + " is too long")
			}
			return m.check(in, newer)
		})
	case c == '"' && m.time:
		text, err := in.Text()
		if err != nil {
			return err
		}
		return checkTime(m.name, string(text))
	}
	return in.Pass()
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
