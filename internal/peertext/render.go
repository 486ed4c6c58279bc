package peertext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Terminal renders a text for a terminal or a log. Line ends and tabs stay.
func Terminal(s string) string { return replace(s, escape) }

// TerminalLine is Terminal on one line: a line end becomes \n.
func TerminalLine(s string) string { return strings.ReplaceAll(Terminal(s), "\n", `\n`) }

func escape(r rune) string {
	quoted := strconv.QuoteRuneToASCII(r)
	return quoted[1 : len(quoted)-1]
}

// Model renders a text for a model. Line ends and tabs stay; CR LF becomes LF.
func Model(s string) string { return replace(strings.ReplaceAll(s, "\r\n", "\n"), Shown) }

// ModelLine is Model on one line, with single spaces.
func ModelLine(s string) string { return strings.Join(strings.Fields(Model(s)), " ") }

// Shown is what Model puts in the place of a hidden character.
func Shown(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

func replace(s string, by func(rune) string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if !strings.ContainsFunc(s, Hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Hidden(r) {
			b.WriteString(by(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Plain renders a text on one line: hidden characters are dropped, and white space
// becomes single spaces.
func Plain(s string) string { return Excerpt(s, math.MaxInt) }

// Excerpt is the beginning of Plain, at most max characters. The last of them is an
// ellipsis if Plain has max characters or more. No more of s is read than is needed.
func Excerpt(s string, max int) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range s { // an invalid byte is U+FFFD here
		switch {
		case unicode.IsSpace(r):
			gap = n > 0
			continue
		case Hidden(r):
			continue
		}
		if gap {
			n++
		}
		if n++; n >= max {
			b.WriteRune('…')
			break
		}
		if gap {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		gap = false
	}
	return b.String()
}
