package edit

import (
	"bytes"
	"encoding/json"
	"maps"
)

// A tree holds the values of a document as encoding/json would read them:
// map[string]any, []any, string, bool, nil and json.Number with the spelling of
// the document. A scalar that JSON cannot express is tagged. A document without
// any value is noValue.

// tagged is a scalar that JSON cannot express: a date, an alias.
type tagged struct {
	Tag   string `json:"tag"`
	Value string `json:"value"`
}

// noValue is the tree of an empty document. It differs from JSON's null, which
// is a value that an edit must not replace.
type noValue struct{}

// lookup finds the entry.
func lookup(tree any, at Pointer) (any, bool) {
	for _, key := range at.Keys {
		object, ok := tree.(map[string]any)
		if !ok {
			return nil, false
		}
		if tree, ok = object[key]; !ok {
			return nil, false
		}
	}
	if at.Mark == "" {
		_, none := tree.(noValue)
		return tree, !none
	}
	list, _ := tree.([]any)
	if i := indexMarked(list, at); i >= 0 {
		return list[i], true
	}
	return nil, false
}

// set returns the tree with the entry in its place and with missing parents
// added.
func set(tree any, at Pointer, value any) (any, error) {
	if len(at.Keys) == 0 {
		if at.Mark == "" {
			return value, nil
		}
		list, ok := tree.([]any)
		if _, none := tree.(noValue); !ok && !none {
			return nil, refuse(WrongType, "there is something else than a list in the place of %v", at)
		}
		if i := indexMarked(list, at); i >= 0 {
			out := append([]any{}, list...)
			out[i] = value
			return out, nil
		}
		return append(append([]any{}, list...), value), nil
	}
	object, ok := tree.(map[string]any)
	if _, none := tree.(noValue); !ok && !none {
		return nil, refuse(WrongType, "the parent of %q is not an object", at.Keys[0])
	}
	child, ok := object[at.Keys[0]]
	if !ok {
		child = noValue{}
	}
	child, err := set(child, Pointer{Keys: at.Keys[1:], Mark: at.Mark, Exact: at.Exact}, value)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	out[at.Keys[0]] = child
	return out, nil
}

// unset returns the tree without the entry, and without at most parents of its
// parents if they become empty.
func unset(tree any, at Pointer, parents int) any {
	tree, _ = unsetBelow(tree, at, parents)
	return tree
}

// unsetBelow also returns how many more parents may be removed; -1 once one has
// stayed.
func unsetBelow(tree any, at Pointer, parents int) (any, int) {
	if len(at.Keys) == 0 {
		if at.Mark == "" {
			return noValue{}, parents
		}
		list, _ := tree.([]any)
		i := indexMarked(list, at)
		out := append(append([]any{}, list[:i]...), list[i+1:]...)
		if len(out) == 0 && parents > 0 {
			return noValue{}, parents - 1
		}
		return out, -1
	}
	object, _ := tree.(map[string]any)
	child, parents := unsetBelow(object[at.Keys[0]], Pointer{Keys: at.Keys[1:], Mark: at.Mark, Exact: at.Exact}, parents)
	out := maps.Clone(object)
	if _, none := child.(noValue); !none {
		out[at.Keys[0]] = child
		return out, -1
	}
	delete(out, at.Keys[0])
	if len(out) == 0 && parents > 0 {
		return noValue{}, parents - 1
	}
	return out, -1
}

// marked reports whether any string of the tree is marked. alone says that the
// tree is a whole element.
func marked(tree any, at Pointer, alone bool) bool {
	switch v := tree.(type) {
	case string:
		return at.marks(v, alone)
	case []any:
		for _, e := range v {
			if marked(e, at, false) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if marked(e, at, false) {
				return true
			}
		}
	}
	return false
}

// indexMarked returns the index of the first marked element, or -1. The editors
// refuse lists with several.
func indexMarked(list []any, at Pointer) int {
	for i, e := range list {
		if marked(e, at, true) {
			return i
		}
	}
	return -1
}

// lookupList finds the list that holds the entry.
func lookupList(tree any, at Pointer) ([]any, bool) {
	if at.Mark == "" {
		return nil, false
	}
	v, _ := lookup(tree, Pointer{Keys: at.Keys})
	list, ok := v.([]any)
	return list, ok
}

func countMarked(list []any, at Pointer) int {
	n := 0
	for _, e := range list {
		if marked(e, at, true) {
			n++
		}
	}
	return n
}

// canonicalOf returns the tree as JSON with sorted members.
func canonicalOf(tree any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(tree); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
