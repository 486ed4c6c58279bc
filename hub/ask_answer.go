package hub

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// DigestOf names all that a human is shown of a question before they answer it: who asked
// what and when, with which options, for which tool in which folder. It does not change
// while the question is there, and no other question has it, also not one with the same id
// in another store. It is 64 hexadecimal digits.
func (a *Ask) DigestOf() string {
	// JSON keeps the members apart, whatever characters are in them. Its errors cannot occur.
	text, _ := json.Marshal([]any{
		a.AskID, a.AgentID, a.Question, a.Options, a.Default, a.RoomID, a.Blocks, a.ArtifactID, a.MessageID, a.Permission, a.CreatedAt,
	})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Choices are the answers that a question offers.
func (a *Ask) Choices() []string {
	if a.Permission != nil {
		return []string{string(PermissionAllow), string(PermissionDeny)}
	}
	return a.Options
}

// Chosen returns the choice that an answer is, character by character but for space around
// it, and whether there is one.
func (a *Ask) Chosen(answer string) (string, bool) {
	for _, text := range []string{answer, strings.TrimSpace(answer)} {
		if slices.Contains(a.Choices(), text) {
			return text, true
		}
	}
	return "", false
}

// Near returns the choices that an answer nearly is, the nearest first: they differ from it in
// capitals, punctuation or a few letters, begin with it, or have it as their number. Whoever
// typed it may have meant one of them. A choice itself is near to none, and neither are words
// that say something else. The default of a question counts as a choice.
func (a *Ask) Near(answer string) []string {
	word := strings.TrimSpace(answer)
	if _, ok := a.Chosen(word); ok || a.Default != nil && word == *a.Default {
		return nil
	}
	if denied, _, with := strings.Cut(word, ":"); with && a.Permission != nil && denied == string(PermissionDeny) {
		return nil
	}
	choices := a.Choices()
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(choices) {
		return []string{choices[n-1]}
	}
	if a.Default != nil && !slices.Contains(choices, *a.Default) {
		choices = append(slices.Clone(choices), *a.Default)
	}
	type near struct {
		choice   string
		distance int
	}
	var found []near
	typed := letters(word)
	for _, choice := range choices {
		meant := letters(choice)
		distance := edits(typed, meant)
		if len(typed) > 0 && (distance <= slack(meant) || len(typed) < len(meant) && slices.Equal(typed, meant[:len(typed)])) {
			found = append(found, near{choice, distance})
		}
	}
	slices.SortStableFunc(found, func(x, y near) int { return cmp.Compare(x.distance, y.distance) })
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].choice
	}
	return names
}

// letters are the letters and digits of a text, in lower case.
func letters(text string) []rune {
	var kept []rune
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) {
			kept = append(kept, unicode.ToLower(r))
		}
	}
	return kept
}

// slack is how many edits away from a choice a word may be and still be nearly it.
func slack(choice []rune) int {
	switch n := len(choice); {
	case n <= 4:
		return 1
	case n <= 8:
		return 2
	}
	return 3
}

// edits counts the letters that are added, left out, replaced, or exchanged with their
// neighbor between two words. Words whose lengths are far apart are just far.
func edits(a, b []rune) int {
	if apart := max(len(a), len(b)) - min(len(a), len(b)); apart > 3 {
		return apart
	}
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			same := last[j-1]
			if a[i-1] != b[j-1] {
				same++
			}
			now[j] = min(last[j]+1, now[j-1]+1, same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
