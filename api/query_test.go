package api_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
)

func TestQuery(t *testing.T) {
	text := func(q *api.Query) any { return q.Text("p") }
	name := func(q *api.Query) any { return q.Name("p", 3) }
	names := func(q *api.Query) any { return q.Names("p", 3) }
	flag := func(q *api.Query) any { return q.Bool("p") }
	cursor := func(q *api.Query) any { return q.Cursor("p") }
	id := func(q *api.Query) any { return q.ID("p") }
	limit := func(q *api.Query) any { return q.Limit() }
	maxChars := func(q *api.Query) any { return q.MaxChars() }
	wait := func(q *api.Query) any { return q.Wait(7 * time.Second) }
	agent := func(q *api.Query) any { return q.Agent("p") }
	refused := any(nil)
	for _, c := range []struct {
		raw  string
		read func(*api.Query) any
		want any
	}{
		{"", text, ""},
		{"p=a+b%20c", text, "a b c"},
		{"p=", text, ""},
		{"q=1", text, ""},
		{"P=1", text, ""},
		{"p=a&p=b", text, refused},
		{"p=a&p=a", text, refused},
		{"%70=a&p=b", text, refused},
		{"p=abc", name, "abc"},
		{"p=abcd", name, refused},
		{"p=%0A", name, refused},
		{"p=%ff", name, refused},
		{"p=a&p=b&p=a&p=", names, []string{"a", "b"}},
		{"p=a&p=abcd", names, refused},
		{"p=1", flag, true},
		{"p=TRUE", flag, true},
		{"p=yes", flag, true},
		{"p=No", flag, false},
		{"p=0", flag, false},
		{"", flag, false},
		{"p=", flag, refused},
		{"p=2", flag, refused},
		{"p=on", flag, refused},
		{"", cursor, hub.MessageID(0)},
		{"p=0", cursor, hub.MessageID(0)},
		{"p=9007199254740991", cursor, hub.MessageID(1<<53 - 1)},
		{"p=9007199254740992", cursor, refused},
		{"p=-1", cursor, refused},
		{"p=1.0", cursor, refused},
		{"p=1e3", cursor, refused},
		{"p=0x10", cursor, refused},
		{"p=%2B1", cursor, refused},
		{"p=1_000", cursor, refused},
		{"p=", cursor, refused},
		{"p=%D9%A1", cursor, refused},
		{"", id, hub.MessageID(0)},
		{"p=1", id, hub.MessageID(1)},
		{"p=0", id, refused},
		{"", limit, 100},
		{"limit=1", limit, 1},
		{"limit=1000", limit, 1000},
		{"limit=1001", limit, 1000},
		{"limit=99999999999999999999999", limit, 1000},
		{"limit=0", limit, refused},
		{"limit=00", limit, refused},
		{"limit=-5", limit, refused},
		{"limit=1.5", limit, refused},
		{"limit=all", limit, refused},
		{"limit=", limit, refused},
		{"", maxChars, 0},
		{"max_chars=500", maxChars, 500},
		{"max_chars=0", maxChars, refused},
		{"", wait, 7 * time.Second},
		{"timeout=0", wait, time.Duration(0)},
		{"timeout=1.5", wait, 1500 * time.Millisecond},
		{"timeout=61", wait, time.Minute},
		{"timeout=" + strings.Repeat("9", 400), wait, time.Minute},
		{"timeout=-1", wait, refused},
		{"timeout=1e999", wait, refused},
		{"timeout=inf", wait, refused},
		{"timeout=NaN", wait, refused},
		{"timeout=.", wait, refused},
		{"timeout=1.2.3", wait, refused},
		{"timeout=", wait, refused},
		{"timeout=0x1", wait, refused},
		{"", agent, hub.AgentID("")},
		{"p=a.b", agent, hub.AgentID("a.b")},
		{"p=a%2Fb", agent, refused},
	} {
		t.Run(c.raw, func(t *testing.T) {
			q, err := api.ParseQuery(c.raw)
			require.NoError(t, err)
			got := c.read(q)
			if c.want == refused {
				if q.Err() == nil {
					t.Errorf("took %q as %v", c.raw, got)
				}
				return
			}
			if q.Err() != nil {
				t.Fatalf("refused %q: %v", c.raw, q.Err())
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("read %q as %v, want %v", c.raw, got, c.want)
			}
		})
	}
}

func TestParseQuery(t *testing.T) {
	many := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf("p%d=1", i)
		}
		return strings.Join(parts, "&")
	}
	for raw, taken := range map[string]bool{
		many(hub.MaxQueryParameters): true, many(hub.MaxQueryParameters + 1): false,
		strings.Repeat("&", 31): true, strings.Repeat("&", 1_000_000): false,
		"p=%zz": false, "p=%": false, "%=p": false, "p=1;q=2": false, "p=a=b": true, "p": true, "=": true,
	} {
		if _, err := api.ParseQuery(raw); (err == nil) != taken {
			t.Errorf("%.40q: %v", raw, err)
		}
	}
}
