package answers

import (
	"cmp"
	"reflect"
	"strings"
	"sync"

	"hubcli/hub"
)

// Bytes of JSON, as JSONBytes counts them.
const (
	scalarBytes = 20 // a number of any kind
	boolBytes   = 5
	nullBytes   = 4
	timeBytes   = 26
)

// memberBytes is how long the names of the members of a struct are, each with quotes, colon
// and comma. The members of an embedded struct stand among the others.
func memberBytes(t reflect.Type) int {
	if known, ok := membersOf.Load(t); ok {
		return known.(int)
	}
	bytes := 0
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous {
			bytes += len(cmp.Or(name, f.Name)) + len(`"":,`)
		}
	}
	membersOf.Store(t, bytes)
	return bytes
}

var membersOf sync.Map // by reflect.Type

// JSONBytes is about how long a value is in JSON, and seldom less than that. It looks at
// texts and makes none: to encode each row twice would take far longer.
func JSONBytes(v reflect.Value) (bytes int) {
	switch v.Kind() {
	case reflect.String:
		return 2 + textBytes(v.String())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nullBytes
		}
		return JSONBytes(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += JSONBytes(v.Field(i))
		}
		return 2 + bytes + memberBytes(v.Type())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON that is stored
			return max(nullBytes, textBytes(v.Bytes()))
		}
		for i := range v.Len() {
			bytes += 1 + JSONBytes(v.Index(i))
		}
		return nullBytes + bytes
	case reflect.Map:
		for m := v.MapRange(); m.Next(); {
			bytes += 2 + JSONBytes(m.Key()) + JSONBytes(m.Value())
		}
		return nullBytes + bytes
	case reflect.Bool:
		return boolBytes
	}
	if v.Type() == reflect.TypeFor[hub.Time]() {
		return timeBytes
	}
	return scalarBytes
}

// textBytes is how long a text is in JSON, without its quotes. Of the characters that
// begin as U+2028 does, only two are escaped; all are counted so.
func textBytes[T string | []byte](text T) (bytes int) {
	for i := range len(text) {
		bytes += int(byteWidth[text[i]])
	}
	return bytes
}

// byteWidth is how many bytes a byte of a text becomes.
var byteWidth = func() (width [256]uint8) {
	for b := range width {
		switch {
		case b == '"', b == '\\':
			width[b] = 2
		case b < ' ', b == '<', b == '>', b == '&': // \u003c
			width[b] = 6
		case b == 0xe2:
			width[b] = 4
		default:
			width[b] = 1
		}
	}
	return width
}()
