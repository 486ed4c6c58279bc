package cli

import "strings"

// colors reports whether text for a stream is colored: on a terminal, unless
// NO_COLOR is set.
func (e *Env) colors(terminal func() bool) bool {
	return terminal != nil && terminal() && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// The colors of a diff, as SGR sequences.
const (
	sgrReset = "\x1b[0m"
	sgrBold  = "\x1b[1m"
	sgrRed   = "\x1b[31m"
	sgrGreen = "\x1b[32m"
	sgrCyan  = "\x1b[36m"
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
