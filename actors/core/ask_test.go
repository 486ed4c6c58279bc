package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// askRig is the owner of questions, its stored rows and its time.
type askRig struct {
	t    rapid.TB
	asks *core.Asks
	rows map[string]core.Row // by table and key
	at   core.Position
	sent []core.MessageDraft
}

func newAskRig(t rapid.TB) *askRig {
	return &askRig{t: t, asks: core.RestoreAsks(core.NoPermissions(), nil), rows: map[string]core.Row{}, at: core.Position{Now: core.Now{HubMS: 1000, Wall: 5000}, FirstMessage: 1}}
}

// decide applies a decision as an owner does: with facts that the journal's encoding gave
// back, each twice, which must be the same as once.
func decide[T any](r *askRig, d core.Decision[T], err error) (T, error) {
	if err != nil || d.Empty() {
		var none T
		if err == nil {
			none = d.Answer(core.Position{})
		}
		return none, err
	}
	r.at.Seq++
	for range 2 {
		for _, f := range d.Facts {
			decoded, err := core.DecodeFact(core.EncodeFact(f))
			require.NoError(r.t, err)
			r.asks.Apply(decoded, r.at, func(row core.Row) { r.rows[fmt.Sprintf("%02d/%s", row.Table, row.Key)] = row })
		}
	}
	for _, m := range d.Messages {
		if m.Numbered != nil {
			m.Numbered(&m, r.at)
		}
		r.sent = append(r.sent, m)
	}
	answer := d.Answer(r.at)
	r.at.FirstMessage += hub.MessageID(len(d.Messages))
	return answer, nil
}

func (r *askRig) ask(in hub.AskInput) core.StoredAsk {
	d, err := r.asks.Ask(core.AskCommand{In: in, By: core.StandingProved, Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession}, r.at.Now)
	row, err := decide(r, d, err)
	require.NoError(r.t, err)
	return row
}

func (r *askRig) stored(id hub.AskID) (row core.StoredAsk) {
	key, ok := core.AskKey(id)
	if !ok {
		r.t.Fatalf("%s is no id", id)
	}
	require.NoError(r.t, json.Unmarshal(r.rows[fmt.Sprintf("%02d/%s", core.TableAsk, key)].Value, &row))
	return row
}

// loaded returns the state that the stored rows give, as after a restart.
func (r *askRig) loaded() *core.Asks {
	var open core.OpenAsks
	if row, ok := r.rows[fmt.Sprintf("%02d/open", core.TableAskOpen)]; ok {
		require.NoError(r.t, json.Unmarshal(row.Value, &open))
	}
	rows := make([]core.StoredAsk, len(open.Open))
	for i, id := range open.Open {
		rows[i] = r.stored(id)
	}
	permissions := core.NoPermissions()
	if row, ok := r.rows[fmt.Sprintf("%02d/policy", core.TablePermissions)]; ok {
		require.NoError(r.t, json.Unmarshal(row.Value, &permissions))
	}
	return core.RestoreAsks(permissions, rows)
}

// The messages of a question say what the operator and the agent must know.
func TestAskMessages(t *testing.T) {
	r := newAskRig(t)
	first := r.ask(hub.AskInput{AgentID: "dev", Question: "Deploy?", Options: []string{"yes", "no"}, Default: "no", DeadlineSec: 60, RoomID: "r_1"}).Ask
	q := r.sent[0]
	if q.To != hub.AgentOperator || q.From != "dev" || q.Room != "r_1" || string(q.Metadata) != `{"ask":"`+string(first.AskID)+`"}` {
		t.Errorf("the question is %+v", q)
	}
	for _, want := range []string{"Deploy?", "yes | no", "60 s", "without an answer: no"} {
		if !strings.Contains(q.Body, want) {
			t.Errorf("%q does not say %q", q.Body, want)
		}
	}
	d, err := r.asks.Answer(first.AskID, hub.AskAnswerInput{Answer: "yes", By: "Ann"})
	row, err := decide(r, d, err)
	require.NoError(t, err)
	a := r.sent[1]
	if a.From != hub.AgentOperator || a.To != "dev" || a.ReplyTo != first.MessageID || a.Body != "yes" || a.Authority != hub.AuthorityOperator {
		t.Errorf("the answer is %+v", a)
	}
	if *row.Ask.Answer != "yes" || row.Ask.ClosedBy != "Ann" || *row.Ask.AnswerMessageID != 2 || row.Ask.ClosedAt == nil {
		t.Errorf("the row is %+v", row.Ask)
	}

	second := r.ask(hub.AskInput{AgentID: "dev", Question: "x", Default: "a\nb \x1b[31m", DeadlineSec: 1}).Ask
	r.at.Now.HubMS += 1000
	_, err = decide(r, r.asks.Expire(r.at.Now), nil)
	require.NoError(t, err)
	n := r.sent[len(r.sent)-1]
	if n.From != hub.AgentSystem || n.Kind != hub.KindNotice || n.ReplyTo != second.MessageID || strings.ContainsAny(n.Body, "\n\x1b") {
		t.Errorf("the notice is %+v", n)
	}

	third := r.ask(hub.AskInput{AgentID: "dev", Question: "y"}).Ask
	_, err = decide(r, core.Decision[core.StoredAsk]{}, func() error {
		_, err := r.asks.Withdraw(third.AskID, core.AskWithdrawal{Agent: "eve"})
		return err
	}())
	if !errors.Is(err, core.ErrAskNotOpen) {
		t.Errorf("another agent's withdrawal: %v", err)
	}
	before := len(r.sent)
	d, err = r.asks.Withdraw(third.AskID, core.AskWithdrawal{Agent: "dev", Reason: "found it"})
	row, err = decide(r, d, err)
	if err != nil || len(r.sent) != before || row.Ask.ClosedBy != "dev" || row.Ask.AnswerMessageID != nil {
		t.Errorf("withdrawn by its agent: %+v, %v, %d messages", row.Ask, err, len(r.sent)-before)
	}
}

// A direct message to the operator keeps all of its words; its row has the first ones.
func TestAskByMessage(t *testing.T) {
	r := newAskRig(t)
	long := strings.Repeat("ä", hub.MaxAskChars+1)
	d, err := r.asks.AskByMessage(core.MessageDraft{From: "dev", To: hub.AgentOperator, Body: long, Metadata: json.RawMessage(`{"mine":1}`)}, core.StandingUnknown)
	id, err := decide(r, d, err)
	require.NoError(t, err)
	row := r.stored(hub.AskID(core.IDAt(core.PrefixAsk, r.at.Seq))).Ask
	if id != 1 || row.MessageID != 1 || r.sent[0].Body != long || string(r.sent[0].Metadata) != `{"mine":1}` {
		t.Errorf("message %d, row %+v", id, row)
	}
	if n := len([]rune(row.Question)); n != hub.MaxAskChars {
		t.Errorf("the row has %d characters", n)
	}
}

func TestAskLimits(t *testing.T) {
	r := newAskRig(t)
	for range hub.MaxAgentAsks {
		r.ask(hub.AskInput{AgentID: "dev", Question: "x"})
	}
	ask := func(agent hub.AgentID, by core.Standing) error {
		_, err := r.asks.Ask(core.AskCommand{In: hub.AskInput{AgentID: agent, Question: "x"}, By: by}, r.at.Now)
		return err
	}
	err := ask("dev", core.StandingProved)
	if codeOf(err) != hub.CodeLimitReached {
		t.Errorf("one more of an agent: %v", err)
	}
	if _, err := r.asks.AskByMessage(core.MessageDraft{From: "dev", To: hub.AgentOperator}, core.StandingProved); codeOf(err) != hub.CodeLimitReached {
		t.Errorf("one more by a message: %v", err)
	}
	for i := range hub.MaxOpenAsks - hub.MaxAgentAsks {
		r.ask(hub.AskInput{AgentID: hub.AgentID(fmt.Sprint("a", i)), Question: "x"})
	}
	if err := ask("new", core.StandingProved); codeOf(err) != hub.CodeLimitReached {
		t.Errorf("one more in all: %v", err)
	}
	if err := ask(hub.AgentSystem, core.StandingOperator); err != nil {
		t.Errorf("a question of the hub itself: %v", err)
	}
}

// TestAskProperties: whatever is asked, answered, withdrawn and left alone, a question is
// closed once, its agent is told once, and the rows are the state.
func TestAskProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newAskRig(t)
		open, told := map[hub.AskID]core.StoredAsk{}, map[hub.MessageID]int{}
		pick := func(t *rapid.T) (hub.AskID, bool) {
			ids := slices.Sorted(maps.Keys(open))
			if len(ids) == 0 || rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
				return "ask_zz", false
			}
			return rapid.SampledFrom(ids).Draw(t, "id"), true
		}
		t.Repeat(map[string]func(*rapid.T){
			"time": func(t *rapid.T) { r.at.Now.HubMS += rapid.Int64Range(1, 30_000).Draw(t, "ms") },
			"ask": func(t *rapid.T) {
				row := r.ask(hub.AskInput{
					AgentID: rapid.SampledFrom([]hub.AgentID{"a", "b"}).Draw(t, "by"), Question: "x",
					DeadlineSec: rapid.IntRange(0, 60).Draw(t, "sec"), Default: rapid.SampledFrom([]string{"", "d"}).Draw(t, "default"),
				})
				open[row.Ask.AskID] = row
			},
			"answer": func(t *rapid.T) {
				id, known := pick(t)
				d, err := r.asks.Answer(id, hub.AskAnswerInput{Answer: "yes"})
				if _, err = decide(r, d, err); known != (err == nil) {
					t.Fatalf("answer of %s: %v", id, err)
				}
				delete(open, id)
			},
			"withdraw": func(t *rapid.T) {
				id, known := pick(t)
				d, err := r.asks.Withdraw(id, core.AskWithdrawal{Operator: true})
				if _, err = decide(r, d, err); known != (err == nil) {
					t.Fatalf("withdrawal of %s: %v", id, err)
				}
				delete(open, id)
			},
			"expire": func(t *rapid.T) {
				for more := true; more; {
					var err error
					more, err = decide(r, r.asks.Expire(r.at.Now), nil)
					require.NoError(t, err)
				}
				maps.DeleteFunc(open, func(id hub.AskID, row core.StoredAsk) bool {
					due := row.DeadlineMS != 0 && row.DeadlineMS <= r.at.Now.HubMS
					if state := r.stored(id).Ask.State; due != (state == hub.AskExpired) {
						t.Fatalf("%s is %s, due %v", id, state, due)
					}
					return due
				})
			},
			"": func(t *rapid.T) {
				clear(told)
				for _, m := range r.sent {
					if m.ReplyTo != 0 {
						told[m.ReplyTo]++
					}
				}
				for key, row := range r.rows {
					if !strings.HasPrefix(key, fmt.Sprintf("%02d/", core.TableAsk)) {
						continue
					}
					var stored core.StoredAsk
					require.NoError(t, json.Unmarshal(row.Value, &stored))
					_, isOpen := open[stored.Ask.AskID]
					want := 1
					if isOpen {
						want = 0
					}
					if isOpen != (stored.Ask.State == hub.AskOpen) || told[stored.Ask.MessageID] != want {
						t.Fatalf("%+v: open %v, told %d times", stored.Ask, isOpen, told[stored.Ask.MessageID])
					}
				}
				r.asks = r.loaded()
			},
		})
	})
}
