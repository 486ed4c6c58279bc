package top

import (
	"context"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"hubcli/hub"
	"hubcli/overview"
)

const (
	refreshEvery = 2 * time.Second
	logWait      = 30 * time.Second
	keptLog      = 1_000 // messages that the log view keeps
	failureShown = 15 * time.Second

	// A row that has come under the cursor by itself takes no answer and no word for this long: the
	// human had the one before in mind.
	settles = 700 * time.Millisecond
	// While keys are pressed, rows keep their order, and those that have gone stay in their place.
	calm = 10 * time.Second // since the last key
)

// Target is where the human says something: to an agent, or in a channel.
type Target struct {
	Agent   hub.AgentID
	Channel hub.ChannelName
	Name    string // for people
}

// Hub is what the view asks of a hub.
type Hub interface {
	// Snapshot reads the whole hub.
	Snapshot(ctx context.Context) (*overview.Snapshot, error)
	// Log returns the messages behind since, and waits for one up to wait. With 0 it
	// returns the latest at once. The id is where the next call begins.
	Log(ctx context.Context, since hub.MessageID, wait time.Duration) ([]hub.Message, hub.MessageID, error)
	// Say posts a text with the operator's authority and says where it went.
	Say(ctx context.Context, to Target, text string) (string, error)
	// Meant returns the answer that a typed text means: the number of an option, an option or any
	// other text; with asIt the text itself. An error says why it is none. It calls nothing.
	Meant(asked *hub.Ask, text string, asIt bool) (string, error)
	// Answer answers a question as the operator, if it is still the one that was shown, and says
	// what became of the answer.
	Answer(ctx context.Context, asked *hub.Ask, answer string) (string, error)
	// Ended says how a question was closed.
	Ended(ctx context.Context, asked *hub.Ask) (string, error)
}

// The messages of the commands.
type (
	gathered struct {
		snap *overview.Snapshot
		err  error
		at   time.Time
	}
	logged struct {
		generation int
		rows       []hub.Message
		next       hub.MessageID
		err        error
	}
	refresh  struct{}
	relog    struct{ generation int }
	answered struct {
		text string
		err  error
		line line // that was sent
	}
	ended struct {
		key string // of the row of a question
		how string
	}
)

// mode says what the keys do.
type mode int

const (
	browsing mode = iota
	reading       // a page of text: details, help, trouble
	typing        // a line of text
)

// Model is the state of the view.
type Model struct {
	ctx   context.Context // ends the calls of commands
	hub   Hub
	now   func() time.Time
	paint overview.Paint

	width, height int

	snap   *overview.Snapshot // the last that was read; nil: none yet
	lost   error              // why the last one could not be read
	lostAt time.Time          // since when
	tried  time.Time          // the last time
	asking bool               // a command reads the hub now

	log        []hub.Message
	logAt      hub.MessageID
	generation int // of the log; an answer of an earlier one is not taken
	instance   hub.InstanceID

	mode  mode
	view  int
	lists [viewCount]list
	page  textPage
	input line
	note  string // the last thing that was done, or why it failed

	failed  bool              // the note is a failure
	notedAt time.Time         // when it failed
	unsent  map[string]string // texts that were not sent, by what they were typed for

	pressed time.Time         // the last key
	ends    map[string]string // how questions ended that are shown though they are closed; empty: not known yet
}

// New makes the state. Calls of the hub end with ctx.
func New(ctx context.Context, h Hub, now func() time.Time, paint overview.Paint) *Model {
	return &Model{ctx: ctx, hub: h, now: now, paint: paint}
}

// Init begins to read.
func (m *Model) Init() tea.Cmd {
	m.asking = true
	return tea.Batch(m.gather(), m.readLog())
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.page.wrap(m.width)
	case tea.KeyPressMsg:
		cmd := m.key(msg)
		m.lists[m.view].seenKey = keyOf(m.selected())
		return m, cmd
	case tea.PasteMsg:
		if m.mode == typing {
			m.input.insert(msg.Content)
			m.typed()
		}
	case gathered:
		return m, m.take(msg)
	case refresh:
		return m, m.refresh()
	case logged:
		return m, m.takeLog(msg)
	case relog:
		if msg.generation == m.generation {
			return m, m.readLog()
		}
	case answered:
		return m, m.takeAnswer(msg)
	case ended:
		if _, shown := m.ends[msg.key]; shown {
			m.ends[msg.key] = msg.how
			m.rebuild()
		}
	}
	return m, nil
}

// takeAnswer shows what became of a text, and reads the hub: the row may be closed now. A text
// that was not sent is there again when the human begins to type for the same.
func (m *Model) takeAnswer(msg answered) tea.Cmd {
	m.note, m.failed = msg.text, msg.err != nil
	if !m.failed {
		return m.refresh()
	}
	m.note, m.notedAt = "not sent, and kept for the next try: "+sentence(msg.err), m.now()
	if m.unsent == nil {
		m.unsent = map[string]string{}
	}
	m.unsent[msg.line.about] = string(msg.line.text)
	return m.refresh()
}

// begin begins to type a line, with the text that was not sent from there.
func (m *Model) begin(l line) {
	if text := m.unsent[l.about]; text != "" {
		l.text = []rune(text)
		l.at = len(l.text)
		delete(m.unsent, l.about)
	}
	m.mode, m.input = typing, l
}

// gather reads the hub.
func (m *Model) gather() tea.Cmd {
	ctx, h, now := m.ctx, m.hub, m.now
	return func() tea.Msg {
		snap, err := h.Snapshot(ctx)
		return gathered{snap, err, now()}
	}
}

// refresh reads the hub unless it is being read.
func (m *Model) refresh() tea.Cmd {
	if m.asking {
		return nil
	}
	m.asking = true
	return m.gather()
}

func (m *Model) take(msg gathered) tea.Cmd {
	m.asking, m.tried = false, msg.at
	next := tea.Tick(refreshEvery, func(time.Time) tea.Msg { return refresh{} })
	if msg.err != nil {
		if m.lost == nil {
			m.lostAt = msg.at
		}
		m.lost = msg.err
		return next
	}
	if m.failed && (m.lost != nil || msg.at.Sub(m.notedAt) > failureShown) { // it is over
		m.note, m.failed = "", false
	}
	m.snap, m.lost = msg.snap, nil
	other := m.instance != "" && m.instance != msg.snap.Hub.InstanceID
	m.instance = msg.snap.Hub.InstanceID
	if other { // the store was reset or another one is served: its messages count from 1
		m.generation++
		m.log, m.logAt = nil, 0
		next = tea.Batch(next, m.readLog())
	}
	m.rebuild()
	return tea.Batch(next, m.askEnds())
}

// askEnds asks how the questions ended that are shown though they are closed.
func (m *Model) askEnds() tea.Cmd {
	var calls []tea.Cmd
	rows := m.lists[asksView].all
	for i := range rows {
		r := &rows[i]
		if _, asked := m.ends[r.key]; !r.gone || asked {
			continue
		}
		if m.ends == nil {
			m.ends = map[string]string{}
		}
		m.ends[r.key] = ""
		ctx, h, key, ask := m.ctx, m.hub, r.key, r.ask
		calls = append(calls, func() tea.Msg {
			how, err := h.Ended(ctx, ask)
			if err != nil {
				how = "closed"
			}
			return ended{key, how}
		})
	}
	return tea.Batch(calls...)
}

// readLog reads the messages behind the last one.
func (m *Model) readLog() tea.Cmd {
	ctx, h, at, generation := m.ctx, m.hub, m.logAt, m.generation
	return func() tea.Msg {
		wait := logWait
		if at == 0 {
			wait = 0
		}
		rows, next, err := h.Log(ctx, at, wait)
		return logged{generation, rows, next, err}
	}
}

func (m *Model) takeLog(msg logged) tea.Cmd {
	if msg.generation != m.generation {
		return nil
	}
	again := func(time.Time) tea.Msg { return relog{msg.generation} }
	if msg.err != nil {
		return tea.Tick(refreshEvery, again)
	}
	empty := m.logAt == 0 && msg.next == 0
	m.logAt = msg.next
	if len(msg.rows) > 0 {
		m.log = append(m.log, msg.rows...)
		if old := len(m.log) - keptLog; old > 0 {
			m.log = slices.Clone(m.log[old:])
		}
		m.rebuild()
	}
	if empty { // there is no message yet to wait behind
		return tea.Tick(refreshEvery, again)
	}
	return m.readLog()
}

// rebuild makes the rows anew and keeps what is selected.
func (m *Model) rebuild() {
	now := m.now()
	for i := range views {
		l := &m.lists[i]
		l.set(views[i].rows(m), views[i].follows, m.mode == typing || now.Sub(m.pressed) < calm, now)
	}
	m.lists[m.view].seenKey = keyOf(m.selected())
	rows := m.lists[asksView].all
	maps.DeleteFunc(m.ends, func(key, _ string) bool {
		return !slices.ContainsFunc(rows, func(r row) bool { return r.gone && r.key == key })
	})
	for i := range m.lists {
		for j := range m.lists[i].all {
			if r := &m.lists[i].all[j]; r.gone {
				r.cells = goneCells(r, m.ends[r.key])
			}
		}
	}
	if m.mode == reading && m.page.row != "" {
		if r := m.lists[m.view].find(m.page.row); r != nil {
			m.page.set(r.detail(), m.width)
		}
	}
}

func keyOf(r *row) string {
	if r == nil {
		return ""
	}
	return r.key
}

// selected is the selected row of the view, or nil.
func (m *Model) selected() *row { return m.lists[m.view].selected() }

// tooNew says so in the note if a row has come to its place just now: the human may have meant
// the one before.
func (m *Model) tooNew(at time.Time) bool {
	if m.now().Sub(at) >= settles {
		return false
	}
	m.note, m.failed, m.notedAt = "this "+views[m.view].one+" has only just come here, so nothing was done: press the key again", true, m.now()
	return true
}
