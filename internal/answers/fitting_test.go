package answers

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestJSONBytes compares the estimate with what encoding/json makes. It must never be less,
// and not much more, where texts are long.
func TestJSONBytes(t *testing.T) {
	var all strings.Builder
	for c := range rune(0x2000) {
		all.WriteRune(c)
	}
	for range 100 {
		all.WriteString("<&>\u2028\"\\\n\U0001f600")
	}
	text, n, at, id := all.String(), 7, hub.Time(math.MaxInt64/4_000_000), hub.MessageID(hub.MaxMessageID)
	metadata, err := json.Marshal(map[string]any{"a": text, "b": []int{1, 2}})
	require.NoError(t, err)
	agent := hub.AgentID(text)
	for _, row := range []any{
		hub.Decision{},
		hub.Decision{Title: text, Note: text, Metadata: metadata, CreatedAt: at},
		hub.Memory{},
		hub.Memory{Text: text, Tags: []string{text, text}, Truncated: &hub.Truncated{Chars: n, Fetch: text}, ReplacedAt: &at},
		hub.Task{},
		hub.Task{Title: text, BlockedBy: []hub.TaskID{id, id}, Assignee: &agent, ParentTaskID: &id, CompletedAt: &at},
		hub.Claim{Metadata: metadata},
		hub.Claim{Metadata: metadata, Waiters: []hub.LeaseWaiter{{AgentID: agent, Since: at}}},
		hub.LiveAgent{},
		hub.LiveAgent{Session: hub.Session{Metadata: metadata, Capabilities: []string{text}}, Details: &hub.AgentDetails{Watching: []string{text}, Unread: n}},
		hub.Run{TaskIDs: []hub.TaskID{id, id, id}, Title: text},
		hub.Ask{},
		hub.Spawn{},
		hub.Room{},
		hub.Project{},
		hub.Artifact{},
		hub.ThreadSummary{},
		hub.Invite{},
		hub.Channel{},
		hub.Lock{},
	} {
		b, err := json.Marshal(row)
		require.NoError(t, err)
		if got := JSONBytes(reflect.ValueOf(row)); got < len(b) || got > len(b)*5/4+2000 {
			t.Errorf("%T has %d bytes, the estimate is %d", row, len(b), got)
		}
	}
}

// TestFitting: the longest rows are left out and the rest keeps its order. One row is there in
// any case.
func TestFitting(t *testing.T) {
	long, longer := strings.Repeat("l", 1000), strings.Repeat("x", 5000)
	for _, c := range []struct {
		rows []string
		most int
		want string
		all  bool
	}{
		{nil, 0, "", true},
		{[]string{"b", "a"}, 6, "b a", true},
		{[]string{longer, "b", long, "a"}, 1010, "b long a", false},
		{[]string{longer, "b", long, "a"}, 1000, "b a", false},
		{[]string{long, "b", long, "a"}, 1010, "long b a", false}, // of equal ones the last
		{[]string{longer, long}, 1, "long", false},
		{[]string{longer}, 1, "longer", true},
	} {
		got, all := Fitting(c.rows, c.most)
		text := strings.NewReplacer(longer, "longer", long, "long").Replace(strings.Join(got, " "))
		if text != c.want || all != c.all {
			t.Errorf("of %d rows in %d bytes these fit: %s, all %v; want %s, %v", len(c.rows), c.most, text, all, c.want, c.all)
		}
	}
}

// TestFirstRowsStay: of rows in the order of their weight the last ones are left out, however
// long the first ones are.
func TestFirstRowsStay(t *testing.T) {
	long := strings.Repeat("l", 1000)
	for _, c := range []struct {
		rows []string
		most int
		want int
	}{{nil, 0, 0}, {[]string{long, "a", "b"}, 1006, 2}, {[]string{long, "a", "b"}, 1, 1}, {[]string{"a", long, "b"}, 1000, 1}, {[]string{"a", long}, 2000, 2}} {
		if got, all := First(c.rows, c.most); !slices.Equal(got, c.rows[:c.want]) || all != (c.want == len(c.rows)) {
			t.Errorf("of %d rows %d are there in %d bytes, all %v; want %d", len(c.rows), len(got), c.most, all, c.want)
		}
	}
}
