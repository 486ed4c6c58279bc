package capsule

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

// EncodeJSON is EncodeRefs for every string of a JSON text, names of members included. The
// result is compact and its members are sorted; numbers stay as they are, byte by byte.
// It refuses what is no JSON, nests deeper than 64 levels, or has a name twice in one object.
func EncodeJSON(raw json.RawMessage, message func(hub.MessageID) (Number, bool), thing func(id string) (Ref, bool)) (json.RawMessage, error) {
	return MapJSON(raw, func(text string) string { return EncodeRefs(text, message, thing) })
}

// EncodeMetadata is EncodeJSON for the metadata of a message. The hub itself writes ids of
// messages and tasks there as plain numbers, in the members of hubNumbers: their integers
// become strings such as "#m5" if the message is in the capsule. A string in these members
// is not translated, but what looks like a reference gets its letter once more, so that it
// can be told from an id.
func EncodeMetadata(raw json.RawMessage, message func(hub.MessageID) (Number, bool), thing func(id string) (Ref, bool)) (json.RawMessage, error) {
	nowhere := func(hub.MessageID) (Number, bool) { return 0, false }
	nothing := func(string) (Ref, bool) { return "", false }
	m := mapper{
		text:   func(text string) string { return EncodeRefs(text, message, thing) },
		inID:   func(text string) string { return EncodeRefs(text, nowhere, nothing) },
		number: func(id int64) (Number, bool) { return message(hub.MessageID(id)) },
	}
	return m.run(raw, hubNumbers())
}

// MapJSON applies text to every string of a JSON text, names of members included, and
// returns it compact, with sorted members. Errors are those of EncodeJSON, and two names
// of an object that become one.
func MapJSON(raw json.RawMessage, text func(string) string) (json.RawMessage, error) {
	return (&mapper{text: text}).run(raw, nil)
}

// members says in which members of metadata the hub writes ids of messages as numbers: an
// element without members is such a number, or a list of them.
type members map[string]members

// hubNumbers are those that actors/core writes into its notices.
var hubNumbers = sync.OnceValue(func() members {
	return members{
		"task_completed": {},
		"wake":           {"matched": {}, "since_id": {}},
		"handoff":        {"task_id": {}},
		"recovery":       {"task_message_id": {}},
	}
})

// mapper rewrites one JSON text.
type mapper struct {
	text   func(string) string                // for every string
	inID   func(string) string                // for strings where ids stand
	number func(int64) (Number, bool)         // encodes an id; may be nil
	id     func(Number) (hub.MessageID, bool) // decodes an id; may be nil
	in     *strictjson.Scanner
}

func (m *mapper) run(raw json.RawMessage, in members) (json.RawMessage, error) {
	dst := make([]byte, 0, len(raw))
	err := readJSON(raw, func(s *strictjson.Scanner) (err error) {
		m.in = s
		dst, err = m.value(dst, in, false)
		return err
	})
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// value appends the next value to dst. in holds the members of interest, and isID says
// that ids stand here.
func (m *mapper) value(dst []byte, in members, isID bool) ([]byte, error) {
	switch c := m.in.Peek(); {
	case c == '{':
		return m.object(dst, in)
	case c == '[':
		return m.array(dst, in, isID)
	case c == '"':
		text, err := m.in.Text()
		if err != nil {
			return nil, err
		}
		return m.string(dst, string(text), isID), nil
	default:
		start := m.in.Pos()
		if err := m.in.Pass(); err != nil {
			return nil, err
		}
		token := m.in.Since(start)
		if isID && m.number != nil {
			if id, ok := parseNumber(string(token)); ok {
				if n, ok := m.number(id); ok {
					return append(strconv.AppendInt(append(dst, `"#m`...), int64(n), 10), '"'), nil
				}
			}
		}
		return append(dst, token...), nil
	}
}

func (m *mapper) string(dst []byte, text string, isID bool) []byte {
	if !isID {
		return appendQuoted(dst, m.text(text))
	}
	if m.id != nil && len(text) > 2 && text[:2] == "#m" {
		if n, ok := parseNumber(text[2:]); ok {
			if id, ok := m.id(Number(n)); ok {
				return strconv.AppendInt(dst, int64(id), 10)
			}
		}
	}
	return appendQuoted(dst, m.inID(text))
}

func (m *mapper) array(dst []byte, in members, isID bool) ([]byte, error) {
	dst = append(dst, '[')
	err := m.in.Array(func(i int) (err error) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst, err = m.value(dst, in, isID)
		return err
	})
	return append(dst, ']'), err
}

// member is one member of an object that is being written: its name, and where name,
// colon and value stand.
type member struct {
	name     string
	from, to int
}

// object appends an object with its members sorted by their new names.
func (m *mapper) object(dst []byte, in members) ([]byte, error) {
	dst = append(dst, '{')
	start := len(dst)
	var all []member
	err := m.in.Object(nil, func(name []byte, _ int) (err error) {
		if len(all) > 0 {
			dst = append(dst, ',')
		}
		given := string(name)
		one := member{name: m.text(given), from: len(dst)}
		dst = append(appendQuoted(dst, one.name), ':')
		inner, known := in[given]
		if dst, err = m.value(dst, inner, known && len(inner) == 0); err != nil {
			return err
		}
		one.to = len(dst)
		all = append(all, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sortMembers(dst, start, all)
}

// sortMembers sorts the members that stand in dst from start on, and ends their object.
func sortMembers(dst []byte, start int, all []member) ([]byte, error) {
	byName := func(a, b member) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(all, byName) {
		written := slices.Clone(dst[start:])
		slices.SortFunc(all, byName)
		dst = dst[:start]
		for i, one := range all {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, written[one.from-start:one.to-start]...)
		}
	}
	for i := 1; i < len(all); i++ {
		if all[i-1].name == all[i].name {
			return nil, errTwice
		}
	}
	return append(dst, '}'), nil
}
