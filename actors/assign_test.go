package actors

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

func (r *rig) assign(id hub.TaskID, by, to hub.AgentID) error {
	_, err := r.UpdateTask(r.t.Context(), id, hub.TaskUpdateInput{AgentID: by, Assignee: &to})
	return err
}

// or returns what p points to, or nothing.
// handOver offers a task and has the offer accepted.
func (r *rig) handOver(id hub.TaskID, from, to hub.AgentID) {
	r.t.Helper()
	if _, err := r.HandoffTask(r.t.Context(), id, hub.HandoffInput{AgentID: from, ToAgent: to}); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.AcceptTask(r.t.Context(), id, hub.OfferInput{AgentID: to}); err != nil {
		r.t.Fatal(err)
	}
}

// The agent that was asked first may see the task as long as the message that
// opened it: when it is handed over, when that is replayed and when it has
// ended.
func TestWhoWasAskedGoesOnSeeingATask(t *testing.T) {
	r := start(t, newMemStore())
	id := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "first", Kind: hub.KindTaskRequest, Body: "secret"}).ID
	r.handOver(id, "first", "second")
	r.handOver(id, "second", "third")
	check := func(r *rig) {
		t.Helper()
		for viewer, sees := range map[hub.AgentID]bool{"lead": true, "first": true, "second": false, "third": true, "other": false} {
			if _, err := r.Task(t.Context(), id, viewer); (err == nil) != sees {
				t.Errorf("%s: %v", viewer, err)
			}
			if list, _, err := r.Tasks(t.Context(), hub.TasksQuery{Viewer: viewer, Limit: 10}); err != nil || (len(list) == 1) != sees {
				t.Errorf("%s: %d tasks, %v", viewer, len(list), err)
			}
		}
	}
	check(r)
	r = start(t, r.crash())
	check(r)
	r.stop()
	r = start(t, r.store.restarted())
	check(r)
	if _, err := r.CompleteTask(t.Context(), id, hub.CompleteInput{AgentID: "third"}); err != nil {
		t.Fatal(err)
	}
	check(r)
}

// A task that an agent works on is not taken away. The agent that is given a
// task is told and woken, and so is the agent that had it.
func TestAssigningATask(t *testing.T) {
	r := start(t, newMemStore())
	id := r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: "Fix the build"}).ID
	if err := r.assign(id, "dev", "dev"); err != nil {
		t.Fatalf("a task that nobody has: %v", err)
	}
	for _, stranger := range []hub.AgentID{"stranger", ""} {
		for _, to := range []hub.AgentID{"stranger", "other", ""} {
			if err := r.assign(id, stranger, to); codeOf(err) != hub.CodeTaskTaken {
				t.Errorf("%q gives the task of dev to %q: %v", stranger, to, err)
			}
		}
	}
	if len(r.inbox("dev")) != 0 {
		t.Errorf("dev, who took it, is told %v", r.inbox("dev"))
	}
	require.NoError(t, r.assign(id, "lead", "next"))
	for agent, want := range map[hub.AgentID]string{"next": "is yours now", "dev": "next has it now"} {
		in := r.inbox(agent)
		if len(in) != 1 || in[0].FromAgent != "lead" || in[0].Kind != hub.KindNotice || !strings.Contains(in[0].Body, want) {
			t.Fatalf("%s is told %+v", agent, in)
		}
		a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: agent})
		if err != nil || len(a.Directed) != 1 {
			t.Errorf("attention of %s: %+v, %v", agent, a, err)
		}
	}
	other := r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: "Write it down"}).ID
	require.NoError(t, r.assign(other, "", "writer"))
	a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "writer"})
	if err != nil || len(a.Directed) != 1 || a.Directed[0].FromAgent != hub.AgentSystem {
		t.Errorf("given a task by nobody in particular: %+v, %v", a, err)
	}
}

func (r *rig) inbox(agent hub.AgentID) []hub.Message {
	r.t.Helper()
	p, err := r.Inbox(r.t.Context(), hub.InboxQuery{Agent: agent, Limit: 100})
	require.NoError(r.t, err)
	return decodeAll(r.t, p.Rows)
}

// What a direct task asks for reaches whom it is given to within the limits of a
// message, however large it is.
func TestAsksKeepTheLimits(t *testing.T) {
	limits := hub.DefaultLimits()
	for name, body := range map[string]string{
		"plain": strings.Repeat("a", limits.MaxBodyChars), "control": strings.Repeat("\x01", limits.MaxBodyChars),
		"wide": strings.Repeat("☃\n", limits.MaxBodyChars/2), "empty": "", "short": "x",
		"just": strings.Repeat("\x01", (limits.MaxAttachmentChars-2)/6),
	} {
		r := start(t, newMemStore())
		attachments := make([]hub.Attachment, limits.MaxAttachments)
		for i := range attachments {
			attachments[i] = hub.Attachment{Type: hub.AttachmentText, Content: json.RawMessage(`"` + strings.Repeat("b", 100) + `"`)}
		}
		id := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Kind: hub.KindTask, Body: body, Attachments: attachments}).ID
		if _, err := r.HandoffTask(t.Context(), id, hub.HandoffInput{AgentID: "dev", ToAgent: "next"}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.assign(id, "lead", "third"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, agent := range []hub.AgentID{"next", "third"} {
			checkAsks(t, r, name+" for "+string(agent), agent, body, len(attachments), limits)
		}
	}
}

func checkAsks(t *testing.T, r *rig, name string, agent hub.AgentID, body string, attachments int, limits hub.Limits) {
	t.Helper()
	var got strings.Builder
	found := 0
	for _, m := range r.inbox(agent) {
		if len(m.Attachments) > limits.MaxAttachments {
			t.Errorf("%s: a message with %d attachments", name, len(m.Attachments))
		}
		for _, a := range m.Attachments {
			var text string
			if err := json.Unmarshal(a.Content, &text); err != nil || len([]rune(string(a.Content))) > limits.MaxAttachmentChars {
				t.Errorf("%s: an attachment of %d characters, %v", name, len([]rune(string(a.Content))), err)
			}
			if text == strings.Repeat("b", 100) {
				found++
			} else {
				got.WriteString(text)
			}
		}
	}
	if got.String() != body || found != attachments {
		t.Errorf("%s: %d of %d bytes and %d of %d attachments have arrived", name, got.Len(), len(body), found, attachments)
	}
}

// TestNoteGoesWithATask: the note of an update reaches the agent that it names, in the name of the agent
// that wrote it, whether the agent gets the task or has it already. Nothing else opens.
func TestNoteGoesWithATask(t *testing.T) {
	r := start(t, newMemStore())
	defer func() { r.stop() }()
	id := r.task(hub.PostInput{FromAgent: "lead", Body: "paint"})
	give := func(note string) {
		t.Helper()
		dev := hub.AgentID("dev")
		_, err := r.UpdateTask(t.Context(), id, hub.TaskUpdateInput{AgentID: "lead", Assignee: &dev, Note: note})
		require.NoError(t, err)
	}
	give("in green")
	give("and twice")
	give("")
	var got []string
	for _, m := range r.inbox("dev") {
		if m.FromAgent != "lead" || hub.Value(m.ReplyTo) != id || m.Authority != hub.AuthorityAgent {
			t.Errorf("dev is sent %+v", m)
		}
		got = append(got, m.Body)
	}
	if want := []string{"Task 1 \"paint\" is yours now.\n\nin green", "Task 1 \"paint\" is yours.\n\nand twice"}; !slices.Equal(got, want) {
		t.Errorf("dev is told %q, want %q", got, want)
	}
	if list, _, err := r.Tasks(t.Context(), hub.TasksQuery{Viewer: "lead", Limit: 10}); err != nil || len(list) != 1 {
		t.Errorf("%d tasks, %v", len(list), err)
	}
}

// TestNoteIsOfWhoDisposes: a note to the assignee of a task is for those who may give the task away, and
// a task is given to nobody who cannot do it.
func TestNoteIsOfWhoDisposes(t *testing.T) {
	r := start(t, newMemStore())
	defer func() { r.stop() }()
	id := r.task(hub.PostInput{FromAgent: "lead", Body: "paint"})
	give := func(by, to hub.AgentID, note string) error {
		_, err := r.UpdateTask(t.Context(), id, hub.TaskUpdateInput{AgentID: by, Assignee: &to, Note: note})
		return err
	}
	for to, code := range map[hub.AgentID]hub.Code{
		hub.AgentHub: hub.CodeReservedAgent, hub.AgentSystem: hub.CodeReservedAgent, "dev.watch": hub.CodeReservedAgent, "all": hub.CodeInvalid,
	} {
		wantCode(t, give("lead", to, ""), code)
	}
	require.NoError(t, give("lead", "dev", "in green"))
	wantCode(t, give("stranger", "dev", "in red"), hub.CodeTaskTaken)
	require.NoError(t, give("lead", "dev", "and twice"))
	if got := len(r.inbox("dev")); got != 2 {
		t.Errorf("dev is sent %d messages, want 2", got)
	}
}
