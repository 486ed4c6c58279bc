package guard

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
)

// What says nearly the same, and what does not.
func TestWords(t *testing.T) {
	long := "The parser reads each line twice because the scanner is reset before the check; that costs a third of the time on large files, " +
		"so I would keep the offset of the last good line and begin there, unless you see a reason why the second pass is needed at all by somebody else"
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"Thank you!", "thank you", true},
		{"Thank you! (7)", "Thank you! (8)", true},
		{"2026-11-29T15:18:01Z still waiting", "2026-11-29T15:19:44Z still waiting", true},
		{"done 9f3a2c7b-4d1e-11ee-be56-0242ac120002", "done 00a1b2c3-9d1e-12ee-8e56-1242ac120009", true},
		{"Th\u200bank you", "Thank you", true},
		{"Danke schön", "DANKE SCHÖN", true},
		{"It's done", "Its done", true},
		{"谢谢你", "谢谢你2", true},
		{"👍", "🎉", true},
		{"41", "42", true},
		{"thank you very much ann", "thank you very much ben", true},
		{"yes", "no", false},
		{"is it fixed", "is it merged", false},
		{"thank you", "got it", false},
		{"谢谢你的帮助", "我看不懂错误", false},
		{"x", "", false},
		{long, long + " (third try)", true},
		{long, strings.Replace(long, "a third of the time on large files", "nothing on small ones", 1), false},
		{"retry the upload with a timeout of ten seconds", "retry the download with a limit of five megabytes", false},
	} {
		a, b := readWords(tt.a, false), readWords(tt.b, false)
		if a.like(&b) != tt.want || b.like(&a) != tt.want {
			t.Errorf("%q and %q: %v", tt.a, tt.b, !tt.want)
		}
	}
	var none words
	if none.like(&none) {
		t.Error("a post with attachments is like another")
	}
	if w := readWords(strings.Repeat("an endless text ", 100_000), false); w.n != 3 {
		t.Errorf("%d words", w.n)
	}
}

// A message that names another file or identifier says something new, and one with another
// number, time or id does not.
func TestNamesAreNews(t *testing.T) {
	for _, tt := range []struct {
		earlier, later string
		repeats, same  bool
	}{
		{"Please review internal/parser.go next and tell me what is wrong.", "Please review internal/scanner.go next and tell me what is wrong.", false, false},
		{"Done: internal/parser.go, no problem found.", "Done: internal/scanner.go, no problem found.", false, false},
		{"Done: internal/utf8/parser.go, no problem found.", "Done: internal/utf8/scanner.go, no problem found.", false, false},
		{"I have renamed parseOpts in the whole module now", "I have renamed parseFlags in the whole module now", false, false},
		{"I have renamed parse_opts in the whole module now", "I have renamed parse_flags in the whole module now", false, false},
		{"thank you for all that parser.go", "thank you for all that", true, false},
		{"thank you very much ann", "thank you very much ben", true, false},
		{"part1.go is done, next please", "part2.go is done, next please", true, true},
		{"2026-11-29T15:18:01.5Z still waiting", "2026-11-29T15:19:44Z still waiting", true, true},
		{"done 9f3a2c7b-4d1e-11ee-be56-0242ac120002", "done 00a1b2c3-beef-12ee-abcd-1242ac120009", true, true},
		{"ack deadbeef", "ack facadefeed", true, true},
		{"ack V1StGXR8-myT", "ack 9jdHi6B-xKq", true, true},
		{"THANK you", "tHank, you.", true, true},
	} {
		a, b := readWords(tt.earlier, false), readWords(tt.later, false)
		if b.repeats(&a) != tt.repeats || b.same(&a) != tt.same {
			t.Errorf("%q after %q: repeats %v, same %v", tt.later, tt.earlier, b.repeats(&a), b.same(&a))
		}
	}
	if w := readWords(strings.Repeat("a/b", 100_000), false); w.n > maxWords || w.named > maxNames {
		t.Errorf("%d words, %d names", w.n, w.named)
	}
}

// A message has the same words before and after it is stored.
func TestWordsAsStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`\`, `"`, "\n", `\n`, `\u0041`, "a", "\x00b", "ä", "漢字", "\xff", "a.b", "c/", "-1", "aB"})), 0, 20).Draw(t, "parts")
		m := core.MessageDraft{From: "a", To: "b", Body: strings.Join(parts, ""), Kind: "chat"}
		row := m.Encode(1, 1)
		if got := wordsOfStored(&row); got != wordsOf(&m) {
			t.Fatalf("%q: %+v, before %+v", m.Body, got, wordsOf(&m))
		}
	})
	m := core.MessageDraft{From: "a", To: "b", Body: strings.Repeat("\x01word\n", maxChars), Kind: "chat"}
	row := m.Encode(1, 1)
	if wordsOfStored(&row) != wordsOf(&m) {
		t.Error("a long message has other words when it is stored")
	}
}
