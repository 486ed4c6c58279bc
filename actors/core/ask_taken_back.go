package core

import (
	"strconv"

	"hubcli/hub"
)

// AskTakeBack takes the answer to a question back. The question is closed, so its owner does
// not have it. The caller knows that nobody has read the answer, and that nobody reads it
// before the command has been decided.
type AskTakeBack struct {
	Answered StoredAsk
	By       string // the name of the human
}

// TakenBack says of an answer's message that the operator has taken it back.
type TakenBack struct {
	Ask hub.AskID `json:"ask"`
	By  string    `json:"by,omitempty"`
	At  hub.Time  `json:"at"`
}

// AnswerTakenBack says that a question is open again, because its answer was taken back. No
// agent is shown the message with the answer any more.
type AnswerTakenBack struct {
	Question StoredAsk     `json:"question"` // as it is now
	Message  hub.MessageID `json:"message"`  // that told the answer
	By       string        `json:"by,omitempty"`
}

// FactType implements Fact.
func (*AnswerTakenBack) FactType() FactType { return factAnswerTakenBack }

// Why an answer is not taken back, for programs.
const (
	KeptOpen    = "open"       // there is no answer
	KeptClosed  = "closed"     // the question ended without an answer of the operator
	KeptEffect  = "has_effect" // the hub itself, or a harness, has gone on with it
	KeptRead    = "read"       // an agent was shown it
	KeptLate    = "late"       // it is too old
	KeptUnknown = "restarted"  // the hub was started since, and does not know whether it was read
)

// NotTakenBack refuses to take an answer back.
func NotTakenBack(reason, sentence string) *hub.Error {
	return hub.NewError(hub.CodeNotTakenBack, sentence).With("reason", reason)
}

// CheckTakeBack refuses a question that has no answer of the operator that could be taken
// back. Error: not_taken_back.
func CheckTakeBack(a *hub.Ask) error {
	var e *hub.Error
	switch {
	case a.State == hub.AskOpen:
		e = NotTakenBack(KeptOpen, "the question is open: there is no answer to take back")
	case a.State != hub.AskAnswered:
		e = NotTakenBack(KeptClosed, "the question was not answered: it is "+string(a.State))
	case a.Permission != nil:
		e = NotTakenBack(KeptEffect, "the harness that asked has been told, and has gone on")
	case a.AgentID == hub.AgentSystem:
		e = NotTakenBack(KeptEffect, "the hub has done at once what the answer says")
	case a.AnswerMessageID == nil:
		e = NotTakenBack(KeptClosed, "no message tells the answer")
	default:
		return nil
	}
	return e.With("ask_id", a.AskID)
}

// TakeBack decides that a question is open again. It counts for no limit of open questions: it
// had its place before. Its deadline is at least as long away as an answer may be taken back, so
// that there is time for another one. Error: not_taken_back.
func (a *Asks) TakeBack(c AskTakeBack, now Now) (Decision[StoredAsk], error) {
	if _, open := a.open[c.Answered.Ask.AskID]; open {
		c.Answered.Ask.State = hub.AskOpen
	}
	if err := CheckTakeBack(&c.Answered.Ask); err != nil {
		return Decision[StoredAsk]{}, err
	}
	message, answer := *c.Answered.Ask.AnswerMessageID, hub.Value(c.Answered.Ask.Answer)
	row := c.Answered
	row.Ask.State, row.Ask.Answer, row.Ask.AnswerMessageID, row.Ask.ClosedBy, row.Ask.ClosedAt = hub.AskOpen, nil, nil, "", nil
	if row.DeadlineMS != 0 {
		row.DeadlineMS = max(row.DeadlineMS, now.HubMS+hub.TakeBackFor.Milliseconds())
	}
	id := string(row.Ask.AskID)
	m := systemNotice(
		"The answer to question "+id+" of "+string(row.Ask.AgentID)+" was taken back before anybody had read it: "+strconv.Quote(firstChars(answer, hub.MaxAskOptionChars))+". The question is open again.",
		map[string]any{"taken_back": id})
	m.To, m.Channel, m.ReplyTo, m.Room = hub.AgentOperator, hub.DirectChannel, message, hub.Value(row.Ask.RoomID)
	d := answering(row, &AnswerTakenBack{Question: row, Message: message, By: c.By})
	d.Messages = []MessageDraft{m}
	return d, nil
}
