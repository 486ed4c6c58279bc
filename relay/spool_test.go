package relay

import (
	"slices"
	"testing"

	"hubcli/hub"
)

func TestFolder(t *testing.T) {
	for agent, want := range map[hub.AgentID]string{
		"dev-a":       "dev-a",
		"a.b_c-1":     "a.b_c-1",
		"a@b":         "a_b",
		"a@:+b":       "a_b",
		"host:dev@x+": "host_dev_x_",
	} {
		if got := Folder(agent); got != want {
			t.Errorf("Folder(%q) = %q, want %q", agent, got, want)
		}
	}
}

func TestRequestIDsSortByTime(t *testing.T) {
	var ids []RequestID
	for range 1000 {
		id := NewRequestID()
		if !id.Valid() {
			t.Fatalf("%q is no valid id", id)
		}
		ids = append(ids, id[:12])
	}
	if !slices.IsSorted(ids) {
		t.Error("later ids sort before earlier ones")
	}
}

func TestRequestIDForm(t *testing.T) {
	for id, want := range map[RequestID]bool{
		"a": true, "7-b.c_d": true, "": false, ".a": false, "-a": false, "a/b": false, "a\nb": false, "ä": false,
		RequestID(make([]byte, 129)): false,
	} {
		if id.Valid() != want {
			t.Errorf("%q: Valid() = %v", id, !want)
		}
	}
}
