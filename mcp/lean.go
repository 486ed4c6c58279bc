package mcp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// lean encodes v as compact does, without the members that a model rarely
// needs: those with the tag lean:"-", and those with lean:"empty" if they are
// zero or empty. An answer costs every agent that reads it tokens; a call with
// verbose returns all members.
func lean(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := leanValue(&b, reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func leanValue(b *bytes.Buffer, v reflect.Value) error {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() && !v.Type().Implements(marshaler) {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		b.WriteString("null")
		return nil
	case v.Type().Implements(marshaler):
	case v.Kind() == reflect.Struct:
		b.WriteByte('{')
		first := true
		err := leanMembers(b, v, &first)
		b.WriteByte('}')
		return err
	case v.Kind() == reflect.Slice && !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := leanValue(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	text, err := compact(v.Interface())
	b.Write(text)
	return err
}

// leanMembers writes the members of a struct, those of embedded structs
// included.
func leanMembers(b *bytes.Buffer, v reflect.Value, first *bool) error {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && value.Kind() == reflect.Struct {
			if err := leanMembers(b, value, first); err != nil {
				return err
			}
			continue
		}
		rule := f.Tag.Get("lean")
		if name == "" || name == "-" || rule == "-" || (rule == "empty" || strings.Contains(options, "omitempty")) && empty(value) {
			continue
		}
		if !*first {
			b.WriteByte(',')
		}
		*first = false
		key, err := compact(name)
		if err != nil {
			return err
		}
		b.Write(key)
		b.WriteByte(':')
		if err := leanValue(b, value); err != nil {
			return err
		}
	}
	return nil
}

// empty reports whether omitempty leaves v out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
