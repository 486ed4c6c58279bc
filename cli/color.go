package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// colors reports whether text for a stream is colored: on a terminal, unless
// NO_COLOR is set.
func (e *Env) colors(terminal func() bool) bool {
	return terminal != nil && terminal() && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// colorMode is --color.
type colorMode string

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// add declares --color.
func (m *colorMode) add(f *pflag.FlagSet) {
	*m = colorAuto
	f.Var(choiceValue{(*string)(m), []string{colorAuto, colorAlways, colorNever}}, "color",
		"`when` to color: always, never, or auto: on a terminal, unless NO_COLOR is set")
}

// screen returns what stdout shows now. Stdout that is no terminal has no width.
func (e *Env) screen(m colorMode) screen {
	s := screen{color: m == colorAlways || m != colorNever && e.colors(e.StdoutTerminal)}
	if e.StdoutTerminal == nil || !e.StdoutTerminal() {
		return s
	}
	if e.StdoutSize != nil {
		s.width, s.height = e.StdoutSize()
	}
	if s.width <= 0 || s.height <= 0 {
		s.width, s.height = 80, 24
	}
	return s
}

// The colors, as SGR sequences.
const (
	sgrReset  = "\x1b[0m"
	sgrBold   = "\x1b[1m"
	sgrDim    = "\x1b[2m"
	sgrRed    = "\x1b[31m"
	sgrGreen  = "\x1b[32m"
	sgrYellow = "\x1b[33m"
	sgrCyan   = "\x1b[36m"
)

// paint colors the lines of a unified diff. Other lines stay as they are. The
// text must be safe for a terminal before: paint escapes nothing.
func paint(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if color := colorOf(line); color != "" {
			lines[i] = color + line + sgrReset
		}
	}
	return strings.Join(lines, "\n")
}

func colorOf(line string) string {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return sgrBold
	case strings.HasPrefix(line, "@@ "):
		return sgrCyan
	case strings.HasPrefix(line, "-"):
		return sgrRed
	case strings.HasPrefix(line, "+"):
		return sgrGreen
	}
	return ""
}
