package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// The most that the scripted day may take: calls, and tokens of what a model
// reads of the answers, which is either their text or their structured content.
const (
	maxDayCalls  = 40
	maxDayTokens = 3_000
)

// cost is what calls of one tool took, in tokens of o200k_base.
type cost struct{ calls, args, text, structured int }

// bill counts what a day of a team costs its models.
type bill struct {
	t     *testing.T
	codec tokenizer.Codec
	tools map[string]*cost
}

func (b *bill) tokens(s string) int {
	n, err := b.codec.Count(s)
	require.NoError(b.t, err)
	return n
}

func (b *bill) add(tool string, given any, res *sdk.CallToolResult) {
	if b.tools[tool] == nil {
		b.tools[tool] = &cost{}
	}
	c := b.tools[tool]
	c.calls++
	if given != nil {
		c.args += b.tokens(mustCompact(b.t, given))
	}
	for _, part := range res.Content {
		c.text += b.tokens(part.(*sdk.TextContent).Text)
	}
	c.structured += b.tokens(mustCompact(b.t, res.StructuredContent))
}

// String shows the bill as a table, with the sum last.
func (b *bill) String() string {
	var out strings.Builder
	row := func(name string, c cost) {
		fmt.Fprintf(&out, "%-22s %5d %9d %6d %10d\n", name, c.calls, c.args, c.text, c.structured)
	}
	fmt.Fprintf(&out, "%-22s %5s %9s %6s %10s\n", "tool", "calls", "arguments", "text", "structured")
	for _, name := range slices.Sorted(maps.Keys(b.tools)) {
		row(name, *b.tools[name])
	}
	row("all", b.sum())
	return out.String()
}

func (b *bill) sum() (all cost) {
	for _, c := range b.tools {
		all.calls += c.calls
		all.args += c.args
		all.text += c.text
		all.structured += c.structured
	}
	return all
}

// member is an agent of the team, whose calls are put on the bill.
type member struct {
	*rig
	bill *bill
}

// does calls a tool that is to succeed, and returns what its model reads.
func (m *member) does(name string, given args) string {
	m.tb.Helper()
	res := m.try(name, given)
	m.bill.add(name, given, res)
	if res.IsError {
		m.tb.Fatalf("%s: %s", name, text(res))
	}
	return text(res) + "\n" + mustCompact(m.bill.t, res.StructuredContent)
}

// reads is does for an answer that is to hold some words.
func (m *member) reads(words string, name string, given args) string {
	m.tb.Helper()
	said := m.does(name, given)
	if !strings.Contains(said, words) {
		m.tb.Errorf("%s %v does not say %q: %s", name, given, words, said)
	}
	return said
}

// TestScriptedDay: a lead and three workers open a room, plan six tasks that
// depend on each other, lock files, hand a task over, ask and answer, record a
// decision and an artifact, and one of them dies and goes on. All of it takes
// few calls, and the answers few words. -v prints the bill.
func TestScriptedDay(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	require.NoError(t, err)
	b := &bill{t: t, codec: codec, tools: map[string]*cost{}}
	h := testhub.Start(t)
	begin := func(name hub.AgentID) *member {
		dir := t.TempDir()
		return &member{bridgeTo(t, h, in(dir, name)), b}
	}
	lead, ada, bob, cyd := begin("lead"), begin("ada"), begin("bob"), begin("cyd")

	// A room for four.
	lead.does("hub_start", nil)
	lead.does("hub_create_project", args{"name": "Web shop"})
	lead.does("hub_create_room", args{"project": "web-shop", "name": "Check out", "topic": "Payment by card and by invoice"})
	var code invited
	res := lead.try("hub_create_invite", args{"max_uses": 3})
	b.add("hub_create_invite", args{"max_uses": 3}, res)
	read(t, res, &code)
	lead.does("hub_post_message", args{"channel": "general", "body": "@ada @bob @cyd join our room with the code " + code.Code})
	for _, m := range []*member{ada, bob, cyd} {
		m.reads(code.Code, "hub_start", nil)
		m.reads("Check out", "hub_join", args{"code": code.Code})
	}

	// Six tasks, of which one is ready.
	lead.reads("6 tasks, 1 ready", "hub_plan", args{"title": "Check out", "tasks": []args{
		{"name": "schema", "title": "Write the schema of orders and payments"},
		{"name": "api", "title": "Write the payment API", "after": []string{"schema"}},
		{"name": "ui", "title": "Write the form of the till", "after": []string{"schema"}},
		{"name": "docs", "title": "Describe the payment API", "after": []string{"api"}},
		{"name": "tests", "title": "Test a payment from the form to the bank", "after": []string{"api", "ui"}},
		{"name": "release", "title": "Release version 2", "after": []string{"docs", "tests"}},
	}})
	said := ada.reads("orders and payments", "hub_take", args{"files": []string{"/src/schema.sql"}})
	schema := taskIn(t, said)

	// A question, a decision and its answer.
	bob.does("hub_dm", args{"to_agent": "lead", "body": "Are amounts cents or decimals? The API needs to know."})
	lead.reads("cents or decimals", "hub_poll_messages", args{"timeout_seconds": 0})
	lead.does("hub_record_decision", args{"title": "Amounts are integers, in cents", "note": "No rounding; the bank wants the same."})
	bob.reads("in cents", "hub_poll_messages", args{"timeout_seconds": 0})

	ada.reads("released", "hub_done", args{"task_id": schema, "note": "schema.sql has the tables orders and payments."})
	api := taskIn(t, bob.reads("payment API", "hub_take", args{"files": []string{"/src/api.go", "/src/api_test.go"}}))
	ui := taskIn(t, cyd.reads("form of the till", "hub_take", args{"files": []string{"/src/till.tsx"}}))
	bob.does("hub_add_artifact", args{"title": "payment API", "kind": "spec", "body": "POST /payments {order, cents} answers 201 {payment}. GET /payments/{id} answers its state."})
	cyd.reads("payment API", "hub_poll_messages", args{"timeout_seconds": 0})
	cyd.reads("POST /payments", "hub_get_artifact", args{"title": "payment API"})

	// Bob dies, goes on under the same id, and hands his task over.
	bob.end()
	bob = begin("bob")
	bob.reads("Write the payment API", "hub_start", nil)
	bob.does("hub_update_task", args{"task_id": api, "offer_to": "ada", "note": "POST works, GET is missing."})
	ada.reads("GET is missing", "hub_poll_messages", args{"timeout_seconds": 0})
	ada.reads("locks on 2 files", "hub_take", args{"task_id": api, "files": []string{"/src/api.go", "/src/api_test.go"}})
	ada.reads("released", "hub_done", args{"task_id": api, "note": "Both calls work."})
	cyd.reads("released", "hub_done", args{"task_id": ui, "note": "The form sends cents."})

	// The last three tasks, with a question that waits for its answer.
	docs := taskIn(t, ada.reads("Describe", "hub_take", nil))
	tests := taskIn(t, bob.reads("bank", "hub_take", nil))
	answered := make(chan string, 1)
	go func() {
		res := cyd.try("hub_rpc_call", args{"to_agent": "ada", "body": "Which state has a payment that the bank refused?", "timeout_seconds": 40})
		answered <- text(res)
		b.add("hub_rpc_call", args{"to_agent": "ada", "body": "Which state has a payment that the bank refused?"}, res)
		close(answered)
	}()
	require.Eventually(t, "the request is not posted", func() bool {
		a, err := ada.hub.Attention(t.Context(), hub.AttentionQuery{Agent: "ada"})
		return err == nil && slices.ContainsFunc(a.Directed, func(row hub.UnreadRow) bool { return row.Kind == hub.KindTaskRequest })
	})
	request := taskAsked(t, ada.reads("bank refused", "hub_poll_messages", nil))
	res = ada.try("hub_done", args{"task_id": request, "note": "declined"})
	if said := <-answered; !strings.Contains(said, "declined") {
		t.Errorf("the answer is %s", said)
	}
	<-answered
	b.add("hub_done", args{"task_id": request, "note": "declined"}, res)
	ada.does("hub_done", args{"task_id": docs, "note": "docs/payments.md is written."})
	bob.does("hub_done", args{"task_id": tests, "note": "All 12 tests pass."})
	release := taskIn(t, cyd.reads("Release version 2", "hub_take", nil))
	cyd.reads("done", "hub_done", args{"task_id": release, "note": "Version 2 is out."})
	lead.reads("6 of 6", "hub_room_status", nil)

	t.Logf("the bill, in tokens of o200k_base:\n%s", b)
	if all := b.sum(); all.calls > maxDayCalls || all.text > maxDayTokens || all.structured > maxDayTokens {
		t.Errorf("the day takes %d calls and %d tokens of text or %d structured, at most %d and %d\n%s",
			all.calls, all.text, all.structured, maxDayCalls, maxDayTokens, b)
	}
}

// taskIn returns the task that an answer to hub_take names.
func taskIn(t *testing.T, said string) (id hub.TaskID) {
	t.Helper()
	if _, err := fmt.Sscanf(said, "You have task #%d", &id); err != nil {
		t.Fatalf("no task is taken: %s", said)
	}
	return id
}

// taskAsked returns the request among the messages that an agent reads.
func taskAsked(t *testing.T, said string) (id hub.TaskID) {
	t.Helper()
	for line := range strings.SplitSeq(said, "\n") {
		if strings.HasPrefix(line, "#") && strings.Contains(line, ", task_request") {
			_, err := fmt.Sscanf(line, "#%d from", &id)
			require.NoError(t, err)
			return id
		}
	}
	t.Fatalf("no request is among %s", said)
	return 0
}
