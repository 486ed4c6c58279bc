package term

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"hubcli/internal/peertext"
)

func TestTableLines(t *testing.T) {
	for _, c := range []struct {
		what   string
		screen Screen
		rows   [][]any
		want   string
	}{
		{"names alone", Screen{}, nil, "AGENT  N  TITLE"},
		{"columns are as wide as their widest cell", Screen{}, [][]any{{"a", 1, "x"}, {"longer", 100, ""}}, `
AGENT     N  TITLE
a         1  x
longer  100  -`},
		{"wide runes, joined ones and marks take their width", Screen{}, [][]any{{"世界", 1, "x"}, {"e\u0301", 2, "y"}, {"👩‍🚀", 3, "z"}}, `
AGENT  N  TITLE
世界   1  x
` + "e\u0301" + `      2  y
👩‍🚀     3  z`},
		{"text of agents stays on its line and commands no terminal", Screen{}, [][]any{{"a\nb", 1, "\x1b]0;t\x07\x1b[2J"}, {"c\td", 2, "\u202eevil\u200b"}}, `
AGENT  N  TITLE
a\nb   1  \x1b]0;t\a\x1b[2J
c d    2  \u202eevil\u200b`},
		{"nothing is cut where there is no width", Screen{}, [][]any{{"a", 1, strings.Repeat("long ", 40) + "!"}}, `
AGENT  N  TITLE
a      1  ` + strings.Repeat("long ", 40) + "!"},
		{"the widest column that may be cut is cut", Screen{Width: 20}, [][]any{{"agent-1", 1, "a long title"}}, `
AGENT    N  TITLE
agent-1  1  a long …`},
		{"a wide rune is never halved", Screen{Width: 19}, [][]any{{"agent-1", 1, "世界世界世界"}}, `
AGENT    N  TITLE
agent-1  1  世界世…`},
		{"what is still too long is cut at the end", Screen{Width: 9}, [][]any{{"agent-1", 1, "title"}}, `
AGENT   …
agent-1 …`},
		{"colors do not count", Screen{Color: true}, [][]any{{Cell{"a", SGRRed}, 1, Cell{"", SGRRed}}}, "\n" +
			"\x1b[1mAGENT\x1b[0m  \x1b[1mN\x1b[0m  \x1b[1mTITLE\x1b[0m\n\x1b[31ma\x1b[0m      1  -"},
	} {
		t.Run(c.what, func(t *testing.T) {
			table := NewTable("nothing", "AGENT", ">N", "TITLE(6)")
			for _, row := range c.rows {
				table.Add(row...)
			}
			got := strings.Join(table.Lines(c.screen), "\n")
			if want := strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("got\n%q, want\n%q", got, want)
			}
		})
	}
}

// FuzzTable: whatever cells hold, a table has a line for each row, no line is wider than
// the screen, and no line holds what a terminal would obey.
func FuzzTable(f *testing.F) {
	f.Add("a", "b", 10)
	f.Add("世\x1b[31m", "\u202e\n\r\t", 3)
	f.Add("👩‍🚀👩‍🚀👩‍🚀", strings.Repeat("x", 300), 80)
	f.Fuzz(func(t *testing.T, a, b string, width int) {
		width = 1 + (width&0xff+0x100)&0xff
		table := NewTable("", "A(1)", "B(4)")
		table.Add(a, b)
		table.Add(b, a)
		lines := table.Lines(Screen{Width: width})
		if len(lines) != 3 {
			t.Fatalf("%d lines", len(lines))
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > width || strings.ContainsFunc(line, peertext.Hidden) || strings.ContainsAny(line, "\n\t") {
				t.Fatalf("width %d: %q", width, line)
			}
		}
	})
}

// TestScreen: a file is never cut and not colored; --color counts more than NO_COLOR.
func TestScreen(t *testing.T) {
	yes := func() bool { return true }
	size := func() (int, int) { return 100, 30 }
	for _, c := range []struct {
		env  Env
		mode ColorMode
		want Screen
	}{
		{Env{StdoutSize: size}, ColorAuto, Screen{}},
		{Env{StdoutSize: size}, colorAlways, Screen{Color: true}},
		{Env{StdoutSize: size, StdoutTerminal: yes}, ColorAuto, Screen{100, 30, true}},
		{Env{StdoutSize: size, StdoutTerminal: yes}, ColorNever, Screen{100, 30, false}},
		{Env{StdoutTerminal: yes}, ColorAuto, Screen{80, 24, true}},
		{Env{StdoutTerminal: yes, StdoutSize: func() (int, int) { return 0, 0 }}, ColorAuto, Screen{80, 24, true}},
	} {
		c.env.Getenv = func(string) string { return "" }
		if got := c.env.Screen(c.mode); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
	env := Env{StdoutTerminal: yes, Getenv: func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }}
	if env.Screen(ColorAuto).Color || !env.Screen(colorAlways).Color {
		t.Error("NO_COLOR counts where --color is auto, and only there")
	}
}

// TestNarrowTables leave out the columns that may be, and keep the others.
func TestNarrowTables(t *testing.T) {
	table := NewTable("nothing", ">TASK", "READY?", "FROM(8)?", "BLOCKED BY(10)?", "TITLE(12)")
	table.Add(1, "yes", "lead", "", "mend the parser of the shop")
	for width, want := range map[int]string{
		0:  "TASK  READY  FROM  BLOCKED BY  TITLE\n   1  yes    lead  -           mend the parser of the shop",
		48: "TASK  READY  FROM  BLOCKED BY  TITLE\n   1  yes    lead  -           mend the parser …",
		42: "TASK  READY  FROM  TITLE\n   1  yes    lead  mend the parser of the…",
		24: "TASK  TITLE\n   1  mend the parser o…",
		20: "TASK  TITLE\n   1  mend the pars…",
	} {
		if got := strings.Join(table.Lines(Screen{Width: width}), "\n"); got != want {
			t.Errorf("%d columns: got\n%s\nwant\n%s", width, got, want)
		}
	}
}
