package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/testcli"
)

// TestLogReadsOnBackward: log shows as many messages as were asked for, also where the hub
// answers with fewer of them, or with none because it has not looked far enough back.
func TestLogReadsOnBackward(t *testing.T) {
	page := func(next int, ids ...int) string {
		var rows []string
		for _, id := range ids {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"ts":"2026-11-20T12:14:33.645Z","from_agent":"ann","to_agent":null,"channel":"general","kind":"chat","body":"x"}`, id))
		}
		return fmt.Sprintf(`{"ok":true,"result":[%s],"next_since_id":%d}`, strings.Join(rows, ","), next)
	}
	for name, x := range map[string]struct {
		pages []string
		shown []int
		asked []string
	}{
		"one page has all":       {[]string{page(90, 7, 8, 9)}, []int{7, 8, 9}, []string{"limit=3&tail=true"}},
		"a short page":           {[]string{page(90, 8, 9), page(7, 5)}, []int{5, 8, 9}, []string{"limit=3&tail=true", "before_id=8&limit=1&tail=true"}},
		"nothing is before it":   {[]string{page(90, 1, 9)}, []int{1, 9}, []string{"limit=3&tail=true"}},
		"a page without rows":    {[]string{page(90), page(50, 2, 3, 4), page(90, 5), page(90)}, []int{3, 4, 5}, []string{"limit=3&tail=true", "before_id=91&limit=1000", "before_id=91&limit=1000&since_id=50", "before_id=91&limit=1000&since_id=90"}},
		"one without rows later": {[]string{page(90, 9), page(8), page(8, 4), page(8)}, []int{4, 9}, []string{"limit=3&tail=true", "before_id=9&limit=2&tail=true", "before_id=9&limit=1000", "before_id=9&limit=1000&since_id=8"}},
		"a hub without messages": {[]string{page(0)}, nil, []string{"limit=3&tail=true"}},
	} {
		s := testcli.HubOf(t, map[string][]string{"GET /v1/log": x.pages, "GET /v1/hub-info": {`{"ok":true,"result":{"instance_id":"i"}}`}})
		got := runIn(t, testcli.World(t, nil), "log", "--tail", "3", "--base-url", s.URL)
		var shown []string
		for _, id := range x.shown {
			shown = append(shown, fmt.Sprintf("[chat #%d]", id))
		}
		var lines []string
		for line := range strings.Lines(got.stdout) {
			lines = append(lines, line[strings.Index(line, "[chat"):strings.Index(line, "]")+1])
		}
		if got.exit != 0 || !slices.Equal(lines, shown) {
			t.Errorf("%s: %+v, want %v", name, got, shown)
		}
		var asked []string
		for _, call := range s.Asked {
			if _, query, ok := strings.Cut(call, "GET /v1/log?"); ok {
				asked = append(asked, strings.TrimSuffix(query, "&timeout=0"))
			}
		}
		if !slices.Equal(asked, x.asked) {
			t.Errorf("%s: asked for %q, want %q", name, asked, x.asked)
		}
	}
}
