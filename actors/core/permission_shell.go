package core

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"hubcli/hub"
)

// plainCommand returns the words of a command if it is one command that every shell reads
// as written: no list, pipe, redirection, substitution, pattern, variable or assignment.
// Text in quotes may hold more characters, but none that a shell still acts on there.
func plainCommand(command string) (words []string, plain bool) {
	if len(command) > hub.MaxPermissionCommand || !utf8.ValidString(command) {
		return nil, false
	}
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range command {
		switch {
		case r < ' ' && r != '\t' || r == 0x7f:
			return nil, false
		case quote != 0 && r == quote:
			quote = 0
		case quote == '\'':
			word.WriteRune(r)
		case quote == '"':
			if strings.ContainsRune("$`\\!", r) {
				return nil, false
			}
			word.WriteRune(r)
		case r == '\'' || r == '"':
			inWord, quote = true, r
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		case plainRune(r) && (r != '=' || inWord && len(words) > 0):
			inWord = true
			word.WriteRune(r)
		default:
			return nil, false
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, quote == 0 && len(words) > 0 && words[0] != ""
}

// plainRune reports whether shells give a character outside of quotes no meaning. An equals
// sign in the first word makes it an assignment, and at the beginning of a word zsh looks
// for a command; plainCommand excludes both.
func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
}

// maxNested bounds how deep commands in arguments of shells are read.
const maxNested = 3

// commandHas says whether a command runs what the words of a rule name: surely, or perhaps,
// if the words stand in it in this order in another way.
func commandHas(command string, words []string) matching {
	if runs(command, words, maxNested) {
		return yes
	}
	want := make([]string, 0, len(words))
	for _, w := range words {
		want = append(want, bareWords(w)...)
	}
	for _, w := range bareWords(command) {
		if len(want) > 0 && (w == want[0] || path.Base(w) == want[0]) {
			want = want[1:]
		}
	}
	if len(want) == 0 {
		return maybe
	}
	return no
}

// runs reports whether a part of a command runs what the words name.
func runs(command string, words []string, deep int) bool {
	for _, part := range parts(command) {
		for _, at := range starts(part) {
			if runsAt(part[at:], words) {
				return true
			}
			if deep > 0 && shells()[program(part[at])] {
				for _, argument := range part[at+1:] {
					if runs(argument, words, deep-1) {
						return true
					}
				}
				if runs(strings.Join(part[at+1:], " "), words, deep-1) {
					return true
				}
			}
		}
	}
	return false
}

// shells take commands as arguments.
var shells = sync.OnceValue(func() map[string]bool {
	return map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "fish": true, "eval": true, "su": true, "ssh": true, "script": true}
})

// wrappers run the command in their arguments.
var wrappers = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"sudo": true, "doas": true, "env": true, "command": true, "exec": true, "builtin": true, "nohup": true, "nice": true, "ionice": true,
		"time": true, "stdbuf": true, "setsid": true, "timeout": true, "xargs": true, "watch": true, "strace": true, "busybox": true, "chronic": true,
	}
})

// keywords of shells stand before a command.
var keywords = []string{"!", "{", "if", "then", "elif", "else", "while", "until", "do", "coproc"}

// starts lists the places in a part of a command at which the name of a program stands.
func starts(part []string) (at []int) {
	for i := 0; i < len(part); i++ {
		if assignment(part[i]) || slices.Contains(keywords, part[i]) {
			continue
		}
		at = append(at, i)
		if !wrappers()[program(part[i])] {
			return at
		}
		for i+1 < len(part) && (isOption(part[i+1]) || assignment(part[i+1]) || startsWithDigit(part[i+1]) || isOption(part[i])) {
			if i++; isOption(part[i-1]) {
				at = append(at, i) // the value of the option, or the program
			}
		}
	}
	return at
}

func isOption(word string) bool { return strings.HasPrefix(word, "-") }

func startsWithDigit(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

// assignment reports whether a word sets a variable.
func assignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	return found && name != "" && !startsWithDigit(name) && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

// program is the name of a program without its folder, in lower case: some file systems
// do not tell cases apart.
func program(word string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/"))), ".exe")
}

// runsAt reports whether a command begins with the words of a rule. Options with or without
// a value may stand between them.
func runsAt(command, words []string) bool {
	if program(command[0]) != program(words[0]) {
		return false
	}
	rest := command[1:]
	for _, want := range words[1:] {
		for option := false; ; rest = rest[1:] {
			if len(rest) == 0 {
				return false
			}
			if strings.EqualFold(rest[0], want) {
				break
			}
			if !isOption(rest[0]) && !option {
				return false
			}
			option = isOption(rest[0])
		}
		rest = rest[1:]
	}
	return true
}

// splitter reads a command character by character.
type splitter struct {
	all     [][]string
	part    []string
	word    strings.Builder
	inWord  bool
	target  bool // the next word is the file of a redirection
	quote   rune // 0: outside of quotes
	escaped bool
	outer   []rune // the quotes around substitutions that have begun
	ticks   bool   // within a substitution by backticks
}

// parts splits a command into the words of the single commands in it. It never fails: what
// is no command gives words that no rule names.
func parts(command string) [][]string {
	var s splitter
	for _, r := range command {
		s.read(r)
	}
	s.endPart()
	return s.all
}

func (s *splitter) read(r rune) {
	switch {
	case s.escaped:
		if s.escaped = false; r != '\n' {
			s.add(r)
		}
	case r == '\\' && s.quote != '\'':
		s.escaped = true
	case s.quote != 0 && r == s.quote:
		s.quote = 0
	case s.quote == '\'':
		s.add(r)
	case s.quote == 0 && (r == '\'' || r == '"'):
		s.quote, s.inWord = r, true
	case r == '$': // of $(, and of $'…'
	case r == '(', r == '`' && !s.ticks:
		s.ticks = s.ticks || r == '`'
		s.outer, s.quote = append(s.outer, s.quote), 0
		s.endPart()
	case r == ')' && s.quote == 0, r == '`':
		s.ticks = s.ticks && r != '`'
		if n := len(s.outer); n > 0 {
			s.outer, s.quote = s.outer[:n-1], s.outer[n-1]
		}
		s.endPart()
	case s.quote != 0:
		s.add(r)
	case r == '<' || r == '>':
		if s.inWord && strings.Trim(s.word.String(), "0123456789") == "" {
			s.word.Reset() // the number of a file
			s.inWord = false
		}
		s.endWord()
		s.target = true
	case strings.ContainsRune(";&|\n\r{}", r):
		s.endPart()
	case r == ' ' || r == '\t':
		s.endWord()
	default:
		s.add(r)
	}
}

func (s *splitter) add(r rune) {
	s.word.WriteRune(r)
	s.inWord = true
}

func (s *splitter) endWord() {
	if s.inWord && !s.target {
		s.part = append(s.part, s.word.String())
	}
	s.target = s.target && !s.inWord
	s.word.Reset()
	s.inWord = false
}

func (s *splitter) endPart() {
	s.endWord()
	if len(s.part) > 0 {
		s.all = append(s.all, s.part)
	}
	s.part, s.target = nil, false
}

// unquoted is a text without the characters with which a shell hides what a word is.
func unquoted(command string) string {
	return strings.NewReplacer("'", "", `"`, "", `\`, "", "\n", " ").Replace(command)
}

// bareWords are the words in a text, in lower case, whatever stands between them.
func bareWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(unquoted(text)), func(r rune) bool {
		return r < 0x80 && (!plainRune(r) || r == '=' || r == ',' || r == ':')
	})
}
