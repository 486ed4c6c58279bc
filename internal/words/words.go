// Package words checks the English of the project: comments and longer strings
// of Go, comments of Python, and the prose of the documents. It knows only
// habits that a pattern can recognize without doubt; a reader finds the rest.
//
// The package has no state. It reads files below the folder it is given and
// never changes one.
package words

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// A Text is a piece of prose with its place.
type Text struct {
	File    string // path relative to the root, with slashes
	Line    int    // first line of the text, from 1
	Prose   string
	Literal bool // a string of the program rather than a comment or document
}

// A Finding is one habit at one place.
type Finding struct {
	File   string
	Line   int
	Rule   string // what is wrong and what to write instead
	Sample string // the words around it
}

// A habit is one pattern that strangers had to read twice.
type habit struct {
	name     string
	pattern  *regexp.Regexp
	literals bool // also in strings of the program
}

// MaxSentence is the largest number of words in a sentence of a comment or a
// document. Readers lost the thread of longer ones.
const MaxSentence = 40

var habits = []habit{
	{
		name:     `"who" without a noun: name the agent, caller, process or client`,
		pattern:  regexp.MustCompile(`(?:\b(?:of|for|to|by|from|with|than|as|and|or|but|if|about|only|is|are|also|let|lets|tells?|see|sees|then|between|beside|after|before|because|that|which|when|not|upon|on|at|in) who(?:ever)?\b|(?:^|[;:(] )[Ww]ho(?:ever)? (?:[a-z]+s|is|has|was|may|can|must|will|did|does|had|would)\b[^?]*$)`),
		literals: true,
	},
	{
		name:     `"whom" without a noun: name the agent, caller, process or client`,
		pattern:  regexp.MustCompile(`\b(?:for|to|of|by|from|with) whom(?:ever)? (?:it|they|he|she|one|nobody|somebody)\b|(?:^|[,;:(] )whom\b`),
		literals: true,
	},
	{
		name:     `"what" as a subject after a preposition: name the thing`,
		pattern:  regexp.MustCompile(`\b(?:of|for|than|beside|behind|between|besides|against) what (?:is|was|has|had|are|were|comes?|came|waits?|stands?|needs?|stood|lies)\b`),
		literals: true,
	},
	{
		name:    `a private word: use the field's term (see docs/glossary.md)`,
		pattern: regexp.MustCompile(`(?i)\b(?:bells?|letterbox|sieves?|veil(?:ed|s)?|in vain|restless|poked?|pokes|atlas|deaf)\b`),
	},
	{
		name:     `British spelling: the project writes American English`,
		pattern:  regexp.MustCompile(`(?i)\b(?:behaviours?|colours?|favours?|favourite|honours?|neighbours?|organis(?:e|es|ed|ing|ation)|recognis(?:e|es|ed|ing)|normalis(?:e|es|ed|ing|ation)|serialis(?:e|es|ed|ing|ation)|initialis(?:e|es|ed|ing|ation)|synchronis(?:e|es|ed|ing|ation)|authoris(?:e|es|ed|ing|ation)|sanitis(?:e|es|ed|ing|er|ation)|optimis(?:e|es|ed|ing|ation)|summaris(?:e|es|ed|ing)|minimis(?:e|es|ed|ing)|labell(?:ed|ing)|modell(?:ed|ing)|travell(?:ed|ing)|signall(?:ed|ing)|cancell(?:ing)|catalogues?|centres?|defence|licences?|licenced|judgement|artefacts?|analys(?:e|es|ed|ing)|fulfil|grey|whilst)\b`),
		literals: true,
	},
	{
		name:     `a double negative or an empty condition: say what holds`,
		pattern:  regexp.MustCompile(`\b(?:what is so|so what is|is that of who|not (?:without|unless|nobody|nothing)|nothing but what|but for what|as what it was|is it that)\b`),
		literals: true,
	},
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?:;](?:\s+|$)`)
	codeSpan    = regexp.MustCompile("`[^`]*`")
	quoted      = regexp.MustCompile(`"[^"]*"`)
	link        = regexp.MustCompile(`\]\([^)]*\)`)
)

// Check returns the findings in t, in the order of the text.
func Check(t Text) []Finding {
	prose := quoted.ReplaceAllString(link.ReplaceAllString(codeSpan.ReplaceAllString(t.Prose, "CODE"), "]"), "QUOTE")
	var found []Finding
	for sentence := range sentences(prose) {
		for _, h := range habits {
			if t.Literal && !h.literals {
				continue
			}
			if at := h.pattern.FindStringIndex(sentence); at != nil {
				found = append(found, Finding{t.File, t.Line, h.name, around(sentence, at)})
			}
		}
		if n := len(strings.Fields(sentence)); n > MaxSentence && !t.Literal {
			found = append(found, Finding{t.File, t.Line, "a sentence of more than 40 words: cut it", around(sentence, []int{0, 0})})
		}
	}
	return slices.Compact(found)
}

// sentences yields the sentences of prose with their punctuation. A colon or a
// semicolon ends one too: the reader may rest there.
func sentences(prose string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(prose) > 0 {
			end := len(prose)
			if at := sentenceEnd.FindStringIndex(prose); at != nil {
				end = at[1]
			}
			if !yield(strings.Join(strings.Fields(prose[:end]), " ")) {
				return
			}
			prose = prose[end:]
		}
	}
}

// around returns up to 40 bytes on each side of a match, cut at spaces.
func around(s string, at []int) string {
	from, to := max(0, at[0]-40), min(len(s), at[1]+40)
	return strings.ToValidUTF8(s[from:to], "")
}
