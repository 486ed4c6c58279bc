package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"hubcli/hub"
)

// Decode reads the body of a request into the struct that v points to. It keeps
// no reference to body.
//
// It is stricter than encoding/json: the body is one JSON object in valid UTF-8
// without duplicate members at any depth and without trailing text (else
// invalid_json). Member names match in their exact case. A value of the wrong
// type, also a fraction for an integer, is refused (invalid, with the name of
// the field). Unknown members are ignored, null means that the member is
// absent, and an empty body means {}. Some fields use 0 or an empty agent id to
// mean absent: such a value cannot be sent explicitly. A json.RawMessage is
// stored compact.
func Decode(body []byte, v any) error { return DecodeFrom("the body", body, v) }

// DecodeFrom is Decode for JSON that is not the body of an HTTP request. Errors call
// it by the name source, as in "the request file".
func DecodeFrom(source string, body []byte, v any) error {
	if !utf8.Valid(body) {
		return hub.NewError(hub.CodeInvalidJSON, source+" is not valid UTF-8").
			WithFix("encode " + source + " in UTF-8")
	}
	s := scanners.Get().(*scanner)
	defer s.release()
	s.source, s.data = source, body
	switch s.peek() {
	case 0:
		if s.pos == len(body) {
			return nil
		}
		return s.fail(source + " is not JSON")
	case '{':
	default:
		return s.fail(source + " is not a JSON object")
	}
	target := reflect.ValueOf(v).Elem()
	if err := decodeStruct(s, planOf(target.Type()), target); err != nil {
		return err
	}
	if s.space(); s.pos != len(body) {
		return s.fail("something follows the JSON object")
	}
	return nil
}

// scanners reuses the space for member names between bodies.
var scanners = sync.Pool{New: func() any { return &scanner{keys: make([][]byte, 0, linearKeys)} }}

// release clears the scanner and returns it to the pool.
func (s *scanner) release() {
	keys := s.keys[:cap(s.keys)]
	clear(keys)
	*s = scanner{keys: keys[:0]}
	scanners.Put(s)
}

// plan says how the members of one struct type are decoded.
type plan struct {
	fields map[string]*field
}

type field struct {
	name   string
	index  []int
	nozero bool // the zero value means absent
}

var plans sync.Map // reflect.Type → *plan

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{fields: map[string]*field{}}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "" || name == "-" {
			continue
		}
		p.fields[name] = &field{
			name: name, index: f.Index,
			nozero: f.Type.Kind() != reflect.Float64 && f.Type.Kind() != reflect.Pointer && strings.Contains(options, "omitempty"),
		}
	}
	stored, _ := plans.LoadOrStore(t, p)
	return stored.(*plan)
}

func decodeStruct(s *scanner, p *plan, v reflect.Value) error {
	return s.object(func(key []byte) error {
		f := p.fields[string(key)]
		if f == nil {
			return s.skip()
		}
		if s.at('n') {
			_, err := s.literal()
			return err
		}
		return decodeValue(s, f, v.FieldByIndex(f.index))
	})
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// decodeValue reads one value that is not null at the top of a member.
func decodeValue(s *scanner, f *field, v reflect.Value) error {
	if v.Type() == rawMessage {
		start := s.pos
		if err := s.skip(); err != nil {
			return err
		}
		v.SetBytes(compact(s.data[start:s.pos]))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		return decodeString(s, f, v)
	case reflect.Int, reflect.Int64:
		return decodeInt(s, f, v)
	case reflect.Float64:
		return decodeFloat(s, f, v)
	case reflect.Bool:
		return decodeBool(s, f, v)
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		if err := decodeValue(s, f, to.Elem()); err != nil {
			return err
		}
		v.Set(to)
		return nil
	case reflect.Slice:
		return decodeSlice(s, f, v)
	case reflect.Map:
		return decodeMap(s, f, v)
	case reflect.Struct:
		if !s.at('{') {
			return s.wrongType(f, "an object")
		}
		return within(decodeStruct(s, planOf(v.Type()), v), f.name)
	}
	panic(fmt.Sprintf("api: no input has a field of type %v", v.Type()))
}

func decodeString(s *scanner, f *field, v reflect.Value) error {
	if !s.at('"') {
		return s.wrongType(f, "a string")
	}
	raw, escaped, err := s.string()
	if err != nil {
		return err
	}
	if len(raw) == 0 && f.nozero && v.Type() == agentID {
		// A client's unset variable must not make a direct message public.
		return hub.NewError(hub.CodeInvalidAgentID, f.name+" is empty").With("field", f.name).
			WithFix("leave " + f.name + " out, or name an agent")
	}
	if escaped {
		raw = unescape(make([]byte, 0, len(raw)), raw)
	}
	v.SetString(string(raw))
	return nil
}

var agentID = reflect.TypeFor[hub.AgentID]()

func decodeInt(s *scanner, f *field, v reflect.Value) error {
	const want = "an integer"
	text, err := s.numberFor(f, want)
	if err != nil {
		return err
	}
	n, convErr := strconv.ParseInt(string(text), 10, 64)
	if convErr != nil || v.OverflowInt(n) {
		return notA(f, want, "number")
	}
	if n == 0 && f.nozero {
		return hub.Invalid(f.name, f.name+" must be at least 1").WithFix("leave " + f.name + " out, or send 1 or more")
	}
	v.SetInt(n)
	return nil
}

func decodeFloat(s *scanner, f *field, v reflect.Value) error {
	const want = "a number"
	text, err := s.numberFor(f, want)
	if err != nil {
		return err
	}
	n, convErr := strconv.ParseFloat(string(text), 64)
	if convErr != nil {
		return notA(f, want, "number")
	}
	v.SetFloat(n)
	return nil
}

func (s *scanner) numberFor(f *field, want string) ([]byte, error) {
	if !s.at('-') && (s.pos == len(s.data) || s.data[s.pos] < '0' || s.data[s.pos] > '9') {
		return nil, s.wrongType(f, want)
	}
	return s.number()
}

func decodeBool(s *scanner, f *field, v reflect.Value) error {
	const want = "true or false"
	if !s.at('t') && !s.at('f') {
		return s.wrongType(f, want)
	}
	word, err := s.literal()
	if err != nil {
		return err
	}
	v.SetBool(word == 't')
	return nil
}

func decodeSlice(s *scanner, f *field, v reflect.Value) error {
	if !s.at('[') {
		return s.wrongType(f, "an array")
	}
	list := reflect.MakeSlice(v.Type(), 0, 0)
	zero := reflect.Zero(v.Type().Elem())
	element := field{name: f.name}
	err := s.array(func(i int) error {
		element.name = f.name + "[" + strconv.Itoa(i) + "]"
		list = reflect.Append(list, zero)
		return decodeValue(s, &element, list.Index(i))
	})
	if err != nil {
		return err
	}
	v.Set(list)
	return nil
}

// decodeMap reads an object whose member names the caller chooses.
func decodeMap(s *scanner, f *field, v reflect.Value) error {
	if !s.at('{') {
		return s.wrongType(f, "an object")
	}
	all := reflect.MakeMap(v.Type())
	element := field{name: f.name}
	err := s.object(func(key []byte) error {
		name := string(key)
		element.name = f.name + "." + name
		value := reflect.New(v.Type().Elem()).Elem()
		if err := decodeValue(s, &element, value); err != nil {
			return err
		}
		all.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), value)
		return nil
	})
	if err != nil {
		return err
	}
	v.Set(all)
	return nil
}

// wrongType returns the error for the value at the scanner's position, or for
// malformed JSON if there is no value.
func (s *scanner) wrongType(f *field, want string) error {
	got := typeName(s.peek())
	if err := s.skip(); err != nil {
		return err
	}
	return notA(f, want, got)
}

func notA(f *field, want, got string) *hub.Error {
	return hub.Invalid(f.name, f.name+" must be "+want).With("got", got)
}

// typeName names the type of the value that begins with c. Values themselves are
// not shown: they may be secrets.
func typeName(c byte) string {
	switch c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// within puts the outer name before the field that err names.
func within(err error, outer string) error {
	var e *hub.Error
	if errors.As(err, &e) && e.Code != hub.CodeInvalidJSON {
		if inner, ok := e.Detail["field"].(string); ok {
			e.Detail["field"] = outer + "." + inner
		}
	}
	return err
}
