package hub

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCondition: a condition that is taken names what its kind needs, and is taken again
// as it was given. A refusal shows the way out.
func FuzzCondition(f *testing.F) {
	for _, s := range []string{
		"for-me", "for-me:", "task-ready", "task-ready:r_1", "answered:7", "answered:07", "answered:+7", "tasks-complete:1,2,2", "tasks-complete:1,,2",
		"tasks-complete:" + strings.Repeat("1,", 2*MaxWatchTasks) + "1", "run-complete:n_1", "message-from:a", "message-from:a.watch", "seat-idle:operator", "", ":", "\x00:\xff", "answered:9223372036854775808",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCondition("until", s)
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) || e.Fix == "" {
				t.Fatalf("%q is refused with %v", s, err)
			}
			return
		}
		for _, id := range append(c.Tasks, c.Message) {
			if id < 0 || id > MaxMessageID {
				t.Fatalf("%q names %d", s, id)
			}
		}
		if c.Text != s || len(c.Tasks) > MaxWatchTasks || c.Agent != "" && CheckAgentID("", c.Agent) != nil {
			t.Fatalf("%q is read as %+v", s, c)
		}
	})
}

// FuzzAgentID: what is suggested in place of a name is an agent id, and an agent id is
// one for every reader.
func FuzzAgentID(f *testing.F) {
	for _, s := range []string{"", "a", "Ann Lee", "a/b", "-a", strings.Repeat("é", 70), strings.Repeat("a", 65), "\u202ea", "a.watch", "everyone", "\xff", "a\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := SuggestAgentID(s); got != "" && CheckAgentID("", got) != nil {
			t.Fatalf("for %q the id %q is suggested, which is none", s, got)
		}
		if CheckAgentID("", AgentID(s)) == nil && (!utf8.ValidString(s) || len(s) > MaxAgentIDBytes || strings.ContainsAny(s, "/ \\\"'<>\n")) {
			t.Fatalf("%q is an agent id", s)
		}
	})
}

// FuzzHost: the canonical form of a host is its own canonical form, and holds nothing that
// ends a host in a URL.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "EXAMPLE.com.", "[::1]:80", "::1", "127.0.0.1:0", "a:b", "[a]", "x@y", "a/b", "0x7f.1", "[::ffff:1.2.3.4]", "xn--a", "a..b", "-a", "[fe80::1%25lo]:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, err := ParseHost(s)
		if err != nil {
			return
		}
		if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, "/\\@?#[]% \t\r\n") {
			t.Fatalf("%q is the host %q", s, host)
		}
		again := host
		if strings.Contains(host, ":") {
			again = "[" + host + "]"
		}
		if same, none, err := ParseHost(again); err != nil || same != host || none != 0 {
			t.Fatalf("%q is %q with port %d, and that is %q with port %d: %v", s, host, port, same, none, err)
		}
	})
}
