package redact

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// A span is a place in a text that has to go.
type span struct {
	start, end int
	rule       string
	value      string // what the tag stands for, if that is not the text of the place
	rank       int    // of what found it: a named value before the rules, and those in their order
}

// merge sorts spans and makes one of those that overlap: none of them may leave a rest. Of
// several, the first and then the longest names the rule, and then the earlier rule.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.rank, b.rank))
	})
	kept := spans[:0]
	for _, s := range spans {
		if len(kept) == 0 || s.start >= kept[len(kept)-1].end {
			kept = append(kept, s)
			continue
		}
		if last := &kept[len(kept)-1]; s.end > last.end {
			last.end, last.value = s.end, ""
		}
	}
	return kept
}

// The parts of a tag.
const (
	tagStart  = "[redacted:"
	tagDigits = 8
)

// tag stands for value.
func (r *Redactor) tag(rule, value string) string {
	mac := hmac.New(sha256.New, r.salt)
	mac.Write([]byte(value))
	return tagStart + rule + ":" + hex.EncodeToString(mac.Sum(nil)[:tagDigits/2]) + "]"
}

// nextTag finds the first tag in text from the offset on. Only the rules that exist have
// tags, so that no agent can hide a secret in one.
func (r *Redactor) nextTag(text string, from int) (start, end int) {
	for {
		at := strings.Index(text[from:], tagStart)
		if at < 0 {
			return len(text), len(text)
		}
		start = from + at
		from = start + len(tagStart)
		rest := text[from:min(len(text), from+maxRuleID+tagDigits+2)]
		rule, rest, _ := strings.Cut(rest, ":")
		if len(rest) > tagDigits && rest[tagDigits] == ']' && r.ids[rule] && strings.Trim(rest[:tagDigits], "0123456789abcdef") == "" {
			return start, from + len(rule) + 1 + tagDigits + 1
		}
	}
}

// maxRuleID bounds the name of a rule.
const maxRuleID = 64
