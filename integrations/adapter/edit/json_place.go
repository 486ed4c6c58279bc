package edit

import (
	"github.com/tailscale/hujson"
)

// container holds the places of an object or a list in the document.
type container struct {
	open, close int // offsets of its brackets
	items       []item
	comma       bool // the last item is followed by a comma
	object      bool
}

// item is a member of an object (name and value) or an element of a list (value
// alone).
type item struct {
	start, value, end int
	comma             int // offset of the comma after it; -1 if there is none
	key               string
	content           *hujson.Value
}

// count returns the number of elements with the mark of a pointer.
func (c *container) count(at Pointer) int {
	n := 0
	for i := range c.items {
		if c.items[i].marked(at) {
			n++
		}
	}
	return n
}

func (it *item) marked(at Pointer) bool {
	for v := range it.content.All() {
		if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' && at.marks(lit.String(), v == it.content) {
			return true
		}
	}
	return false
}

// find returns the index of the item with the key, or, if key is empty, with
// the pointer's mark; -1 if there is none.
func (c *container) find(key string, at Pointer) int {
	for i := range c.items {
		if c.object && c.items[i].key == key || !c.object && c.items[i].marked(at) {
			return i
		}
	}
	return -1
}

// container returns the places of a value; nil if it is a literal.
func (d *jsonDoc) container(v *hujson.Value) *container {
	c := &container{open: d.base + v.StartOffset, close: d.base + v.EndOffset - 1}
	var last *hujson.Value
	add := func(start int, key string, v *hujson.Value) {
		c.items = append(c.items, item{
			start: d.base + start, value: d.base + v.StartOffset, end: d.base + v.EndOffset,
			comma: d.base + v.EndOffset + len(v.AfterExtra), key: key, content: v,
		})
		last = v
	}
	switch x := v.Value.(type) {
	case *hujson.Object:
		c.object = true
		for i := range x.Members {
			m := &x.Members[i]
			name, _ := m.Name.Value.(hujson.Literal)
			add(m.Name.StartOffset, name.String(), &m.Value)
		}
	case *hujson.Array:
		for i := range x.Elements {
			add(x.Elements[i].StartOffset, "", &x.Elements[i])
		}
	default:
		return nil
	}
	if last != nil {
		// hujson marks a trailing comma by an AfterExtra that is not nil.
		if c.comma = last.AfterExtra != nil; !c.comma {
			c.items[len(c.items)-1].comma = -1
		}
	}
	return c
}

// step is one container on the way to the place, and the index of the next item
// on the way; -1 at the end of the way.
type step struct {
	*container
	item int
}

// walk follows the pointer as far as the document goes. found says that all
// keys are there; last is then the list if the pointer has a mark.
func (d *jsonDoc) walk() (way []step, last *container, found bool, err error) {
	if d.root == nil {
		return nil, nil, false, nil
	}
	v := d.root
	for _, key := range d.at.Keys {
		c := d.container(v)
		if c == nil || !c.object {
			return nil, nil, false, refuseAt(d.doc, d.base+v.StartOffset, WrongType, "the parent of %q is not an object", key)
		}
		i := c.find(key, Pointer{})
		way = append(way, step{c, i})
		if i < 0 {
			return way, nil, false, nil
		}
		v = c.items[i].content
	}
	if d.at.Mark == "" {
		return way, nil, true, nil
	}
	c := d.container(v)
	if c == nil || c.object {
		return nil, nil, false, refuseAt(d.doc, d.base+v.StartOffset, WrongType, "%q is not a list", d.at.Keys[len(d.at.Keys)-1])
	}
	way = append(way, step{c, c.find("", d.at)})
	return way, c, true, nil
}
