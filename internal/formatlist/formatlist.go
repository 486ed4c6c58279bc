// Package formatlist holds the lists of all that a store may hold, for tests: nothing new
// may be stored without the number of the store's format that says so. It is for tests
// only.
package formatlist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Thing is something that a store may hold.
type Thing struct {
	Name   string // as the list shows it, one word or more
	Number int    // of the step in core.FormatSteps that brought it; 0: none
}

// before is the number in a list of a thing that was there before the steps: the store's
// format did not tell programs of that time apart.
const before = 4

// TB is the part of testing.TB that the package needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Check compares things with the list in a file: a line each, its number and its name. With
// update it adds lines for things that have the number of a step, and makes a list that is
// not there. No line is ever taken away or changed.
func Check(t TB, file string, things []Thing, update bool) {
	t.Helper()
	list, err := read(file)
	makes := update && errors.Is(err, fs.ErrNotExist)
	if err != nil && !makes {
		t.Fatal(err)
		return
	}
	var unnumbered, unlisted []string
	there := map[string]bool{}
	for _, thing := range things {
		there[thing.Name] = true
		number, listed := list[thing.Name]
		switch {
		case listed && number != max(thing.Number, before):
			t.Errorf("%s has the number %d in %s and %d in core.FormatSteps (0: none); a number that was given is never changed", thing.Name, number, file, thing.Number)
		case listed:
		case thing.Number == 0 && !makes:
			unnumbered = append(unnumbered, thing.Name)
		default:
			unlisted = append(unlisted, thing.Name)
			list[thing.Name] = max(thing.Number, before)
		}
	}
	slices.Sort(unnumbered)
	if len(unnumbered) > 0 {
		t.Errorf("new in the store, without a number of the store's format:\n  %s\nOlder programs would not understand it and take it for damage. "+
			"Name it in a step of core.FormatSteps (actors/core/format.go), then run this test with -update; docs/formats.md, \"Versions\", says how", strings.Join(unnumbered, "\n  "))
	}
	for name := range list {
		if !there[name] {
			t.Errorf("%s is in %s and no more in the program; what was stored once is read for ever", name, file)
		}
	}
	switch {
	case len(unlisted) > 0 && update:
		write(t, file, list)
	case len(unlisted) > 0:
		t.Errorf("not in %s: run this test with -update to add\n  %s", file, strings.Join(unlisted, "\n  "))
	}
}

func read(file string) (map[string]int, error) {
	list := map[string]int{}
	b, err := os.ReadFile(file)
	if err != nil {
		return list, err
	}
	for line := range strings.Lines(string(b)) {
		digits, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		number, err := strconv.Atoi(digits)
		if !ok || err != nil {
			return nil, fmt.Errorf("%s: %q is no number and name", file, line)
		}
		list[name] = number
	}
	return list, nil
}

func write(t TB, file string, list map[string]int) {
	t.Helper()
	var lines []string
	for name, number := range list {
		lines = append(lines, fmt.Sprintf("%d %s\n", number, name))
	}
	slices.SortFunc(lines, func(a, b string) int {
		_, a, _ = strings.Cut(a, " ")
		_, b, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Members lists under a name the members of the JSON of v, those of its parts included.
// number gives the number of a member, from the path that leads to it.
func Members(under string, v any, number func(path []string) int) (things []Thing) {
	walk(reflect.TypeOf(v), nil, nil, func(path []string) {
		things = append(things, Thing{Name: under + " member " + strings.Join(path, "."), Number: number(path)})
	})
	return things
}

// walk calls found with the path of each member of the JSON of a type.
func walk(t reflect.Type, path []string, within []reflect.Type, found func([]string)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(within, t) {
		return
	}
	within = append(slices.Clip(within), t)
	for i := range t.NumField() {
		field := t.Field(i)
		tag, tagged := field.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case name == "-":
			continue
		case field.Anonymous && name == "":
			walk(field.Type, path, within, found)
			continue
		case !field.IsExported():
			continue
		case !tagged:
			name = field.Name
		}
		at := append(slices.Clip(path), name)
		found(at)
		walk(field.Type, at, within, found)
	}
}
