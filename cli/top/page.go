package top

import "hubcli/overview"

// textPage is a text of several lines that is read in place of a list.
type textPage struct {
	title string
	row   string // key of the row that it shows; empty: it shows none
	text  []string
	lines []string // text in lines of the terminal's width
	top   int
}

// set takes a text. The place in it stays.
func (p *textPage) set(text []string, width int) {
	p.text = text
	p.wrap(width)
}

// wrap breaks the text anew, for a terminal of another width.
func (p *textPage) wrap(width int) {
	if p.text == nil {
		return
	}
	p.lines = []string{}
	for _, line := range p.text {
		p.lines = append(p.lines, overview.Lines(overview.Safe(line), width)...)
	}
	p.top = max(0, min(p.top, len(p.lines)-1))
}

// scroll moves the text by n lines, in a window of some height.
func (p *textPage) scroll(n, height int) {
	p.top = max(0, min(p.top+n, len(p.lines)-height))
}

// window returns the lines for a window.
func (p *textPage) window(height int) []string {
	from := max(0, min(p.top, len(p.lines)-1))
	return p.lines[from:min(from+height, len(p.lines))]
}
