package core

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"hubcli/hub"
)

// spelled maps letters that Unicode decomposition keeps whole to their usual
// ASCII spelling.
var spelled = sync.OnceValue(func() map[rune]string {
	return map[rune]string{
		'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'þ': "th", 'ı': "i", 'ħ': "h",
	}
})

// plain returns s in lower case without accents and other marks.
func plain(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(unicode.ToLower(r)))
			continue
		}
		r = unicode.ToLower(r)
		switch {
		case unicode.Is(unicode.Mn, r):
		case spelled()[r] != "":
			b.WriteString(spelled()[r])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// slugOf makes a slug of a name, or returns none if no character of the name
// can stay. The result is cut to hub.MaxSlugChars characters.
func slugOf(name, none string) string {
	var b strings.Builder
	for _, r := range plain(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == '\'' || r == '’':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == hub.MaxSlugChars {
			break
		}
	}
	if slug := strings.Trim(b.String(), "-"); slug != "" {
		return slug
	}
	return none
}

// freeSlug returns slug, or the first of slug-2, slug-3, … that is not taken.
func freeSlug(slug string, taken func(string) bool) string {
	free := slug
	for n := 2; taken(free); n++ {
		suffix := "-" + strconv.Itoa(n)
		free = strings.TrimRight(slug[:min(len(slug), hub.MaxSlugChars-len(suffix))], "-") + suffix
	}
	return free
}

// sameName reports whether two names are equal except for case, Unicode
// composition and surrounding space.
func sameName(a, b string) bool { return foldName(a) == foldName(b) }

func foldName(name string) string {
	return norm.NFC.String(strings.ToLower(norm.NFC.String(strings.TrimSpace(name))))
}
