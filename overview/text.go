package overview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// Tone says how a piece of text is shown where colors are.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Title
	Bad
	Warn
	Good
	Dim
)

// Paint gives a text its tone. The text must be Safe before.
type Paint func(Tone, string) string

// NoPaint leaves the text as it is.
func NoPaint(_ Tone, s string) string { return s }

// Colors paints for a terminal with colors.
func Colors(t Tone, s string) string {
	code := [...]string{Plain: "", Title: "\x1b[1m", Bad: "\x1b[31m", Warn: "\x1b[33m", Good: "\x1b[32m", Dim: "\x1b[2m"}[t]
	if code == "" || s == "" {
		return s
	}
	return code + s + "\x1b[0m"
}

// Safe makes a text of others fit for one line of a terminal.
func Safe(s string) string { return strings.ReplaceAll(peertext.TerminalLine(s), "\t", " ") }

// Fit makes a safe text exactly n cells wide: it is cut with an ellipsis, or filled with
// spaces.
func Fit(s string, n int) string {
	s = Clip(s, n)
	return s + strings.Repeat(" ", max(0, n-ansi.StringWidth(s)))
}

// Clip cuts a safe text to at most n cells.
func Clip(s string, n int) string {
	if len(s) <= n { // no character has more cells than bytes
		return s
	}
	return ansi.Truncate(s, max(0, n), "…")
}

// Lines breaks a safe text into lines of at most n cells.
func Lines(s string, n int) []string {
	return strings.Split(ansi.Wrap(s, max(1, n), " "), "\n")
}

// Width is how many cells a safe text takes.
func Width(s string) int { return ansi.StringWidth(s) }

// Since shows how long ago a moment was; nothing if it is unknown.
func (s *Snapshot) Since(t *hub.Time) string {
	if t == nil {
		return ""
	}
	return hub.Age(s.At - *t)
}

// Count shows a number of things.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Choices shows the options of a question with the numbers that choose them.
func Choices(options []string) string {
	numbered := make([]string, len(options))
	for i, option := range options {
		numbered[i] = strconv.Itoa(i+1) + " " + option
	}
	return strings.Join(numbered, " | ")
}
