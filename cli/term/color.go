package term

import (
	"strings"

	"github.com/spf13/pflag"
)

// Colors reports whether text for a stream is colored: on a terminal, unless
// NO_COLOR is set.
func (e *Env) Colors(terminal func() bool) bool {
	return terminal != nil && terminal() && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// ColorMode is --color.
type ColorMode string

const (
	// ColorAuto is a value of --color.
	ColorAuto   = "auto"
	colorAlways = "always"
	// ColorNever is a value of --color.
	ColorNever = "never"
)

// Add declares --color.
func (m *ColorMode) Add(f *pflag.FlagSet) {
	*m = ColorAuto
	f.Var(ChoiceValue{(*string)(m), []string{ColorAuto, colorAlways, ColorNever}}, "color",
		"`when` to color: always, never, or auto: on a terminal, unless NO_COLOR is set")
}

// Screen returns what stdout shows now. Stdout that is no terminal has no width.
func (e *Env) Screen(m ColorMode) Screen {
	s := Screen{Color: m == colorAlways || m != ColorNever && e.Colors(e.StdoutTerminal)}
	if e.StdoutTerminal == nil || !e.StdoutTerminal() {
		return s
	}
	if e.StdoutSize != nil {
		s.Width, s.Height = e.StdoutSize()
	}
	if s.Width <= 0 || s.Height <= 0 {
		s.Width, s.Height = 80, 24
	}
	return s
}

// The colors, as SGR sequences.
const (
	sgrReset  = "\x1b[0m"
	SGRBold   = "\x1b[1m"
	SGRDim    = "\x1b[2m"
	SGRRed    = "\x1b[31m"
	SGRGreen  = "\x1b[32m"
	SGRYellow = "\x1b[33m"
	SGRCyan   = "\x1b[36m"
)

// Paint colors the lines of a unified diff. Other lines stay as they are. The
// text must be safe for a terminal before: paint escapes nothing.
func Paint(text string) string {
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
		return SGRBold
	case strings.HasPrefix(line, "@@ "):
		return SGRCyan
	case strings.HasPrefix(line, "-"):
		return SGRRed
	case strings.HasPrefix(line, "+"):
		return SGRGreen
	}
	return ""
}

// ClearLine clears a terminal from the cursor to the end of its line.
const ClearLine = "\x1b[K"
