package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"hubcli/hub"
	"hubcli/internal/strictjson"
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
	target := reflect.ValueOf(v).Elem()
	err := strictjson.Read(body, 0, func(s *strictjson.Scanner) error {
		switch s.Peek() {
		case 0:
			if s.AtEnd() {
				return nil
			}
			return s.NotA("is not JSON")
		case '{':
			return decodeStruct(s, planOf(target.Type()), target)
		default:
			return s.NotA("is not a JSON object")
		}
	})
	if refused, ok := errors.AsType[*strictjson.Error](err); ok {
		return notRead(source, refused)
	}
	return err
}

// notRead is the error of a text that strictjson refuses.
func notRead(source string, refused *strictjson.Error) *hub.Error {
	err := hub.NewError(hub.CodeInvalidJSON, refused.Of(source))
	if refused.Reason == strictjson.NotUTF8 {
		return err.WithFix("encode " + source + " in UTF-8")
	}
	err = err.With("offset", refused.Offset).WithFix("send one JSON object (RFC 8259) in UTF-8, each member once")
	switch refused.Reason { //nolint:exhaustive // the others have no more to say
	case strictjson.TooDeep:
		return err.With("limit", strictjson.MaxDepth)
	case strictjson.Twice:
		return err.With("field", refused.Name)
	}
	return err
}

// plan says how the members of one struct type are decoded.
type plan struct {
	fields []*field
	known  func(name []byte) int // the index of a member's field, or -1
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
	p, numbers := &plan{}, map[string]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "" || name == "-" {
			continue
		}
		numbers[name] = len(p.fields)
		p.fields = append(p.fields, &field{
			name: name, index: f.Index,
			nozero: f.Type.Kind() != reflect.Float64 && f.Type.Kind() != reflect.Pointer && strings.Contains(options, "omitempty"),
		})
	}
	if len(p.fields) > strictjson.MaxKnown {
		panic(fmt.Sprintf("api: %v has more than %d members", t, strictjson.MaxKnown))
	}
	p.known = func(name []byte) int {
		if n, ok := numbers[string(name)]; ok {
			return n
		}
		return -1
	}
	stored, _ := plans.LoadOrStore(t, p)
	return stored.(*plan)
}

func decodeStruct(s *strictjson.Scanner, p *plan, v reflect.Value) error {
	return s.Object(p.known, func(_ []byte, number int) error {
		if number < 0 {
			return s.Pass()
		}
		if s.Peek() == 'n' {
			_, err := s.Literal()
			return err
		}
		f := p.fields[number]
		return decodeValue(s, f, v.FieldByIndex(f.index))
	})
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// decodeValue reads one value that is not null at the top of a member.
func decodeValue(s *strictjson.Scanner, f *field, v reflect.Value) error {
	if v.Type() == rawMessage {
		start := s.Pos()
		if err := s.Pass(); err != nil {
			return err
		}
		v.SetBytes(strictjson.Compact(s.Since(start)))
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
		if s.Peek() != '{' {
			return wrongType(s, f, "an object")
		}
		return within(decodeStruct(s, planOf(v.Type()), v), f.name)
	}
	panic(fmt.Sprintf("api: no input has a field of type %v", v.Type()))
}

func decodeString(s *strictjson.Scanner, f *field, v reflect.Value) error {
	if s.Peek() != '"' {
		return wrongType(s, f, "a string")
	}
	raw, err := s.Text()
	if err != nil {
		return err
	}
	if len(raw) == 0 && f.nozero && v.Type() == agentID {
		// A client's unset variable must not make a direct message public.
		return hub.NewError(hub.CodeInvalidAgentID, f.name+" is empty").With("field", f.name).
			WithFix("leave " + f.name + " out, or name an agent")
	}
	v.SetString(string(raw))
	return nil
}

var agentID = reflect.TypeFor[hub.AgentID]()

func decodeInt(s *strictjson.Scanner, f *field, v reflect.Value) error {
	const want = "an integer"
	text, err := numberFor(s, f, want)
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

func decodeFloat(s *strictjson.Scanner, f *field, v reflect.Value) error {
	const want = "a number"
	text, err := numberFor(s, f, want)
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

func numberFor(s *strictjson.Scanner, f *field, want string) ([]byte, error) {
	if c := s.Peek(); c != '-' && (c < '0' || c > '9') {
		return nil, wrongType(s, f, want)
	}
	return s.Number()
}

func decodeBool(s *strictjson.Scanner, f *field, v reflect.Value) error {
	const want = "true or false"
	if c := s.Peek(); c != 't' && c != 'f' {
		return wrongType(s, f, want)
	}
	word, err := s.Literal()
	if err != nil {
		return err
	}
	v.SetBool(word == 't')
	return nil
}

func decodeSlice(s *strictjson.Scanner, f *field, v reflect.Value) error {
	if s.Peek() != '[' {
		return wrongType(s, f, "an array")
	}
	list := reflect.MakeSlice(v.Type(), 0, 0)
	zero := reflect.Zero(v.Type().Elem())
	element := field{name: f.name}
	err := s.Array(func(i int) error {
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
func decodeMap(s *strictjson.Scanner, f *field, v reflect.Value) error {
	if s.Peek() != '{' {
		return wrongType(s, f, "an object")
	}
	all := reflect.MakeMap(v.Type())
	element := field{name: f.name}
	err := s.Object(nil, func(key []byte, _ int) error {
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
func wrongType(s *strictjson.Scanner, f *field, want string) error {
	got := typeName(s.Peek())
	if err := s.Pass(); err != nil {
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
	if errors.As(err, &e) {
		if inner, ok := e.Detail["field"].(string); ok {
			e.Detail["field"] = outer + "." + inner
		}
	}
	return err
}
