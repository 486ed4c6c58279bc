package readable

import (
	"strings"
	"sync"

	"hubcli/internal/peertext"
)

// oneLine renders a text as one line of Markdown that says nothing but this text. Something
// else must stand before it on its line.
func oneLine(text string) string {
	var b strings.Builder
	escapeWords(&b, peertext.ModelLine(text), -1)
	return b.String()
}

// escapeLine appends a whole line, escaped. It may begin a paragraph, or continue one.
func escapeLine(b *strings.Builder, line string) {
	rest := strings.TrimLeft(line, " \t")
	for _, c := range line[:len(line)-len(rest)] {
		if c == '\t' {
			b.WriteString("&nbsp;&nbsp;&nbsp;")
		}
		b.WriteString("&nbsp;")
	}
	rest = strings.TrimRight(rest, " \t")
	escapeWords(b, rest, startEscape(rest))
}

// escapeWords appends a text without line ends, escaped. start is the index of a character
// to escape that would mean something at the start of a line; -1: none.
func escapeWords(b *strings.Builder, rest string, start int) {
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '<':
			b.WriteString("&lt;")
			continue
		case c == '>':
			b.WriteString("&gt;")
			continue
		case c == '&':
			b.WriteString("&amp;")
			continue
		case i == start, strings.IndexByte("\\`*[]|~${}", c) >= 0,
			c == '_' && !(wordAt(rest, i-1) && wordAt(rest, i+1)),
			c == '#' && i == len(rest)-1:
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
}

// startEscape returns the index of the character whose escape keeps a line from being a
// heading, a list, a rule or the like; -1: none.
func startEscape(line string) int {
	if line == "" {
		return -1
	}
	if strings.IndexByte("#+-=:", line[0]) >= 0 {
		return 0
	}
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits < len(line) && (line[digits] == '.' || line[digits] == ')') {
		return digits
	}
	return -1
}

func wordAt(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// quote appends a text of any length as a block quote, behind an empty line. Its lines stay
// lines. What the text has between fences is shown as it is, between fences of our own.
func quote(b *strings.Builder, text string) {
	lines := strings.Split(strings.Trim(peertext.Model(text), "\n"), "\n")
	b.WriteByte('\n')
	for i := 0; i < len(lines); {
		if char, size, language := openFence(lines[i]); size > 0 {
			end := i + 1
			for end < len(lines) && !closesFence(lines[end], char, size) {
				end++
			}
			fence(b, "> ", language, lines[i+1:end])
			i = min(end+1, len(lines))
			continue
		}
		quoteLine(b, lines[i], i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" && !isFence(lines[i+1]))
		i++
	}
}

// quoteLine appends a line of a quote; more says that the paragraph goes on.
func quoteLine(b *strings.Builder, line string, more bool) {
	b.WriteByte('>')
	if strings.TrimSpace(line) != "" {
		b.WriteByte(' ')
		escapeLine(b, line)
		if more {
			b.WriteByte('\\')
		}
	}
	b.WriteByte('\n')
}

// code appends a text as a fenced block within a quote, behind an empty line.
func code(b *strings.Builder, language, text string) {
	b.WriteByte('\n')
	fence(b, "> ", safeLanguage(language), strings.Split(strings.TrimRight(peertext.Model(text), "\n"), "\n"))
}

// fence appends lines between fences that none of them can close.
func fence(b *strings.Builder, prefix, language string, lines []string) {
	longest := 2
	for _, line := range lines {
		run := 0
		for i := range len(line) {
			if run++; line[i] != '`' {
				run = 0
			}
			longest = max(longest, run)
		}
	}
	marks := strings.Repeat("`", longest+1)
	b.WriteString(prefix + marks + language + "\n")
	for _, line := range lines {
		b.WriteString(strings.TrimRight(prefix+line, " \t") + "\n")
	}
	b.WriteString(prefix + marks + "\n")
}

// openFence reports whether a line opens a fenced block: with which character, how many of
// them, and the language if it is one that no program runs or draws.
func openFence(line string) (char byte, size int, language string) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return 0, 0, ""
	}
	char = rest[0]
	for size < len(rest) && rest[size] == char {
		size++
	}
	info := strings.TrimSpace(rest[size:])
	if size < 3 || char == '`' && strings.Contains(info, "`") {
		return 0, 0, ""
	}
	return char, size, safeLanguage(info)
}

func isFence(line string) bool {
	_, size, _ := openFence(line)
	return size > 0
}

func closesFence(line string, char byte, size int) bool {
	other, n, _ := openFence(line)
	return other == char && n >= size && strings.Trim(line, " \t"+string(char)) == ""
}

// languages are those of fenced blocks that programs only color. Others, such as mermaid,
// are drawn or run.
var languages = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"bash": true, "c": true, "cpp": true, "css": true, "diff": true, "go": true, "html": true, "java": true, "js": true, "javascript": true,
		"json": true, "kotlin": true, "python": true, "py": true, "ruby": true, "rust": true, "sh": true, "sql": true, "swift": true,
		"text": true, "toml": true, "ts": true, "typescript": true, "xml": true, "yaml": true,
	}
})

func safeLanguage(name string) string {
	if name = strings.ToLower(name); languages()[name] {
		return name
	}
	return ""
}
