package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hubcli/hub"
)

// bounds are what the tag bounds of a field, or the parentheses of a parameter, say. The parts
// have semicolons between them:
//
//	1..200 runes    how many characters; ..200: at most; 1..: at least
//	name 1..200     the same, without control characters; checkBounds checks it
//	text 1..200     the same, and not blank; checkBounds checks it
//	..100 items     how many elements; members: of a map
//	0..60           a number; instead of numbers there may be names of constants of package hub
//	each …          the same of the elements
//	one of a b      the values
//	or empty        the empty text, too
//	is true         the only value
//	like ^[a-z]+$   a regular expression; nothing stands behind it
//	default 300     what counts if it is left out
//	as Name         another schema than that of the type: one of the description, any, a JSON type, base64, date or date-time
//	from session    the body may leave it out if the session says it
type bounds struct {
	as                   string
	low, high, unit      string
	kind                 string // name, text or nothing
	highest              string // high as the tag has it
	oneOf                []string
	orEmpty, fromSession bool
	only, like, absent   string
	each                 *bounds
}

var rangeForm = regexp.MustCompile(`^([\w.]*?)\.\.([\w.]*?)(?: (runes|items|members))?$`)

// parseBounds reads a tag. Names of limits become numbers.
func parseBounds(tag string, limits map[string]string) (*bounds, error) {
	b := &bounds{}
	for tag != "" {
		part, rest, _ := strings.Cut(tag, "; ")
		if strings.HasPrefix(strings.TrimLeft(strings.ReplaceAll(tag, "each ", ""), " "), "like ") {
			part, rest = tag, ""
		}
		if err := b.take(part, limits); err != nil {
			return nil, err
		}
		tag = rest
	}
	return b, nil
}

func (b *bounds) take(part string, limits map[string]string) (err error) {
	word, rest, _ := strings.Cut(part, " ")
	switch word {
	case "each":
		if b.each == nil {
			b.each = &bounds{}
		}
		return b.each.take(rest, limits)
	case "name", "text":
		b.kind = word
		return b.take(rest+" runes", limits)
	case "as":
		b.as = rest
	case "is":
		b.only = rest
	case "like":
		b.like = rest
	case "default":
		b.absent = rest
	case "one":
		b.oneOf = strings.Fields(strings.TrimPrefix(rest, "of "))
	case "or":
		b.orEmpty = true
	case "from":
		b.fromSession = true
	default:
		m := rangeForm.FindStringSubmatch(part)
		if m == nil {
			return fmt.Errorf("bounds: nobody knows %q: api/gen/bounds.go says what may stand there", part)
		}
		b.unit = m[3]
		if b.low, err = number(m[1], limits); err != nil {
			return err
		}
		b.highest = m[2]
		b.high, err = number(m[2], limits)
	}
	return err
}

// number returns the number that a bound names, or "" for none.
func number(text string, limits map[string]string) (string, error) {
	if text == "" || json.Valid([]byte(text)) {
		return text, nil
	}
	if value, ok := limits[text]; ok {
		return value, nil
	}
	return "", fmt.Errorf("bounds: package hub has no number %s", text)
}

// keywords are those of JSON Schema for a range, by its unit.
var keywords = map[string][2]string{
	"":        {"minimum", "maximum"},
	"runes":   {"minLength", "maxLength"},
	"items":   {"minItems", "maxItems"},
	"members": {"minProperties", "maxProperties"},
}

// narrows reports whether the bounds say something of a single value, so that a reference to the
// schema of its type would not hold it.
func (b *bounds) narrows() bool {
	return b.oneOf != nil || b.only != "" || b.like != "" || b.orEmpty || b.unit == "runes" || b.unit == "" && b.low+b.high != ""
}

// maxNameChars is the length of the schema Name.
var maxNameChars = strconv.Itoa(hub.MaxNameChars)

// bounded returns a schema with its bounds.
func (m *maker) bounded(s schema, b *bounds) schema {
	if b.as != "" {
		s = m.as(b.as)
	}
	if b.kind == "name" && b.low == "1" && b.high == maxNameChars {
		return refTo("Name")
	}
	if b.narrows() {
		s = m.inline(s, b.oneOf != nil || b.like != "" || b.only != "" || b.unit == "runes")
	}
	if b.oneOf != nil {
		s = s.with("enum", b.oneOf)
	}
	if b.orEmpty {
		s = emptied(s)
	}
	if b.only != "" {
		s = s.with("const", value(b.only))
	}
	if b.low != "" {
		s = s.with(keywords[b.unit][0], json.Number(b.low))
	}
	if b.high != "" {
		s = s.with(keywords[b.unit][1], json.Number(b.high))
	}
	if b.like != "" {
		s = s.with("pattern", b.like)
	}
	if b.absent != "" {
		s = s.with("default", value(b.absent))
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		if elem, ok := s.get(inner).(schema); ok && b.each != nil {
			s = s.with(inner, m.bounded(elem, b.each))
		}
	}
	return s
}

// value reads a value of a tag: JSON, or else a text without quotes.
func value(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return text
}

// as returns the schema that a tag names.
func (m *maker) as(name string) schema {
	switch name {
	case "any":
		return schema{}
	case "string", "integer", "number", "boolean", "object":
		return typed(name)
	case "base64":
		return typed("string").with("contentEncoding", name)
	case "date", "date-time":
		return typed("string").with("format", name)
	}
	if m.made[name] == nil && m.isSet(name) {
		return m.set(name)
	}
	return refTo(name)
}

// emptied is a schema that takes the empty text, too.
func emptied(s schema) schema {
	if pattern, ok := s.get("pattern").(string); ok {
		s = s.with("pattern", "^("+strings.Trim(pattern, "^$")+")?$")
	}
	if list, ok := s.get("enum").([]string); ok {
		s = s.with("enum", append([]string{""}, list...))
	}
	return s
}
