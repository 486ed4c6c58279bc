package core_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
)

// TestAppendedLeasesAreThoseOfTheirTags holds what leases and their facts write of
// themselves against encoding/json, which knows every member by its tag, and reads it
// back.
func TestAppendedLeasesAreThoseOfTheirTags(t *testing.T) {
	t.Run("row", rapid.MakeCheck(appendedLikeTags[core.Lease]))
	t.Run("granted", rapid.MakeCheck(appendedLikeTags[core.LeaseGranted]))
	t.Run("renewed", rapid.MakeCheck(appendedLikeTags[core.LeaseRenewed]))
	t.Run("released", rapid.MakeCheck(appendedLikeTags[core.LeaseReleased]))
}

func appendedLikeTags[T any, P interface {
	*T
	hub.JSONAppender
}](t *rapid.T) {
	v := drawMembers[T](t)
	const before = "before"
	appended := P(&v).AppendJSON([]byte(before))
	if string(appended[:len(before)]) != before {
		t.Fatalf("the bytes before the value became %q", appended[:len(before)])
	}
	appended = appended[len(before):]
	tagged, err := json.Marshal(&v)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(appended, &got); err != nil {
		t.Fatalf("%s: %v", appended, err)
	}
	if err := json.Unmarshal(tagged, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("the value writes %s, its tags say %s", appended, tagged)
	}
	var back T
	if err := json.Unmarshal(appended, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, v) {
		t.Fatalf("%+v came back as %+v", v, back)
	}
}

// drawMembers draws every exported member of a struct, so that a new one is drawn too.
func drawMembers[T any](t *rapid.T) T {
	var v T
	fields := reflect.ValueOf(&v).Elem()
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		switch f := fields.Field(i); {
		case !fields.Type().Field(i).IsExported():
		case f.Type() == reflect.TypeFor[hub.Time]():
			f.SetInt(drawTime(t, name))
		case f.Type() == reflect.TypeFor[json.RawMessage]():
			f.SetBytes(rapid.SampledFrom([][]byte{nil, []byte(`{}`), []byte(`{"a":["<b>",1.5e3,null],"\u2028":"\\"}`)}).Draw(t, name))
		case f.Kind() == reflect.String:
			f.SetString(rapid.String().Draw(t, name))
		case f.CanInt():
			f.SetInt(rapid.Int64Range(-1<<31, 1<<31-1).Draw(t, name))
		case f.CanUint():
			f.SetUint(rapid.Uint64Range(0, 255).Draw(t, name))
		case f.Kind() == reflect.Bool:
			f.SetBool(rapid.Bool().Draw(t, name))
		case f.Type() == reflect.TypeFor[*core.LeaseEnd]():
			if rapid.Bool().Draw(t, name) {
				f.Set(reflect.ValueOf(&core.LeaseEnd{At: hub.Time(drawTime(t, "at")), Expires: hub.Time(drawTime(t, "expires"))}))
			}
		default:
			t.Fatalf("the test cannot draw the member %s of type %s", name, f.Type())
		}
	}
	return v
}

// drawTime draws a time in the years that the wire form has, 0 to 9999.
func drawTime(t *rapid.T, name string) int64 {
	return rapid.Int64Range(-62167219200000, 253402300799999).Draw(t, name)
}
