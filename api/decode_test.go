package api_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/strictjson"
)

// sample has a field of every kind that inputs have.
type sample struct {
	Name    hub.AgentID       `json:"name"`
	To      hub.AgentID       `json:"to,omitempty"`
	Count   int               `json:"count,omitempty"`
	ID      hub.MessageID     `json:"id,omitempty"`
	Wait    float64           `json:"wait,omitempty"`
	Replace *bool             `json:"replace,omitempty"`
	Delay   *float64          `json:"delay,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Words   []string          `json:"words,omitempty"`
	IDs     *[]hub.TaskID     `json:"ids,omitempty"`
	Parts   []hub.Attachment  `json:"parts,omitempty"`
	Params  map[string]string `json:"params,omitempty"`
}

func ptr[T any](v T) *T { return &v }

func TestDecodeTakes(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       sample
	}{
		{"nothing", ``, sample{}},
		{"white space", " \t\r\n", sample{}},
		{"an empty object", ` { } `, sample{}},
		{"a string", `{"name":"a"}`, sample{Name: "a"}},
		{"escapes", `{"name":"\"\\\/\b\f\n\r\tA\ud83d\ude00"}`, sample{Name: "\"\\/\b\f\n\r\tA😀"}},
		{"UTF-8", `{"name":"é😀"}`, sample{Name: "é😀"}},
		{"an escaped member name", `{"n\u0061me":"a"}`, sample{Name: "a"}},
		{"null everywhere", `{"name":null,"count":null,"wait":null,"replace":null,"raw":null,"words":null,"ids":null}`, sample{}},
		{"numbers", `{"count":-7,"id":9007199254740991,"wait":2.5e1,"delay":0}`, sample{Count: -7, ID: 1<<53 - 1, Wait: 25, Delay: ptr(0.0)}},
		{"an explicit 0 for a number of seconds", `{"wait":0}`, sample{}},
		{"booleans", `{"replace":false}`, sample{Replace: ptr(false)}},
		{"raw JSON, made compact", `{"raw": { "a" : [ 1 , "x y" ] , "b" : "\u00e9\/\u0007\n" } }`, sample{Raw: json.RawMessage(`{"a":[1,"x y"],"b":"é/\u0007\n"}`)}},
		{"raw JSON that is a string", `{"raw":"\u0041\\"}`, sample{Raw: json.RawMessage(`"A\\"`)}},
		{"lists", `{"words":["a","b"],"ids":[1,2]}`, sample{Words: []string{"a", "b"}, IDs: &[]hub.TaskID{1, 2}}},
		{"empty lists", `{"words":[],"ids":[]}`, sample{Words: []string{}, IDs: &[]hub.TaskID{}}},
		{"structs in a list", `{"parts":[{"type":"text","content":"x"},{}]}`, sample{Parts: []hub.Attachment{{Type: "text", Content: json.RawMessage(`"x"`)}, {}}}},
		{"members of any name", `{"params":{"a":"1","b\u0063":""}}`, sample{Params: map[string]string{"a": "1", "bc": ""}}},
		{"no members", `{"params":{}}`, sample{Params: map[string]string{}}},
		{"unknown members", `{"what":{"name":"b","deep":[{"x":null}]},"name":"a"}`, sample{Name: "a"}},
		{"members in another case, which are unknown", `{"NAME":"b","Name":"c","name":"a"}`, sample{Name: "a"}},
		{"one name in two objects", `{"raw":{"a":1},"parts":[{"type":"text"},{"type":"json"}]}`, sample{
			Raw: json.RawMessage(`{"a":1}`), Parts: []hub.Attachment{{Type: "text"}, {Type: "json"}},
		}},
		{"as deep as allowed", `{"raw":` + nested(strictjson.MaxDepth-1) + `}`, sample{Raw: json.RawMessage(nested(strictjson.MaxDepth - 1))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got sample
			if err := api.Decode([]byte(c.body), &got); err != nil {
				t.Fatalf("%s: %v", c.body, err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s:\ngot  %+v\nwant %+v", c.body, got, c.want)
			}
		})
	}
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// members returns an object of n different members and then again.
func members(n int, again string) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		b.WriteString(`"m` + strconv.Itoa(i) + `":0,`)
	}
	return b.String() + `"` + again + `":0}`
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, body string
		code       hub.Code
		field      string
	}{
		{"an empty agent id that may be left out", `{"to":""}`, hub.CodeInvalidAgentID, "to"},
		{"a list for an object", `{"params":[]}`, hub.CodeInvalid, "params"},
		{"a number among members of any name", `{"params":{"a":1}}`, hub.CodeInvalid, "params.a"},
		{"null among members of any name", `{"params":{"a":null}}`, hub.CodeInvalid, "params.a"},
		{"a member of any name twice", `{"params":{"a":"1","a":"2"}}`, hub.CodeInvalidJSON, "a"},
		{"bad UTF-8", "{\"name\":\"\xff\"}", hub.CodeInvalidJSON, ""},
		{"UTF-8 of a surrogate", "{\"name\":\"\xed\xa0\x80\"}", hub.CodeInvalidJSON, ""},
		{"a byte order mark", "\ufeff{}", hub.CodeInvalidJSON, ""},
		{"UTF-16", "{\x00}\x00", hub.CodeInvalidJSON, ""},
		{"a list", `[]`, hub.CodeInvalidJSON, ""},
		{"a string", `"x"`, hub.CodeInvalidJSON, ""},
		{"null", `null`, hub.CodeInvalidJSON, ""},
		{"NUL alone", "\x00", hub.CodeInvalidJSON, ""},
		{"two objects", `{}{}`, hub.CodeInvalidJSON, ""},
		{"trailing text", `{} x`, hub.CodeInvalidJSON, ""},
		{"a trailing comma", `{"name":"a",}`, hub.CodeInvalidJSON, ""},
		{"a leading comma", `{,"name":"a"}`, hub.CodeInvalidJSON, ""},
		{"no colon", `{"name" "a"}`, hub.CodeInvalidJSON, ""},
		{"no value", `{"name":}`, hub.CodeInvalidJSON, ""},
		{"no comma", `{"name":"a" "count":1}`, hub.CodeInvalidJSON, ""},
		{"an open object", `{"name":"a"`, hub.CodeInvalidJSON, ""},
		{"an open list", `{"words":["a"`, hub.CodeInvalidJSON, ""},
		{"an open string", `{"name":"a`, hub.CodeInvalidJSON, ""},
		{"an open escape", `{"name":"a\`, hub.CodeInvalidJSON, ""},
		{"a name without quotes", `{name:"a"}`, hub.CodeInvalidJSON, ""},
		{"single quotes", `{'name':'a'}`, hub.CodeInvalidJSON, ""},
		{"a comment", `{/**/"name":"a"}`, hub.CodeInvalidJSON, ""},
		{"a control character", "{\"name\":\"a\nb\"}", hub.CodeInvalidJSON, ""},
		{"an unknown escape", `{"name":"\x41"}`, hub.CodeInvalidJSON, ""},
		{"a short escape", `{"name":"\u12"}`, hub.CodeInvalidJSON, ""},
		{"half a pair", `{"name":"\ud800"}`, hub.CodeInvalidJSON, ""},
		{"half a pair and a letter", `{"name":"\ud800\u0041"}`, hub.CodeInvalidJSON, ""},
		{"the other half", `{"name":"\udc00"}`, hub.CodeInvalidJSON, ""},
		{"NaN", `{"wait":NaN}`, hub.CodeInvalidJSON, ""},
		{"a plus", `{"wait":+1}`, hub.CodeInvalidJSON, ""},
		{"a leading zero", `{"wait":01}`, hub.CodeInvalidJSON, ""},
		{"a lone minus", `{"count":-}`, hub.CodeInvalidJSON, ""},
		{"a lone point", `{"wait":1.}`, hub.CodeInvalidJSON, ""},
		{"an open exponent", `{"wait":1e}`, hub.CodeInvalidJSON, ""},
		{"a number beyond all", `{"wait":1e999}`, hub.CodeInvalidJSON, ""},
		{"a number beyond all where nobody looks", `{"what":[-1e999]}`, hub.CodeInvalidJSON, ""},
		{"many digits beyond all", `{"what":` + strings.Repeat("9", 400) + `}`, hub.CodeInvalidJSON, ""},
		{"half a literal", `{"replace":tru}`, hub.CodeInvalidJSON, ""},
		{"too deep", `{"raw":` + nested(strictjson.MaxDepth) + `}`, hub.CodeInvalidJSON, ""},
		{"far too deep", strings.Repeat(`{"a":`, 100_000), hub.CodeInvalidJSON, ""},
		{"a member twice", `{"name":"a","name":"b"}`, hub.CodeInvalidJSON, "name"},
		{"a member twice, once escaped", `{"name":"a","\u006eame":"b"}`, hub.CodeInvalidJSON, "name"},
		{"an unknown member twice", `{"what":1,"what":1}`, hub.CodeInvalidJSON, "what"},
		{"a member twice in raw JSON", `{"raw":{"b":[{"a":1,"a":1}]}}`, hub.CodeInvalidJSON, "a"},
		{"a member twice beside its inner namesake", `{"a":{"a":1},"a":2}`, hub.CodeInvalidJSON, "a"},
		{"a member twice among many", members(40, "m3"), hub.CodeInvalidJSON, "m3"},
		{"a late member twice among many", members(40, "m39"), hub.CodeInvalidJSON, "m39"},
		{"a number for a string", `{"name":1}`, hub.CodeInvalid, "name"},
		{"a list for a string", `{"name":[]}`, hub.CodeInvalid, "name"},
		{"a string for an integer", `{"count":"1"}`, hub.CodeInvalid, "count"},
		{"a fraction for an integer", `{"count":1.0}`, hub.CodeInvalid, "count"},
		{"an exponent for an integer", `{"count":1e2}`, hub.CodeInvalid, "count"},
		{"an integer too large", `{"id":9223372036854775808}`, hub.CodeInvalid, "id"},
		{"an explicit 0 for an optional integer", `{"id":0}`, hub.CodeInvalid, "id"},
		{"minus 0 for an optional integer", `{"id":-0}`, hub.CodeInvalid, "id"},
		{"a string for a number", `{"wait":"1"}`, hub.CodeInvalid, "wait"},
		{"a number for a boolean", `{"replace":1}`, hub.CodeInvalid, "replace"},
		{"a string for a boolean", `{"replace":"true"}`, hub.CodeInvalid, "replace"},
		{"an object for a list", `{"words":{}}`, hub.CodeInvalid, "words"},
		{"null in a list", `{"words":["a",null]}`, hub.CodeInvalid, "words[1]"},
		{"a number in a list of structs", `{"parts":[1]}`, hub.CodeInvalid, "parts[0]"},
		{"a wrong type inside", `{"parts":[{},{"path":1}]}`, hub.CodeInvalid, "parts[1].path"},
		{"a wrong type of broken JSON", `{"name":[}`, hub.CodeInvalidJSON, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got sample
			err := api.Decode([]byte(c.body), &got)
			var e *hub.Error
			if !errors.As(err, &e) || e.Code != c.code || e.Status != 400 {
				t.Fatalf("got %#v, want %s", err, c.code)
			}
			if field, _ := e.Detail["field"].(string); field != c.field {
				t.Errorf("the error names %q, want %q", field, c.field)
			}
		})
	}
}

// TestDecodeKeepsNothing: the buffer of a body is used again at once.
func TestDecodeKeepsNothing(t *testing.T) {
	body := []byte(`{"name":"abc","raw":{"k":"v"},"words":["w"]}`)
	var got sample
	require.NoError(t, api.Decode(body, &got))
	for i := range body {
		body[i] = '!'
	}
	if got.Name != "abc" || string(got.Raw) != `{"k":"v"}` || got.Words[0] != "w" {
		t.Errorf("the input changed with the buffer: %+v", got)
	}
}

// TestDecodeManyMembers: looking for duplicates costs no square of the members;
// this would take minutes.
func TestDecodeManyMembers(t *testing.T) {
	const n = 200_000
	var got sample
	require.NoError(t, api.Decode([]byte(members(n, "last")), &got))
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":"a","count":1,"wait":1.5,"replace":true,"raw":{"a":[1,2,{"b":null}]},"words":["x"],"ids":[1]}`,
		`{"name":"\ud83d\ude00\u00e9"}`, `{"name":"a","name":"b"}`, `{"NAME":"a"}`, `[1]`, `{"wait":1e999}`, `{"raw":"\u0000"}`,
		`{"parts":[{"type":"code","content":"x","language":"go","start_line":3}]}`, "{\"name\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got sample
		if err := api.Decode(body, &got); err != nil {
			var e *hub.Error
			if !errors.As(err, &e) || e.Status != 400 {
				t.Fatalf("%q: %v is no error for a client", body, err)
			}
			return
		}
		if len(strings.TrimSpace(string(body))) != 0 {
			// What is taken, encoding/json takes too, whatever it makes of it.
			var loose map[string]any
			if err := json.Unmarshal(body, &loose); err != nil {
				t.Fatalf("took %q, which is not JSON: %v", body, err)
			}
			if name, ok := loose["name"].(string); ok && name != string(got.Name) {
				t.Fatalf("%q: name is %q, encoding/json reads %q", body, got.Name, name)
			}
			checkRaw(t, loose["raw"], got.Raw)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		var second sample
		if err := api.Decode(again, &second); err != nil {
			t.Fatalf("%q became %q, which is refused: %v", body, again, err)
		}
		if third, _ := json.Marshal(second); string(third) != string(again) {
			t.Fatalf("%q became %q and then %q", body, again, third)
		}
	})
}

// checkRaw holds the compact form to the value that encoding/json reads.
func checkRaw(t *testing.T, want any, got json.RawMessage) {
	if want == nil {
		return
	}
	var value any
	if err := json.Unmarshal(got, &value); err != nil {
		t.Fatalf("compact form %q: %v", got, err)
	}
	if !reflect.DeepEqual(value, want) {
		t.Fatalf("compact form %q is another value than %v", got, want)
	}
}

func BenchmarkDecodePost(b *testing.B) {
	body := []byte(`{"from_agent":"agent-12","channel":"general","kind":"chat","body":"` + strings.Repeat("lorem ip", 32) + `","thread_id":"thread-1","metadata":{"n":1}}`)
	b.Run("strict", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var in hub.PostInput
			require.NoError(b, api.Decode(body, &in))
			require.NoError(b, api.ValidatePost(&in, hub.DefaultLimits(), false))
		}
	})
	b.Run("encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var in hub.PostInput
			require.NoError(b, json.Unmarshal(body, &in))
		}
	})
}

// TestEmptyAssigneeMeansNobody: where a zero value is not the same as an absent one, it is taken.
func TestEmptyAssigneeMeansNobody(t *testing.T) {
	var in hub.TaskUpdateInput
	if err := api.Decode([]byte(`{"assignee":""}`), &in); err != nil || in.Assignee == nil || *in.Assignee != "" {
		t.Errorf("decoded %+v, %v", in, err)
	}
	if err := api.Decode([]byte(`{"agent_id":""}`), &in); err == nil {
		t.Error("an empty agent was taken")
	}
}

// TestEveryInputIsRead: whatever an input may hold, the reader knows its kind.
func TestEveryInputIsRead(t *testing.T) {
	read := 0
	for _, op := range api.Operations() {
		if op.Body.Type == nil {
			continue
		}
		full := reflect.New(op.Body.Type)
		fill(full.Elem())
		body, err := json.Marshal(full.Interface())
		require.NoError(t, err)
		got := reflect.New(op.Body.Type)
		if err := api.Decode(body, got.Interface()); err != nil {
			t.Errorf("%s: %s: %v", op.ID, body, err)
		}
		if again, err := json.Marshal(got.Interface()); err != nil || string(again) != string(body) {
			t.Errorf("%s: %s became %s, %v", op.ID, body, again, err)
		}
		read++
	}
	if read < 40 {
		t.Errorf("only %d inputs", read)
	}
}

// fill puts something into every field.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		element := reflect.New(v.Type().Elem()).Elem()
		fill(element)
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), element)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}
