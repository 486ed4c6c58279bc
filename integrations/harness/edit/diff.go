package edit

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Diff is the unified diff of a file, nil being one that is absent. What
// only stands around the change may hold secrets of others: values of keys that
// name one and what looks like one are masked there. What goes or comes is shown as
// it is, because it is what is asked about.
func Diff(file string, before, after []byte) string {
	from, to := filepath.ToSlash(file), filepath.ToSlash(file)
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	edits := udiff.Lines(string(before), string(after))
	if len(edits) == 0 {
		if before == nil != (after == nil) {
			return fmt.Sprintf("--- %s\n+++ %s\n", from, to)
		}
		return ""
	}
	unified, err := udiff.ToUnifiedDiff(from, to, string(before), edits, udiff.DefaultContextLines)
	if err != nil {
		return fmt.Sprintf("--- %s\n+++ %s\n(%v)\n", from, to, err)
	}
	gone, come := changed(before, after)
	stays := func(value string) bool {
		return bytes.Contains(before, []byte(value)) && bytes.Contains(after, []byte(value))
	}
	was, is := lineStarts(before), lineStarts(after)
	for _, h := range unified.Hunks {
		from, to := h.FromLine-1, h.ToLine-1
		for i := range h.Lines {
			line := &h.Lines[i].Content
			switch h.Lines[i].Kind {
			case udiff.Equal:
				*line = mask(*line, nil)
				from, to = from+1, to+1
			case udiff.Delete:
				*line = maskOutside(*line, was[from], gone, stays)
				from++
			case udiff.Insert:
				*line = maskOutside(*line, is[to], come, stays)
				to++
			}
		}
	}
	return unified.String()
}

// changed is what lies between the common beginning and the common end.
func changed(before, after []byte) (gone, come span) {
	begin := 0
	for begin < min(len(before), len(after)) && before[begin] == after[begin] {
		begin++
	}
	end := 0
	for end < min(len(before), len(after))-begin && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return span{begin, len(before) - end}, span{begin, len(after) - end}
}

// lineStarts are the offsets at which lines begin.
func lineStarts(b []byte) []int {
	var starts []int
	offset := 0
	for line := range bytes.Lines(b) {
		starts = append(starts, offset)
		offset += len(line)
	}
	return starts
}

// maskOutside masks what a changed line held before and holds still: a file may be
// one line. Between two changes, within the piece, stays tells what is on both sides.
func maskOutside(line string, offset int, piece span, stays func(value string) bool) string {
	begin := min(max(piece.start-offset, 0), len(line))
	end := min(max(piece.end-offset, begin), len(line))
	return mask(line[:begin], nil) + mask(line[begin:end], stays) + mask(line[end:], nil)
}

const masked = "••••"

var (
	// secretKey is a key that names a secret, with a value behind it in any of the
	// formats.
	secretKey = regexp.MustCompile(`(?i)(["']?[\w.-]*(?:token|secret|passw|api[_-]?key|apikey|auth|credential|cookie|private|access[_-]?key)[\w.-]*["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,{}\[\]"'][^\s,{}\[\]]*(?: [^\s,{}\[\]]+)*)`)
	// upperKey is a variable of an environment: all in capitals.
	upperKey = regexp.MustCompile(`(["']?\b[A-Z][A-Z0-9_]{2,}["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,{}\[\]"'][^\s,{}\[\]]*(?: [^\s,{}\[\]]+)*)`)
	// looksSecret is a word that is one by its look: a known prefix, a bearer, user
	// and password in an address, or many letters and digits without a break.
	looksSecret = regexp.MustCompile(`(?i)\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abpr]|npm|pypi|hf|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{8,}|\bbearer\s+[^\s"',]+|://[^/\s"'@]+@|[?&](?:key|token|sig|signature|secret|password|auth)=[^&\s"']+`)
	longWord    = regexp.MustCompile(`[A-Za-z0-9+_=-]{24,}`)
)

// mask hides what may be a secret in one line, as far as hide says; nil hides all.
func mask(line string, hide func(value string) bool) string {
	if hide == nil {
		hide = func(string) bool { return true }
	}
	line = secretKey.ReplaceAllStringFunc(line, func(s string) string { return maskValue(secretKey, s, hide) })
	line = upperKey.ReplaceAllStringFunc(line, func(s string) string { return maskValue(upperKey, s, hide) })
	line = looksSecret.ReplaceAllStringFunc(line, func(s string) string {
		if !hide(s) {
			return s
		}
		if strings.HasPrefix(s, "://") {
			return "://" + masked + "@"
		}
		if key, _, ok := strings.Cut(s, "="); ok && strings.ContainsAny(s[:1], "?&") {
			return key + "=" + masked
		}
		return masked
	})
	return longWord.ReplaceAllStringFunc(line, func(s string) string {
		if strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, isLetter) && hide(s) {
			return masked
		}
		return s
	})
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// maskValue keeps the key and the quotation marks.
func maskValue(re *regexp.Regexp, s string, hide func(value string) bool) string {
	m := re.FindStringSubmatch(s)
	if !hide(m[2]) {
		return s
	}
	if q := m[2][:1]; q == `"` || q == "'" {
		return m[1] + q + masked + q
	}
	if m[2] == "true" || m[2] == "false" || m[2] == "null" {
		return s
	}
	return m[1] + masked
}
