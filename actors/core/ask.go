package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// Asks decides about the questions to the operator and keeps the open ones. A question
// that is closed leaves the state and is a stored row.
//
// Invariants:
//  1. open holds every open question, and no other.
//  2. A question is closed once: by an answer, a withdrawal or its deadline, whichever
//     is decided first. It is open again only if its answer is taken back, which nobody
//     has read.
//  3. Whatever closes a question, its agent gets one message that says so, in the same
//     record. Only an agent that withdraws its own question gets none, and a permission
//     prompt has no messages: the hook that waits tells the harness. The end of a question
//     about a loop is told to each agent of the loop.
//  4. apart holds the answered questions whose answer still keeps agents apart.
type Asks struct {
	open        map[hub.AskID]StoredAsk
	apart       map[hub.AskID]StoredAsk
	permissions hub.PermissionPolicy
}

// StoredAsk is a question as the state and the store keep it.
type StoredAsk struct {
	Ask hub.Ask `json:"ask"` // without DeadlineAt
	// DeadlineMS is the hub time at which an open question expires; 0: never. It is hub
	// time, so nobody loses the time to answer while the hub is down.
	DeadlineMS int64 `json:"deadline_ms,omitempty"`
	// Loop is what the question is about if the hub itself asks it. ApartMS is the hub
	// time until which its answer keeps the agents apart; 0: it does not.
	Loop    *Loop `json:"loop,omitempty"`
	ApartMS int64 `json:"apart_ms,omitempty"`
}

// ErrAskNotOpen says that no open question has this id. The stored row says whether it
// was closed or never was; see the rows.
var ErrAskNotOpen = errors.New("core: the question is not open")

// RestoreAsks returns the state with this policy and these questions: those that are open,
// and those that keep agents apart.
func RestoreAsks(permissions hub.PermissionPolicy, rows []StoredAsk) *Asks {
	a := &Asks{open: map[hub.AskID]StoredAsk{}, apart: map[hub.AskID]StoredAsk{}, permissions: permissions}
	for _, row := range rows {
		switch {
		case row.Ask.State == hub.AskOpen:
			a.open[row.Ask.AskID] = row
		case row.ApartMS != 0:
			a.apart[row.Ask.AskID] = row
		}
	}
	return a
}

// AskCommand asks the operator. What the input names has been checked.
type AskCommand struct {
	In        hub.AskInput
	By        Standing
	Authority hub.Authority
	Assurance hub.Assurance
}

// Ask decides that a question is open and tells it to the operator. Error: limit_reached.
func (a *Asks) Ask(c AskCommand, now Now) (Decision[StoredAsk], error) {
	in := &c.In
	if err := a.place(in.AgentID, c.By); err != nil {
		return Decision[StoredAsk]{}, err
	}
	f := &Asked{
		Agent: in.AgentID, Question: in.Question, Options: in.Options, Default: in.Default,
		Room: in.RoomID, Blocks: in.Blocks, Artifact: in.ArtifactID,
	}
	if in.DeadlineSec > 0 {
		f.DeadlineMS = now.HubMS + int64(in.DeadlineSec)*1000
	}
	m := MessageDraft{
		From: in.AgentID, To: hub.AgentOperator, Channel: hub.DirectChannel, Kind: hub.KindChat, Body: questionBody(in), Room: in.RoomID,
		Authority: c.Authority, Assurance: c.Assurance,
	}
	m.Numbered = func(m *MessageDraft, at Position) {
		m.Metadata = naming("ask", IDAt(PrefixAsk, at.Seq))
	}
	return Decision[StoredAsk]{Draft: Draft{Facts: []Fact{f}, Messages: []MessageDraft{m}}, Answer: f.ask}, nil
}

// questionBody is a question as the operator reads it among messages.
func questionBody(in *hub.AskInput) string {
	body := in.Question
	if len(in.Options) > 0 {
		body += "\n\nOptions: " + strings.Join(in.Options, " | ")
	}
	if in.DeadlineSec > 0 {
		body += "\n\nOpen for " + strconv.Itoa(in.DeadlineSec) + " s"
		if in.Default != "" {
			body += "; without an answer: " + in.Default
		}
	}
	return body
}

// AskByMessage decides that a direct message to the operator is a question. Error:
// limit_reached.
func (a *Asks) AskByMessage(m MessageDraft, by Standing) (Decision[hub.MessageID], error) {
	if err := a.place(m.From, by); err != nil {
		return Decision[hub.MessageID]{}, err
	}
	f := &Asked{Agent: m.From, Question: firstChars(m.Body, hub.MaxAskChars), Room: m.Room}
	return Decision[hub.MessageID]{
		Draft:  Draft{Facts: []Fact{f}, Messages: []MessageDraft{m}},
		Answer: func(at Position) hub.MessageID { return at.Message(0) },
	}, nil
}

// firstChars returns at most n characters of a text.
func firstChars(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// place refuses a question for which its agent, or the operator, has no place. How many
// questions other agents have is not told.
func (a *Asks) place(agent hub.AgentID, by Standing) error {
	own := 0
	for _, row := range a.open {
		if row.Ask.AgentID == agent {
			own++
		}
	}
	return askShare.Refuse(by, Holding{Creator: agent, Own: own, All: len(a.open)})
}

// Answer decides the answer of an open question. While an answer keeps agents apart, a second
// one may let them go on. Errors: ErrAskNotOpen, ask_changed, answer_unclear, invalid.
func (a *Asks) Answer(id hub.AskID, in hub.AskAnswerInput) (Decision[StoredAsk], error) {
	row, ok := a.open[id]
	if !ok && goesOn(in.Answer) {
		row, ok = a.apart[id]
	}
	if !ok {
		return Decision[StoredAsk]{}, ErrAskNotOpen
	}
	if err := CheckAsked(&row.Ask, in.Digest); err != nil {
		return Decision[StoredAsk]{}, err
	}
	if err := checkMeant(&row.Ask, &in); err != nil {
		return Decision[StoredAsk]{}, err
	}
	f := &AskAnswered{Ask: id, Answer: in.Answer, By: in.By}
	d := Decision[StoredAsk]{
		Draft:  Draft{Facts: []Fact{f}},
		Answer: func(at Position) StoredAsk { return f.closed(row, at) },
	}
	if row.Ask.Permission != nil {
		return d, checkPermissionAnswer(in.Answer)
	}
	m := operatorsWord(&row.Ask, hub.AskAnswered, in.Answer)
	m.Body = in.Answer
	d.Messages = row.toEach(m)
	return d, nil
}

// CheckAsked refuses an answer to another question than the one that it names by its digest. An
// empty digest names none. Error: ask_changed.
func CheckAsked(row *hub.Ask, digest string) error {
	if digest == "" || digest == row.DigestOf() {
		return nil
	}
	return hub.NewError(hub.CodeAskChanged, "this is not the question that the answer is for").With("ask_id", row.AskID)
}

// checkMeant takes the choice that an answer is, and refuses a word that is nearly one, where the
// caller wants that. Error: answer_unclear.
func checkMeant(row *hub.Ask, in *hub.AskAnswerInput) error {
	if !in.UnlessNear {
		return nil
	}
	if choice, ok := row.Chosen(in.Answer); ok {
		in.Answer = choice
		return nil
	}
	near := row.Near(in.Answer)
	if len(near) == 0 {
		return nil
	}
	return hub.NewError(hub.CodeAnswerUnclear, "the answer is nearly one of the choices, and none of them").
		With("ask_id", row.AskID).With("did_you_mean", near[0]).With("near", near)
}

// AskWithdrawal closes a question without an answer.
type AskWithdrawal struct {
	Agent    hub.AgentID // that withdraws it
	Operator bool        // the operator closes it
	By       string      // the name of the human
	Reason   string
	Digest   string // of the question that is meant; empty: not said
}

// Withdraw decides that an open question is closed without an answer. Another agent's
// question is ErrAskNotOpen, so that its existence is not told.
func (a *Asks) Withdraw(id hub.AskID, c AskWithdrawal) (Decision[StoredAsk], error) {
	row, ok := a.open[id]
	if !ok || !c.Operator && c.Agent != row.Ask.AgentID {
		return Decision[StoredAsk]{}, ErrAskNotOpen
	}
	if err := CheckAsked(&row.Ask, c.Digest); err != nil {
		return Decision[StoredAsk]{}, err
	}
	byOperator := c.Operator && c.Agent != row.Ask.AgentID
	f := &AskWithdrawn{Ask: id, By: c.By, Reason: c.Reason, Told: byOperator && row.Ask.Permission == nil}
	d := Decision[StoredAsk]{
		Draft:  Draft{Facts: []Fact{f}},
		Answer: func(at Position) StoredAsk { return f.closed(row, at) },
	}
	if !byOperator {
		f.By = string(row.Ask.AgentID)
	}
	if !f.Told {
		return d, nil
	}
	m := operatorsWord(&row.Ask, hub.AskWithdrawn, "")
	if m.Body = "I close question " + string(id) + " without an answer."; c.Reason != "" {
		m.Body += " " + c.Reason
	}
	d.Messages = row.toEach(m)
	return d, nil
}

// maxExpiring bounds the questions that one record closes.
const maxExpiring = 50

// Expire decides that the questions whose deadline is over are closed, the earliest
// first, at most maxExpiring. The answer says whether more are due.
func (a *Asks) Expire(now Now) Decision[bool] {
	var due []StoredAsk
	for _, row := range a.open {
		if row.DeadlineMS != 0 && row.DeadlineMS <= now.HubMS {
			due = append(due, row)
		}
	}
	slices.SortFunc(due, func(x, y StoredAsk) int {
		return cmp.Or(cmp.Compare(x.DeadlineMS, y.DeadlineMS), cmp.Compare(x.Ask.MessageID, y.Ask.MessageID), cmp.Compare(x.Ask.AskID, y.Ask.AskID))
	})
	more := len(due) > maxExpiring
	var d Draft
	for _, row := range due[:min(len(due), maxExpiring)] {
		d.Facts = append(d.Facts, &AskExpired{Ask: row.Ask.AskID, Message: len(d.Messages)})
		if row.Ask.Permission == nil {
			d.Messages = append(d.Messages, row.toEach(askExpired(&row.Ask))...)
		}
	}
	return Decision[bool]{Draft: d, Answer: func(Position) bool { return more }}
}

// operatorsWord is the message with which the operator closes a question.
func operatorsWord(row *hub.Ask, state hub.AskState, answer string) MessageDraft {
	m := endOfAsk(row, state, answer)
	m.From, m.Kind, m.Authority = hub.AgentOperator, hub.KindChat, hub.AuthorityOperator
	return m
}

// askExpired says that nobody has answered. The hub is its sender, and anyone may have
// asked in the agent's name, so the default stands in quotes.
func askExpired(row *hub.Ask) MessageDraft {
	m := endOfAsk(row, hub.AskExpired, hub.Value(row.Default))
	if m.Body = "Nobody answered your question " + string(row.AskID) + " in time. "; row.Default == nil {
		m.Body += "It has no default, so decide yourself, or ask again."
	} else {
		m.Body += "Its default was taken: " + strconv.Quote(*row.Default)
	}
	return m
}

// endOfAsk is a notice that tells an agent how its question ended, without a text.
func endOfAsk(row *hub.Ask, state hub.AskState, answer string) MessageDraft {
	m := systemNotice("", map[string]any{"ask": AskNotice{AskID: row.AskID, AgentID: row.AgentID, State: state, Answer: Optional(answer)}})
	m.To, m.Channel, m.ReplyTo, m.Room = row.AgentID, hub.DirectChannel, row.MessageID, hub.Value(row.RoomID)
	return m
}

// AskNotice is the metadata of the message that ends a question.
type AskNotice struct {
	AskID   hub.AskID    `json:"ask_id"`
	AgentID hub.AgentID  `json:"agent_id"`
	State   hub.AskState `json:"state"`
	Answer  *string      `json:"answer"` // null: there is none
}

// Apply changes the state by one fact. Applying a fact twice has the same effect as once.
func (a *Asks) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *Asked:
		a.put(f.ask(at), at, rows)
	case *PermissionDecided:
		a.put(f.ask(at), at, rows)
	case *PermissionsSet:
		a.permissions = f.Policy
		rows.Put(TablePermissions, PermissionsKey(), mustJSON(f.Policy))
	case *AskAnswered:
		a.change(f.Ask, func(row StoredAsk) StoredAsk { return f.closed(row, at) }, at, rows)
	case *AskWithdrawn:
		a.change(f.Ask, func(row StoredAsk) StoredAsk { return f.closed(row, at) }, at, rows)
	case *AskExpired:
		a.change(f.Ask, func(row StoredAsk) StoredAsk { return f.closed(row, at) }, at, rows)
	case *AnswerTakenBack:
		a.put(f.Question, at, rows)
		rows.Put(TableTakenBack, IDKey(f.Message), mustJSON(TakenBack{Ask: f.Question.Ask.AskID, By: f.By, At: at.Now.Wall}))
	default:
		panic(fmt.Sprintf("core: asks were given the fact %T", f))
	}
}
