package readable

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/internal/peertext"
)

// meant has what Markdown or HTML gives a meaning within a line.
const meant = "`*[]|~${}<>"

var (
	escape   = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)
	startsAs = regexp.MustCompile(`^(#|[+=:-]|[0-9]+[.)])`)
)

// shown is what a reader of Markdown shows of an escaped line. It fails if the line would be
// anything but text.
func shown(t *rapid.T, line string, start bool) string {
	bare := escape.ReplaceAllString(line, "")
	if i := strings.IndexAny(bare, meant); i >= 0 {
		t.Fatalf("%q has a bare %q", line, bare[i])
	}
	for _, entity := range []string{"&lt;", "&gt;", "&amp;", "&nbsp;"} {
		bare = strings.ReplaceAll(bare, entity, "")
	}
	if strings.Contains(bare, "&") {
		t.Fatalf("%q has a bare &", line)
	}
	if start && startsAs.MatchString(strings.TrimLeft(line, " ")) || strings.HasPrefix(line, "    ") {
		t.Fatalf("%q begins a block", line)
	}
	for i := range len(bare) {
		if bare[i] == '_' && !(wordAt(bare, i-1) && wordAt(bare, i+1)) && !strings.Contains(line, "\\") {
			t.Fatalf("%q has a bare _", line)
		}
	}
	text := html.UnescapeString(escape.ReplaceAllString(line, "$1"))
	return strings.ReplaceAll(text, "\u00a0", " ")
}

var nasty = rapid.StringOf(rapid.SampledFrom([]rune("ab_01 #*_`~[](){}<>&|\\!-+=.:$\"'\té☕\u202e\x1b\u00ad")))

func TestOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(nasty, rapid.String()).Draw(t, "text")
		got := oneLine(text)
		if strings.ContainsAny(got, "\n\r") || strings.ContainsFunc(got, peertext.Hidden) {
			t.Fatalf("%q is no clean line", got)
		}
		want := strings.ReplaceAll(peertext.ModelLine(text), "\u00a0", " ")
		if strings.Contains(want, "&") && html.UnescapeString(want) != want {
			return // the text has entities of its own, which shown would undo twice
		}
		if s := shown(t, got, false); s != want {
			t.Fatalf("%q is shown as %q, want %q", got, s, want)
		}
	})
}

// Whatever a text is, each line of its quote is a line of this quote, fences that open are
// closed, and lines outside of them show the text.
func TestQuote(t *testing.T) {
	lines := rapid.SliceOfN(rapid.OneOf(nasty, rapid.SampledFrom([]string{"```", "~~~~", "```go", "```mermaid", " ````", "---", "===", "1. a", "    code", "", "> q"})), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(lines.Draw(t, "lines"), "\n")
		var b strings.Builder
		quote(&b, text)
		fence := ""
		for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
			if i == 0 && line == "" {
				continue
			}
			inner, quoted := strings.CutPrefix(line, ">")
			inner = strings.TrimPrefix(inner, " ")
			switch {
			case !quoted || strings.ContainsFunc(line, peertext.Hidden):
				t.Fatalf("line %d of\n%s", i, b.String())
			case fence == "" && strings.HasPrefix(inner, "```"):
				fence = strings.TrimRight(inner, "abcdefghijklmnopqrstuvwxyz")
				if language := inner[len(fence):]; language != "" && !languages()[language] {
					t.Fatalf("a fence of %q", language)
				}
			case fence != "" && inner == fence:
				fence = ""
			case fence != "":
				if strings.Contains(inner, fence) {
					t.Fatalf("%q could close %q", inner, fence)
				}
			default:
				shown(t, strings.TrimSuffix(inner, `\`), true)
			}
		}
		if fence != "" {
			t.Fatalf("a fence stays open:\n%s", b.String())
		}
	})
}

func TestQuoteShowsTheText(t *testing.T) {
	var b strings.Builder
	quote(&b, "\n\ta_b _c_ 1*2\n2) two\n\n~~~ python\nif a < b: pass\n```\n~~~\nafter\r\n")
	want := "\n> &nbsp;&nbsp;&nbsp;&nbsp;a_b \\_c\\_ 1\\*2\\\n> 2\\) two\n>\n> ````python\n> if a < b: pass\n> ```\n> ````\n> after\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
