package drive

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"hubcli/integrations/acp"
	"hubcli/internal/peertext"
)

// Bounds of the lines of a tool call and of a plan, in characters.
const (
	maxTitle = 300
	maxStep  = 200
)

// transcript prints a session for people: what the model says as it comes, and a line for
// each tool. What the harness and the model say is made safe for a terminal.
type transcript struct {
	mu     sync.Mutex
	w      io.Writer
	open   bool              // the last line has no end yet
	titles map[string]string // of the tool calls of this turn
	err    error             // of the first write that failed
}

// mostTitles bounds the tool calls of a turn whose titles are remembered.
const mostTitles = 1_000

// say prints a line of our own.
func (t *transcript) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line(fmt.Sprintf(format, args...))
}

// mark prints text after which a person types.
func (t *transcript) mark(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
	t.write(text)
	t.open = true
}

// typed notes that the person has ended the line.
func (t *transcript) typed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = false
}

// failed returns the error of the first write that failed.
func (t *transcript) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// turnEnds forgets the tool calls of the turn.
func (t *transcript) turnEnds() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
	t.titles = nil
}

// show prints an update. Thoughts, and what the person has said, are left out.
func (t *transcript) show(u acp.Update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch u.Kind {
	case acp.AgentText:
		if u.Text == "" {
			return
		}
		t.write(t.guarded(peertext.Terminal(strings.ReplaceAll(u.Text, "\r\n", "\n"))))
	case acp.ToolBegins, acp.ToolGoesOn:
		t.tool(&u.Tool)
	case acp.PlanIs:
		for _, step := range u.Plan {
			t.line("[plan] " + peertext.Excerpt(step, maxStep))
		}
	case acp.UserText, acp.Thought:
	}
}

// guarded returns text of the model of which no line looks like one of our own: those begin with a bracket. It notes
// whether the line stays open.
func (t *transcript) guarded(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !t.open && strings.HasPrefix(line, "[") {
			b.WriteString("| ")
		}
		b.WriteString(line)
		t.open = !strings.HasSuffix(line, "\n")
	}
	return b.String()
}

// tool prints a line when a tool begins, and one when it fails.
func (t *transcript) tool(tool *acp.Tool) {
	title, known := t.titles[tool.ID]
	if tool.Title != "" {
		title = peertext.Excerpt(tool.Title, maxTitle)
	}
	if !known && title != "" {
		if t.titles == nil {
			t.titles = map[string]string{}
		}
		if len(t.titles) < mostTitles {
			t.titles[tool.ID] = title
		}
		t.line("[tool] " + title)
	}
	if tool.Status == "failed" {
		t.line("[tool failed] " + title)
	}
}

func (t *transcript) line(text string) {
	t.end()
	t.write(strings.ToValidUTF8(text, string(utf8.RuneError)) + "\n")
	t.open = false
}

// end ends the line that was begun.
func (t *transcript) end() {
	if t.open {
		t.write("\n")
	}
	t.open = false
}

func (t *transcript) write(text string) {
	if _, err := io.WriteString(t.w, text); err != nil && t.err == nil {
		t.err = err
	}
}
