package room

import (
	"errors"
	"testing"

	"hubcli/hub"
)

func TestParseKey(t *testing.T) {
	for in, want := range map[string]struct {
		name      string
		modifiers int
	}{
		"Enter": {"Enter", 0}, "a": {"a", 0}, "A": {"A", 0}, "+": {"+", 0}, "ä": {"ä", 0}, "Space": {" ", 0},
		"Control+a": {"a", 2}, "Shift+Tab": {"Tab", 8}, "Control+Shift+Enter": {"Enter", 10}, "Control++": {"+", 2}, "Meta+Alt+x": {"x", 5},
	} {
		if k, modifiers, err := parseKey(in); err != nil || k.name != want.name || modifiers != want.modifiers {
			t.Errorf("%q is %+v with %d, %v", in, k, modifiers, err)
		}
	}
	for _, bad := range []string{"", "ab", "Ctrl+a", "Control+", "enter", "\x00", "Control+Hyper+a", "\xff", "a+b"} {
		if k, _, err := parseKey(bad); err == nil {
			t.Errorf("%q is %+v", bad, k)
		}
	}
}

// TestRefs: a number means one element for ever, and only while its document is shown.
func TestRefs(t *testing.T) {
	r := newRefs()
	r.begin("first")
	a, b := r.give(10), r.give(20)
	r.begin("first")
	if again := r.give(20); again != b {
		t.Errorf("the same element is %s, then %s", b, again)
	}
	if _, err := r.find(a, "first"); refusal(err) != hub.CodeStaleRef {
		t.Errorf("an element that is gone from the snapshot: %v", err)
	}
	if node, err := r.find(b, "first"); node != 20 || err != nil {
		t.Errorf("%s is %d, %v", b, node, err)
	}
	if _, err := r.find(b, "second"); refusal(err) != hub.CodeStaleRef {
		t.Errorf("on another page: %v", err)
	}
	r.begin("second")
	if c := r.give(20); c == a || c == b {
		t.Errorf("the ref %s is given out twice", c)
	}
	for _, bad := range []string{"", "e", "e0", "e-1", "12", "x1", "e1x"} {
		if _, err := r.find(bad, "second"); refusal(err) != hub.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func refusal(err error) hub.Code {
	if refused, ok := errors.AsType[*hub.Error](err); ok {
		return refused.Code
	}
	return ""
}
