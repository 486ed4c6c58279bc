package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"hubcli/overview"
)

// key does what a key means in the current mode.
func (m *Model) key(key tea.KeyPressMsg) tea.Cmd {
	m.pressed = m.now()
	switch name := key.String(); {
	case name == "ctrl+c":
		return tea.Quit
	case name == "ctrl+z":
		return tea.Suspend
	case m.mode == typing:
		return m.typeKey(key)
	default:
		m.note, m.failed = "", false
		if m.mode == reading && m.readKey(name) {
			return nil
		}
		return m.browseKey(name)
	}
}

// browseKey is a key of the lists, or one that means the same everywhere.
func (m *Model) browseKey(name string) tea.Cmd {
	l := &m.lists[m.view]
	switch name {
	case "q":
		return tea.Quit
	case "tab", "right", "l":
		m.show(m.view + 1)
	case "shift+tab", "left", "h":
		m.show(m.view + len(views) - 1)
	case "1", "2", "3", "4", "5":
		m.show(int(name[0] - '1'))
	case "down", "j":
		l.move(1)
	case "up", "k":
		l.move(-1)
	case "pgdown", "ctrl+f", "space":
		l.move(m.bodyLines())
	case "pgup", "ctrl+b":
		l.move(-m.bodyLines())
	case "home", "g":
		l.move(-len(l.shown))
	case "end", "G":
		l.move(len(l.shown))
	case "enter":
		m.open()
	case "esc":
		l.search("")
	case "/":
		m.askFilter()
	case "?":
		m.read("help", "", helpText())
	case "t":
		m.read("trouble", "", m.troubleText())
	case "r":
		return m.refresh()
	case "s":
		m.askSay()
	case "a":
		m.askAnswer()
	}
	return nil
}

// show changes the view.
func (m *Model) show(view int) {
	m.view, m.mode = view%len(views), browsing
	m.page = textPage{}
	m.lists[m.view].seen(m.now())
}

// open shows the whole of the selected row.
func (m *Model) open() {
	if r := m.selected(); r != nil {
		m.read(views[m.view].one, r.key, r.detail())
	}
}

// read shows a page of text. It is that of a row, if row is not empty.
func (m *Model) read(title, row string, text []string) {
	m.mode, m.page = reading, textPage{title: title, row: row}
	m.page.set(text, m.width)
}

// readKey is a key that moves in a page of text, or leaves it. It reports whether it was
// one.
func (m *Model) readKey(name string) bool {
	p, n := &m.page, m.bodyLines()
	switch name {
	case "esc", "enter", "backspace":
		m.mode, m.page = browsing, textPage{}
	case "down", "j":
		p.scroll(1, n)
	case "up", "k":
		p.scroll(-1, n)
	case "pgdown", "ctrl+f", "space":
		p.scroll(n, n)
	case "pgup", "ctrl+b":
		p.scroll(-n, n)
	case "home", "g":
		p.scroll(-len(p.lines), n)
	case "end", "G":
		p.scroll(len(p.lines), n)
	default:
		return false
	}
	return true
}

// typeKey is a key of the line of text.
func (m *Model) typeKey(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "esc":
		m.stopTyping()
		if m.input.cancel != nil {
			m.input.cancel()
		}
	case "enter", "ctrl+t":
		cmd, why := m.input.done(strings.TrimSpace(string(m.input.text)), key.String() == "ctrl+t")
		if m.input.why = why; why == "" {
			m.stopTyping()
		}
		return cmd
	default:
		m.input.why = ""
		m.input.edit(key)
		m.typed()
	}
	return nil
}

// typed tells of a changed line.
func (m *Model) typed() {
	if m.input.change != nil {
		m.input.change(string(m.input.text))
	}
}

// stopTyping goes back to where the line was begun.
func (m *Model) stopTyping() {
	m.mode = browsing
	if m.page.lines != nil {
		m.mode = reading
	}
}

func (m *Model) askFilter() {
	m.page = textPage{}
	l := &m.lists[m.view]
	m.mode, m.input = typing, line{
		prompt: "/", text: []rune(l.filter), at: len([]rune(l.filter)),
		change: l.search,
		done:   func(string, bool) (tea.Cmd, string) { return nil, "" },
		cancel: func() { l.search("") },
	}
}

// askSay asks for a text to the agent or room of the selected row.
func (m *Model) askSay() {
	r := m.selected()
	if r == nil || r.to == nil {
		m.note = "select an agent, a room or a message to say something to"
		return
	}
	if m.tooNew(m.lists[m.view].cameAt) {
		return
	}
	to, ctx, h := *r.to, m.ctx, m.hub
	prompt := "say to " + to.Name + ": "
	m.begin(line{about: prompt, prompt: prompt, done: func(text string, _ bool) (tea.Cmd, string) {
		return m.send(text, func() (string, error) { return h.Say(ctx, to, text) }), ""
	}})
}

// askAnswer asks for an answer to the selected ask. The answer is for what the row shows now,
// whatever comes to its place while the human types.
func (m *Model) askAnswer() {
	r := m.selected()
	if r == nil || r.ask == nil {
		m.note = "select a question in the view of asks (4) to answer it"
		return
	}
	if m.tooNew(m.lists[m.view].newAt) {
		return
	}
	if r.gone {
		m.note, m.failed, m.notedAt = "nothing to answer: "+m.howEnded(r), true, m.now()
		return
	}
	key, asked, ctx, h := r.key, *r.ask, m.ctx, m.hub
	prompt := overview.Clip(fmt.Sprintf("answer %s of %s, %s", asked.AskID, asked.AgentID, firstOf(asked.Question)), 60) + ": "
	m.begin(line{about: key, prompt: prompt, done: func(text string, asIt bool) (tea.Cmd, string) {
		if text == "" {
			return nil, ""
		}
		if r := m.lists[asksView].find(key); r == nil || r.gone {
			return nil, "not sent, " + m.howEnded(&row{key: key, ask: &asked}) + "; esc leaves your words"
		}
		answer, err := h.Meant(&asked, text, asIt)
		if err != nil {
			return nil, overview.Safe(err.Error()) + " (ctrl+t sends your words)"
		}
		return m.send(text, func() (string, error) { return h.Answer(ctx, &asked, answer) }), ""
	}})
}

// howEnded says how the question of a row that has gone was closed.
func (m *Model) howEnded(r *row) string {
	if how := m.ends[r.key]; how != "" {
		return string(r.ask.AskID) + " is " + how
	}
	return string(r.ask.AskID) + " is closed"
}

// send does what was typed, unless nothing was.
func (m *Model) send(text string, call func() (string, error)) tea.Cmd {
	if text == "" {
		return nil
	}
	m.note, m.failed = "sending", false
	sent := line{about: m.input.about, text: []rune(text)}
	return func() tea.Msg {
		said, err := call()
		return answered{said, err, sent}
	}
}
