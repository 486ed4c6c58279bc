package adapter

import (
	"errors"
	"strings"
)

// shellWord returns s as one word for a Unix shell, quoted only if needed.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, odd) {
		return s
	}
	return single(s)
}

// wordsOf splits a line that the hub has written into words, as a shell does.
// It knows only the syntax of those lines: quotes and, on Unix, the escape of a
// quote.
func wordsOf(line, goos string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' && goos != "windows", r == '"':
			quote, begun = r, true
		case r == '\\' && goos != "windows":
			escaped, begun = true, true
		case r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case strings.ContainsRune("$`;&|<>()*?[]#~\n\t", r):
			return nil, errors.New("the hub has not written the line: " + line)
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("the line ends within a quote: " + line)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
