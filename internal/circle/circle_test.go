package circle

import (
	"slices"
	"testing"
)

func TestAround(t *testing.T) {
	for name, c := range map[string]struct {
		next map[string][]string
		want []string
	}{
		"none":                        {map[string][]string{"a": {"b"}, "b": {"c"}}, nil},
		"two":                         {map[string][]string{"a": {"b"}, "b": {"a"}}, []string{"a", "b"}},
		"the shortest of two":         {map[string][]string{"a": {"b", "c"}, "b": {"d"}, "d": {"a"}, "c": {"a"}}, []string{"a", "c"}},
		"another, that a leads to":    {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}, nil},
		"itself":                      {map[string][]string{"a": {"a"}}, []string{"a"}},
		"the first that is tried":     {map[string][]string{"a": {"c", "b"}, "b": {"a"}, "c": {"a"}}, []string{"a", "c"}},
		"a long one beside dead ends": {map[string][]string{"a": {"x", "b"}, "b": {"x", "c"}, "c": {"a"}}, []string{"a", "b", "c"}},
	} {
		if got := Around("a", func(at string) []string { return c.next[at] }); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
