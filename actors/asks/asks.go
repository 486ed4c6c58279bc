package asks

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Options are the parts of the hub that the package uses. All but Notifier are required.
type Options struct {
	View   *view.View
	Engine *engine.Engine
	Gate   *gate.Gate
	Rows   core.Rows
	Log    *slog.Logger
	// Notifier tells the operator of questions. nil: nothing does.
	Notifier Notifier
}

// Asks serves the questions of a hub.
type Asks struct {
	view   *view.View
	engine *engine.Engine
	gate   *gate.Gate
	rows   core.Rows
	log    *slog.Logger

	notifier Notifier

	mu     sync.Mutex
	due    map[hub.AskID]int64 // deadlines of open questions in hub ms
	news   chan struct{}       // a question with a deadline was asked; capacity 1
	untold []hub.AskID         // questions of which the operator is to be told
	fresh  chan struct{}       // untold has got one; capacity 1
	failed string              // why the latest notification failed

	started int64 // hub ms at which this process began

	waiting map[hub.AskID]map[chan struct{}]bool // calls that wait for the end of a question
}

// New returns the questions of a hub. The engine need not run yet.
func New(o Options) *Asks {
	return &Asks{
		view: o.View, engine: o.Engine, gate: o.Gate, rows: o.Rows, log: o.Log, notifier: o.Notifier,
		due: map[hub.AskID]int64{}, news: make(chan struct{}, 1), fresh: make(chan struct{}, 1),
		waiting: map[hub.AskID]map[chan struct{}]bool{},
	}
}

// IsQuestion reports whether a message is a question to the operator: it is direct, comes
// from an agent and opens or ends no task.
func IsQuestion(m *core.MessageDraft) bool {
	return m.To == hub.AgentOperator && !m.From.Reserved() && !m.Kind.OpensTask() && m.Kind != hub.KindTaskResult && m.Parent == 0
}

// Ask asks the operator; see hub.Asks.
func (s *Asks) Ask(ctx context.Context, in hub.AskInput) (hub.Outcome[hub.Ask], error) {
	c := core.AskCommand{In: in, By: s.standing(ctx, in.AgentID), Authority: hub.AuthorityAgent, Assurance: hub.CallerOf(ctx).Assurance()}
	act := gate.Act{Op: "ask", Agent: in.AgentID, Room: in.RoomID}
	out, err := s.change(ctx, &act, len(in.Question), func() error { return s.checkNames(ctx, &in) }, func(a *core.Asks, now core.Now) (core.Decision[core.StoredAsk], error) {
		return a.Ask(c, now)
	})
	out.Created = true
	return out, err
}

// standing returns what the hub knows of the agent that a call acts as.
func (s *Asks) standing(ctx context.Context, agent hub.AgentID) core.Standing {
	return s.view.Standing(ctx, agent, s.engine.Clock.Now().Wall)
}

// AboutLoop asks whether agents may go on that post to each other without progress. Only
// one such question is open about the same agents at the same place.
func (s *Asks) AboutLoop(ctx context.Context, l core.Loop) error {
	_, err := s.own(ctx, hub.AgentSystem, 0, func(a *core.Asks, now core.Now) (core.Decision[core.StoredAsk], error) {
		return a.AskAboutLoop(l, now)
	})
	return err
}

// checkNames refuses a question about a room, task or artifact that there is not, or that
// its agent may not see. What passes stays true: these are never deleted.
func (s *Asks) checkNames(ctx context.Context, in *hub.AskInput) error {
	if in.RoomID != "" {
		if _, err := s.view.Room(in.RoomID); err != nil {
			return err
		}
	}
	if in.Blocks != 0 {
		t, err := s.view.AnyTask(in.Blocks)
		if errors.Is(err, core.ErrNotFound) || err == nil && !view.ViewerOf(ctx, in.AgentID).Task(&t) {
			return hub.Errorf(hub.CodeTaskNotFound, "there is no task %d", in.Blocks).With("field", "blocks")
		}
		if err != nil {
			return err
		}
	}
	if in.ArtifactID != "" {
		return s.checkArtifact(in.ArtifactID)
	}
	return nil
}

func (s *Asks) checkArtifact(id hub.ArtifactID) error {
	seq, ok := core.SeqOf(core.PrefixArtifact, string(id))
	if ok {
		_, err := view.StoredRow[hub.Artifact](s.rows, core.TableArtifact, core.SeqKey(seq))
		if !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	return hub.NewError(hub.CodeArtifactNotFound, "there is no such artifact").With("artifact_id", id)
}

// Post lets a direct message to the operator be a question. The answer is the row of the
// message.
func (s *Asks) Post(ctx context.Context, act *gate.Act, size int, codec engine.Codec[hub.EncodedMessage], draft func() (core.MessageDraft, error)) (hub.EncodedMessage, bool, error) {
	return gate.Do(ctx, s.gate, act, codec, func() (engine.Command[*core.Asks, hub.MessageID, hub.EncodedMessage], error) {
		m, err := draft()
		by := s.standing(ctx, m.From)
		return engine.Command[*core.Asks, hub.MessageID, hub.EncodedMessage]{
			Owner: core.AsksOwner(), Size: size,
			Decide: func(a *core.Asks, _ core.Now) (core.Decision[hub.MessageID], error) { return a.AskByMessage(m, by) },
			Answer: func(_ hub.MessageID, r *core.Record) hub.EncodedMessage { return r.Messages[0].JSON },
		}, err
	})
}

// AnswerAsk answers a question; see hub.Asks.
func (s *Asks) AnswerAsk(ctx context.Context, id hub.AskID, in hub.AskAnswerInput) (hub.Outcome[hub.Ask], error) {
	act := gate.Act{Op: "answerAsk", Agent: hub.AgentOperator}
	out, err := s.change(ctx, &act, len(in.Answer), nil, func(a *core.Asks, _ core.Now) (core.Decision[core.StoredAsk], error) {
		return a.Answer(id, in)
	})
	return out, s.whyClosed(ctx, id, hub.AgentOperator, true, in.Digest, err)
}

// TakeBackAnswer takes an answer back; see hub.Asks. From the look at the readers of the answer
// until the end of the command nobody is shown it, so the command is not left when its caller
// goes away.
func (s *Asks) TakeBackAnswer(ctx context.Context, id hub.AskID, in hub.AskTakeBackInput) (hub.Outcome[hub.Ask], error) {
	ctx = context.WithoutCancel(ctx)
	c, end := core.AskTakeBack{By: in.By}, func() {}
	defer func() { end() }()
	check := func() (err error) {
		if c.Answered, err = row(s.rows, id); err == nil {
			err = core.CheckTakeBack(&c.Answered.Ask)
		}
		if err != nil {
			return err
		}
		keep, err := s.view.Answered.Begin(*c.Answered.Ask.AnswerMessageID, s.engine.Clock.Now().HubMS, s.started)
		if err == nil {
			end = keep
		}
		return err
	}
	act := gate.Act{Op: "takeBackAnswer", Agent: hub.AgentOperator}
	return s.change(ctx, &act, len(in.By), check, func(a *core.Asks, now core.Now) (core.Decision[core.StoredAsk], error) {
		return a.TakeBack(c, now)
	})
}

// WithdrawAsk closes a question without an answer; see hub.Asks.
func (s *Asks) WithdrawAsk(ctx context.Context, id hub.AskID, in hub.AskWithdrawInput) (hub.Outcome[hub.Ask], error) {
	c := core.AskWithdrawal{Agent: in.AgentID, Operator: hub.CallerOf(ctx).Operator, By: in.By, Reason: in.Reason, Digest: in.Digest}
	by := in.AgentID
	if by == "" {
		by = hub.AgentOperator
	}
	act := gate.Act{Op: "withdrawAsk", Agent: by}
	out, err := s.change(ctx, &act, len(in.Reason), nil, func(a *core.Asks, _ core.Now) (core.Decision[core.StoredAsk], error) {
		return a.Withdraw(id, c)
	})
	return out, s.whyClosed(ctx, id, in.AgentID, c.Operator, in.Digest, err)
}

type command = engine.Command[*core.Asks, core.StoredAsk, core.StoredAsk]

func asked(row core.StoredAsk, _ *core.Record) core.StoredAsk { return row }

// change lets the owner of questions decide what a caller wants. check looks at what the call
// names; nil: nothing.
func (s *Asks) change(ctx context.Context, act *gate.Act, size int, check func() error,
	decide func(*core.Asks, core.Now) (core.Decision[core.StoredAsk], error),
) (hub.Outcome[hub.Ask], error) {
	row, replayed, err := gate.Do(ctx, s.gate, act, s.codec(), func() (c command, err error) {
		if check != nil {
			err = check()
		}
		return command{Owner: core.AsksOwner(), Size: size, Decide: decide, Answer: asked}, err
	})
	if err == nil && replayed {
		row, err = s.view.ShownAsk(ctx, row)
	}
	if err != nil {
		return hub.Outcome[hub.Ask]{}, err
	}
	return hub.Outcome[hub.Ask]{Row: row.Row(s.engine.Clock.Now()), Replayed: replayed}, nil
}

// own lets the owner of questions decide what the hub does by itself.
func (s *Asks) own(ctx context.Context, agent hub.AgentID, size int,
	decide func(*core.Asks, core.Now) (core.Decision[core.StoredAsk], error),
) (core.StoredAsk, error) {
	row, _, err := engine.Submit(ctx, s.engine, command{Owner: core.AsksOwner(), Agent: agent, Size: size, Decide: decide, Answer: asked, Codec: s.codec()})
	return row, err
}

// codec stores only the id of a question. Its row is stored anyway, and a repeated call
// gets the current row.
func (s *Asks) codec() engine.Codec[core.StoredAsk] {
	return engine.Codec[core.StoredAsk]{
		Kind:   engine.EffectAsk,
		Encode: func(r core.StoredAsk) []byte { return []byte(r.Ask.AskID) },
		Decode: func(_ context.Context, e *core.Effect) (core.StoredAsk, error) {
			return row(s.rows, hub.AskID(e.Answer))
		},
	}
}

// whyClosed says of a question that is not open how it was closed, to an agent that may see it,
// unless the caller means another question.
func (s *Asks) whyClosed(ctx context.Context, id hub.AskID, agent hub.AgentID, operator bool, digest string, err error) error {
	if !errors.Is(err, core.ErrAskNotOpen) {
		return err
	}
	stored, err := row(s.rows, id)
	if err != nil {
		return err
	}
	a := &stored.Ask
	if !operator && agent != a.AgentID {
		return errNotFound(id)
	}
	if stored, err = s.view.ShownAsk(ctx, stored); err != nil {
		return err
	}
	if err := core.CheckAsked(a, digest); err != nil {
		return err
	}
	e := hub.NewError(hub.CodeAskClosed, "the question is closed: "+howClosed(a)).
		With("ask_id", id).With("state", a.State).With("closed_by", a.ClosedBy)
	if a.Answer != nil {
		e = e.With("answer", *a.Answer)
	}
	if a.ClosedAt != nil {
		e = e.With("closed_at", *a.ClosedAt)
	}
	return e
}

// howClosed says in words how a question was closed, without its texts.
func howClosed(a *hub.Ask) string {
	switch a.State {
	case hub.AskAnswered:
		return "it was answered before"
	case hub.AskExpired:
		return "nobody answered it in time"
	case hub.AskWithdrawn:
		return "it was withdrawn"
	case hub.AskOpen:
	}
	return "it is " + string(a.State)
}

// AskByID returns a question; see hub.Asks.
func (s *Asks) AskByID(ctx context.Context, id hub.AskID, viewer hub.AgentID) (hub.Ask, error) {
	stored, err := row(s.rows, id)
	if err == nil && !hub.CallerOf(ctx).Operator && viewer != stored.Ask.AgentID {
		err = errNotFound(id)
	}
	if err == nil {
		stored, err = s.view.ShownAsk(ctx, stored)
	}
	if err != nil {
		return hub.Ask{}, err
	}
	return stored.Row(s.engine.Clock.Now()), nil
}
