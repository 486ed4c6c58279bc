package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/process"
	"hubcli/internal/require"
)

// fakeHub answers as a hub would whose rows are given, and notes what it was
// asked. The flows are proved against a real hub by the scripts of cmd/hubcli;
// this one can be put into any state.
type fakeHub struct {
	mu        sync.Mutex
	tasks     []hub.Task
	instance  hub.InstanceID
	bound     map[string]*hub.Room
	status    *hub.RoomStatus
	attention hub.Attention
	fails     map[string]error
	calls     []string
	live      map[hub.AgentID]bool
	mains     map[hub.AgentID]hub.AgentID // of those that are sub-agents
	bridge    hub.AgentID                 // whose session is that of a bridge
	given     time.Time                   // when all was given to the agent; zero: never
	reads     time.Time                   // when all becomes seen; zero: never
	until     hub.Time                    // when locks end
	metadata  json.RawMessage             // of locks
	locks     map[string]hub.AgentID      // holders by path
	claims    map[hub.ClaimKey]hub.AgentID
	meanwhile hub.MessageID       // up to which another tells the agent while a hook runs
	error     string              // of the last turn that was noted
	verdicts  []hub.Permission    // the answers about permission prompts, one by one
	prompt    hub.PermissionInput // the last one
	meet      *sync.WaitGroup     // those who ask for attention wait for each other; may be nil
	lost      []error             // what becomes of the next calls that tell: nil answers
	refuses   bool                // a call that gets an error is not carried out
	keyed     map[string]hub.Told // answers by idempotency key
}

func (f *fakeHub) note(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	call := fmt.Sprintf(format, args...)
	f.calls = append(f.calls, call)
	name, _, _ := strings.Cut(call, " ")
	return f.fails[name]
}

func (f *fakeHub) Info(context.Context) (hub.Info, error) {
	return hub.Info{InstanceID: f.instance}, f.note("info")
}

func (f *fakeHub) Register(_ context.Context, in hub.RegisterInput) (hub.Outcome[hub.Registered], error) {
	err := f.note("register %s replace=%v", in.AgentID, *in.Replace)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[in.AgentID] && !*in.Replace {
		err = hub.NewError(hub.CodeSessionConflict, "there is one")
	}
	f.live[in.AgentID] = true
	return hub.Outcome[hub.Registered]{Row: hub.Registered{Session: hub.Session{SessionID: "s1.secret"}}}, err
}

func (f *fakeHub) Bootstrap(_ context.Context, agent hub.AgentID) (hub.Bootstrap, error) {
	return hub.Bootstrap{}, f.note("bootstrap %s", agent)
}

func (f *fakeHub) CloseSession(_ context.Context, id hub.SessionID, successor hub.AgentID) (hub.Outcome[hub.ClosedSession], error) {
	call := "close " + string(id)
	if successor != "" {
		call += " for " + string(successor)
	}
	return hub.Outcome[hub.ClosedSession]{}, f.note("%s", call)
}

func (f *fakeHub) Claims(_ context.Context, q hub.LeasesQuery) (rows []hub.Claim, _ hub.Cursor, _ error) {
	for key, holder := range f.claims {
		if holder == q.Owner {
			rows = append(rows, hub.Claim{ClaimKey: key, OwnerAgentID: holder})
		}
	}
	return rows, "", f.note("claims of %s", q.Owner)
}

func (f *fakeHub) ReleaseClaim(_ context.Context, in hub.ClaimHoldInput) (hub.Outcome[hub.Claim], error) {
	return hub.Outcome[hub.Claim]{}, f.note("release %s by %s", in.ClaimKey, in.AgentID)
}

func (f *fakeHub) Resolve(_ context.Context, path string) (hub.Resolved, error) {
	err := f.note("resolve %s", path)
	room := f.bound[path]
	if room == nil {
		return hub.Resolved{}, err
	}
	return hub.Resolved{Bound: true, Room: room, Project: &hub.Project{Name: "App"}}, err
}

func (f *fakeHub) Sit(_ context.Context, room hub.RoomID, in hub.SitInput) (hub.Outcome[hub.Seat], error) {
	return hub.Outcome[hub.Seat]{}, f.note("sit %s %s", in.AgentID, room)
}

func (f *fakeHub) RoomStatus(_ context.Context, q hub.StatusQuery) (hub.RoomStatus, error) {
	err := f.note("status %s", q.RoomID)
	if f.status == nil && err == nil {
		err = hub.NewError(hub.CodeNotFound, "no such path")
	}
	if err != nil {
		return hub.RoomStatus{}, err
	}
	return *f.status, nil
}

func (f *fakeHub) Attention(_ context.Context, q hub.AttentionQuery) (hub.Attention, error) {
	err := f.note("attention %s %s", q.Agent, q.Room)
	f.mu.Lock()
	a := f.attention
	if !f.reads.IsZero() && !time.Now().Before(f.reads) {
		a.Directed, a.Unread = nil, 0
	}
	if n := len(a.Directed); n > 0 && !f.given.IsZero() && time.Since(f.given) < settles {
		a.GivenID = a.Directed[n-1].ID
	}
	f.mu.Unlock()
	if f.meet != nil {
		f.meet.Done()
		f.meet.Wait()
	}
	return a, err
}

func (f *fakeHub) NoteTurn(_ context.Context, in hub.TurnInput) (hub.TurnNoted, error) {
	f.mu.Lock()
	f.attention.Turn, f.error = in.Turn, in.Error
	f.mu.Unlock()
	return hub.TurnNoted{Noted: true}, f.note("turn %s %s %s", in.AgentID, in.Turn, in.Tool)
}

func (f *fakeHub) RequestPermission(_ context.Context, in hub.PermissionInput) (hub.Permission, error) {
	f.prompt = in
	return f.verdict(), f.note("request %s %s", in.AgentID, in.Tool)
}

func (f *fakeHub) AwaitPermission(ctx context.Context, id hub.AskID, in hub.PermissionWaitInput) (hub.Permission, error) {
	if err := f.note("await %s %s %v", in.AgentID, id, in.WaitSec); err != nil || ctx.Err() != nil {
		return hub.Permission{Verdict: hub.PermissionAllow}, errors.Join(err, ctx.Err())
	}
	return f.verdict(), nil
}

// verdict takes the next verdict.
func (f *fakeHub) verdict() (p hub.Permission) {
	if len(f.verdicts) > 0 {
		p, f.verdicts = f.verdicts[0], f.verdicts[1:]
	}
	return p
}

func (f *fakeHub) Tell(ctx context.Context, in hub.ToldInput) (told hub.Told, err error) {
	if in.State != hub.ToldNow {
		return f.tellMore(in)
	}
	err = f.note("tell %s %d", in.AgentID, in.ToldID)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.lost) > 0 {
		err, f.lost = f.lost[0], f.lost[1:]
	}
	if err != nil && f.refuses {
		return hub.Told{}, err
	}
	if k := hub.CallerOf(ctx).Idempotency; k != nil && k.Key != "" {
		if told, again := f.keyed[k.Key]; again {
			return told, err
		}
		defer func() {
			if f.keyed == nil {
				f.keyed = map[string]hub.Told{}
			}
			f.keyed[k.Key] = told
		}()
	}
	after := max(f.attention.ToldID, f.meanwhile)
	moved := in.ToldID > after
	f.attention.ToldID = max(after, in.ToldID)
	return hub.Told{Moved: moved, ToldID: f.attention.ToldID, AfterID: after}, err
}

// tellMore is Tell of what became of what the agent was told of.
func (f *fakeHub) tellMore(in hub.ToldInput) (told hub.Told, err error) {
	err = f.note("tell %s %d %s", in.AgentID, min(in.ToldID, f.attention.ToldID), in.State)
	f.mu.Lock()
	defer f.mu.Unlock()
	told = hub.Told{AgentID: in.AgentID, ToldID: f.attention.ToldID, AfterID: f.attention.ToldID}
	switch {
	case err != nil:
	case in.State == hub.ToldProved:
		told.AfterID, f.attention.SureID = f.attention.SureID, max(f.attention.SureID, min(in.ToldID, f.attention.ToldID))
		told.Moved = told.AfterID != f.attention.SureID
	case f.attention.ToldID <= in.ToldID && f.attention.SureID < f.attention.ToldID:
		f.attention.ToldID = f.attention.SureID
		told.ToldID, told.Moved = f.attention.ToldID, true
	}
	return told, err
}

func (f *fakeHub) Lock(_ context.Context, in hub.LockInput) (hub.Grant[hub.Lock], error) {
	if holder, held := f.locks[in.FilePath]; held && holder != in.AgentID {
		return hub.Grant[hub.Lock]{Row: hub.Lock{FilePath: in.FilePath, AgentID: holder, ExpiresAt: f.until}}, f.note("lock %s", in.FilePath)
	}
	f.locks[in.FilePath], f.metadata = in.AgentID, in.Metadata
	return hub.Grant[hub.Lock]{Acquired: true, Row: hub.Lock{FilePath: in.FilePath, AgentID: in.AgentID}}, f.note("lock %s", in.FilePath)
}

func (f *fakeHub) ReleaseLock(_ context.Context, in hub.LockHoldInput) (hub.Outcome[hub.Lock], error) {
	delete(f.locks, in.FilePath)
	return hub.Outcome[hub.Lock]{}, f.note("release %s", in.FilePath)
}

func (f *fakeHub) Locks(_ context.Context, q hub.LeasesQuery) (rows []hub.Lock, _ hub.Cursor, _ error) {
	for path, holder := range f.locks {
		if q.Covering != "" && q.ActiveOnly && hub.LocksOverlap(path, q.Covering) || q.Owner != "" && q.Owner == holder {
			rows = append(rows, hub.Lock{FilePath: path, AgentID: holder, ExpiresAt: f.until, Metadata: f.metadata})
		}
	}
	return rows, "", f.note("locks %s", q.Covering)
}

func (f *fakeHub) Agents(_ context.Context, q hub.AgentsQuery) (rows []hub.LiveAgent, _ hub.Cursor, _ error) {
	sessions := map[hub.AgentID]string{"another": `{"bridge":true}`}
	f.mu.Lock()
	for id := range f.live {
		sessions[id] = `{"harness":"claude-code","main_agent":"` + string(f.mains[id]) + `"}`
	}
	f.mu.Unlock()
	if f.bridge != "" {
		sessions[f.bridge] = `{"bridge":true}`
	}
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		if strings.HasPrefix(string(id), q.Prefix) && len(rows) < q.Limit {
			rows = append(rows, hub.LiveAgent{Session: hub.Session{AgentID: id, Metadata: json.RawMessage(sessions[id])}})
		}
	}
	return rows, "", f.note("agents")
}

// world is a hub, a data root that is not there yet, and a folder /work/app that
// is bound to the room r_5.
type world struct {
	*Config
	hub  *fakeHub
	vars map[string]string
	now  time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{
		hub: &fakeHub{
			instance: "i1", live: map[hub.AgentID]bool{}, fails: map[string]error{},
			bound: map[string]*hub.Room{"/work/app": {RoomID: "r_5", Name: "Build", Topic: "Get it green", Channel: "room-r_5"}},
		},
		vars: map[string]string{}, now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
	}
	w.Config = &Config{
		DefaultBaseURL: "http://127.0.0.1:6969", DataRoot: filepath.Join(t.TempDir(), "data"),
		Getenv: func(name string) string { return w.vars[name] },
		Now:    func() time.Time { return w.now },
		Dial:   func(string) (Service, error) { return w.hub, nil },
	}
	return w
}

// later passes the time in which two runs may be for one event.
func (w *world) later() { w.now = w.now.Add(3 * window) }

// say runs a hook of Claude Code and returns the text that the agent reads.
func (w *world) say(t *testing.T, event Event, members string) string {
	t.Helper()
	return w.sayIn(t, hub.HarnessClaudeCode, event, members)
}

// sayIn is say in a harness whose answers have the form of Claude Code's.
func (w *world) sayIn(t *testing.T, harness hub.Harness, event Event, members string) string {
	t.Helper()
	w.Flag = string(harness)
	got := w.Run(t.Context(), event, []byte("{"+members+"}"))
	if got.Exit != 0 || got.Stderr != "" {
		t.Errorf("exit %d, stderr %q", got.Exit, got.Stderr)
	}
	if got.Stdout == "" {
		return ""
	}
	var a struct {
		Decision           string
		Reason             string
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal([]byte(got.Stdout), &a); err != nil {
		t.Fatalf("%v: %s", err, got.Stdout)
	}
	return a.Reason + a.HookSpecificOutput.AdditionalContext
}

func (w *world) asked(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(w.hub.calls, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the hub was asked\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	w.hub.calls = nil
}

const session = `"session_id":"s1","cwd":"/work/app"`

var agent = hub.AgentID("claude-code-" + identity.Key("s1")[:8])

// A hub that stops to answer in the middle of a hook may hold messages: the text
// must not say that there are none.
func TestUnreadThatWasNotReadIsNotNone(t *testing.T) {
	w := newWorld(t)
	w.hub.attention = withDirected(7)
	w.hub.fails = map[string]error{"attention": context.DeadlineExceeded}
	text := w.say(t, SessionStart, session+`,"source":"startup"`)
	if strings.Contains(text, "No unread") || !strings.Contains(text, "Unread messages: not known") {
		t.Errorf("the hook says\n%s", text)
	}
}

func TestSessionStartRegistersOnce(t *testing.T) {
	w := newWorld(t)
	text := w.say(t, SessionStart, session+`,"source":"startup"`)
	for _, part := range []string{
		"You are agent " + string(agent) + " on the hub", `in room "Build" (r_5) of project "App".`, `Topic: "Get it green"`,
		"No unread messages.", "run this in the background",
		"hubcli watch --agent " + string(agent) + " --room r_5",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
	if !strings.HasSuffix(text, " --room r_5") { // the watch waits for all that is for the agent
		t.Errorf("the watch has conditions: %s", text)
	}
	w.asked(t, "info", "resolve /work/app", "register "+string(agent)+" replace=false", "bootstrap "+string(agent),
		"sit "+string(agent)+" r_5", "status r_5", "attention "+string(agent)+" r_5", "agents", "turn "+string(agent)+" idle ")

	for _, source := range []string{"resume", "compact", "clear", "fork"} {
		again := w.say(t, SessionStart, session+`,"source":"`+source+`"`)
		if again != text {
			t.Errorf("%s says\n%s", source, again)
		}
		// Somebody has a session already: it is left alone, and nothing counts as
		// seen by beginning again.
		asked := []string{"info", "resolve /work/app", "register " + string(agent) + " replace=false", "sit " + string(agent) + " r_5"}
		if source == "resume" { // its program may have been cut off
			asked = append(asked, "tell "+string(agent)+" 0 lost")
		}
		asked = append(asked, "status r_5", "attention "+string(agent)+" r_5", "agents")
		if source != "compact" { // that may be within a turn
			asked = append(asked, "turn "+string(agent)+" idle ")
		}
		w.asked(t, asked...)
	}
	info, err := os.Stat(filepath.Join(w.DataRoot, "hooks", identity.Key("s1")+".json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the saved session: %v, %v", info, err)
	}
	for _, dir := range []string{w.DataRoot, filepath.Join(w.DataRoot, "hooks")} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}

// TestSessionBeginsWithoutASeat, where the hub gives none, and the log says why.
func TestSessionBeginsWithoutASeat(t *testing.T) {
	w := newWorld(t)
	w.hub.fails["sit"] = hub.NewError(hub.CodeRoomFull, "the room has no place for more seats")
	if text := w.say(t, SessionStart, session); !strings.Contains(text, "You are agent "+string(agent)) {
		t.Errorf("said %q", text)
	}
	logged, err := os.ReadFile(filepath.Join(w.DataRoot, "hook.log"))
	if err != nil || !strings.Contains(string(logged), "the room does not show the agent: room_full") {
		t.Errorf("logged %q, %v", logged, err)
	}
}

// TestTheAgentOfTheEnvironment is registered by somebody else.
func TestTheAgentOfTheEnvironment(t *testing.T) {
	w := newWorld(t)
	w.vars[EnvAgent] = "dev-a"
	if text := w.say(t, SessionStart, session); !strings.Contains(text, "You are agent dev-a ") {
		t.Errorf("said %q", text)
	}
	w.asked(t, "info", "resolve /work/app", "sit dev-a r_5", "tell dev-a 0 lost", "status r_5", "attention dev-a r_5", "agents", "turn dev-a idle ")
	if text := w.say(t, SessionStart, `"cwd":"/work/app"`); !strings.Contains(text, "You are agent dev-a ") {
		t.Errorf("without a session: %q", text)
	}
	for _, bad := range []string{"a/b", "system", "dev-a.watch"} {
		w.hub.calls, w.vars[EnvAgent] = nil, bad
		if text := w.say(t, SessionStart, session); text != "" {
			t.Errorf("as %s: %q", bad, text)
		}
		w.asked(t)
	}
}

// TestSilence: where nothing is to be said nothing is, and the data root is not
// made.
func TestSilence(t *testing.T) {
	for name, tt := range map[string]struct {
		event   Event
		payload string
		prepare func(*world)
		asked   int
	}{
		"no hub":              {SessionStart, session, func(w *world) { w.hub.fails["info"] = errors.New("refused") }, 1},
		"unbound folder":      {SessionStart, `"session_id":"s1","cwd":"/elsewhere"`, nil, 2},
		"no session id":       {SessionStart, `"cwd":"/work/app"`, nil, 2},
		"sub-agent starts":    {SessionStart, session + `,"agent_id":"x"`, nil, 0},
		"sub-agent stops":     {Stop, session + `,"agent_id":"x","agent_type":"Explore"`, nil, 0},
		"aborted":             {Stop, session + `,"status":"aborted"`, nil, 0},
		"stop without start":  {Stop, session, nil, 0},
		"resolve fails":       {SessionStart, session, func(w *world) { w.hub.fails["resolve"] = errors.New("no") }, 2},
		"an address too long": {SessionStart, session, func(w *world) { w.vars[EnvBaseURL] = "http://" + strings.Repeat("h", 300) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tt.prepare != nil {
				tt.prepare(w)
			}
			if text := w.say(t, tt.event, tt.payload); text != "" {
				t.Errorf("said %q", text)
			}
			if len(w.hub.calls) != tt.asked {
				t.Errorf("asked %q, want %d calls", w.hub.calls, tt.asked)
			}
			if _, err := os.Stat(w.DataRoot); err == nil {
				t.Error("the data root was made")
			}
		})
	}
}

// TestADamagedPayload begins a session but holds no turn.
func TestADamagedPayload(t *testing.T) {
	w := newWorld(t)
	w.vars[EnvAgent] = "dev-a"
	w.Dir, w.Flag = "/work/app", "codex"
	w.hub.attention = withDirected(7)
	if got := w.Run(t.Context(), Stop, []byte(`{"session_id":"s1",`)); got != (Answer{Stdout: "{}"}) {
		t.Errorf("stop: %+v", got)
	}
	if got := w.Run(t.Context(), SessionStart, []byte("rubbish")); !strings.Contains(got.Stdout, "dev-a") {
		t.Errorf("session-start: %+v", got)
	}
}

func withDirected(ids ...hub.MessageID) hub.Attention {
	a := hub.Attention{SeenID: 3, ReadFrom: 3, Unread: len(ids) + 1}
	for _, id := range ids {
		a.Directed = append(a.Directed, hub.UnreadRow{ID: id, FromAgent: "lead", Direct: true, Kind: hub.KindTaskRequest, Excerpt: `do "this"`})
	}
	return a
}

// begun is a world in which a session has begun.
func begun(t *testing.T) *world {
	w := newWorld(t)
	w.say(t, SessionStart, session)
	w.hub.calls = nil
	w.later()
	return w
}

func TestStopHoldsOnceABatch(t *testing.T) {
	w := begun(t)
	w.hub.attention = withDirected(7, 9)
	text := w.say(t, Stop, session)
	for _, part := range []string{
		"The hub has messages for you, agent " + string(agent),
		`- #7 from lead (direct, task_request): "do 'this'"`, "- #9 from lead", "3 unread in all: hubcli poll",
		"hubcli poll --agent " + string(agent) + " --channel room-r_5 --since-id 3 --timeout 0\n", asData,
		"hubcli post --agent " + string(agent) + ` --kind task_result --reply-to 7 "..."`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
	w.asked(t, "info", "attention "+string(agent)+" r_5", "agents", "tell "+string(agent)+" 9")
	for _, payload := range []string{session, session + `,"stop_hook_active":true`} {
		if text := w.say(t, Stop, payload); text != "" {
			t.Errorf("the same batch again: %q", text)
		}
	}
	// What is new is said, also to a turn that was held; what was told is not.
	told := w.hub.attention.ToldID
	w.hub.attention = withDirected(7, 9, 12)
	w.hub.attention.ToldID = told
	text = w.say(t, Stop, session+`,"stop_hook_active":true`)
	if !strings.Contains(text, "#12") || strings.Contains(text, "#9") {
		t.Errorf("said %q", text)
	}
}

// TestSessionStartTells: what was shown when the session began holds no turn.
func TestSessionStartTells(t *testing.T) {
	w := newWorld(t)
	w.hub.attention = withDirected(7)
	if text := w.say(t, SessionStart, session); !strings.Contains(text, "#7 from lead") {
		t.Errorf("said %q", text)
	}
	if text := w.say(t, Stop, session); text != "" {
		t.Errorf("said %q", text)
	}
}

// TestStopIsSilentInADrivenSession: its driver begins a turn for messages.
func TestStopIsSilentInADrivenSession(t *testing.T) {
	w := begun(t)
	w.hub.attention = withDirected(7)
	w.vars[EnvDriven] = "1-1"
	if text := w.say(t, Stop, session); text != "" {
		t.Errorf("driven: %q", text)
	}
	delete(w.vars, EnvDriven)
	if text := w.say(t, Stop, session); !strings.Contains(text, "#7") {
		t.Errorf("not driven: %q", text)
	}
}

// TestStopIsSilentWhileAWatchIsArmed, by the hub's word or the payload's.
func TestStopIsSilentWhileAWatchIsArmed(t *testing.T) {
	w := begun(t)
	w.hub.attention = withDirected(7)
	w.hub.attention.Watching = true
	if text := w.say(t, Stop, session); text != "" {
		t.Errorf("armed: %q", text)
	}
	w.hub.attention.Watching = false
	task := func(command, status string) string {
		return fmt.Sprintf(`%s,"background_tasks":[{"status":%q,"command":%q}]`, session, status, command)
	}
	w.hub.calls = nil
	for _, command := range []string{
		"hubcli watch --agent " + string(agent) + " --until message-from:b", "/opt/bin/hubcli watch --until x", "cd /w && hubcli watch --agent=$HUB_AGENT",
		`"C:\bin\hubcli.exe" watch --agent '` + string(agent) + `'`,
	} {
		if text := w.say(t, Stop, task(command, "running")); text != "" {
			t.Errorf("%s: %q", command, text)
		}
	}
	if slices.ContainsFunc(w.hub.calls, func(call string) bool { return call != "info" && !strings.HasPrefix(call, "turn ") }) {
		t.Errorf("the hub was asked %q", w.hub.calls)
	}
	for i, payload := range []string{
		task("hubcli watch --agent other --until x", "running"), task("hubcli watch --until x", "completed"),
		task("hubcli watcher", "running"), task("grep hubcli watch.go", "running"), task("myhubcli watch x", "running"),
	} {
		id := hub.MessageID(10 + i)
		told := w.hub.attention.ToldID
		w.hub.attention = withDirected(id)
		w.hub.attention.ToldID = told
		if text := w.say(t, Stop, payload); !strings.Contains(text, fmt.Sprintf("#%d", id)) {
			t.Errorf("%s: %q", payload, text)
		}
	}
}

// TestStopSaysNothingUnconfirmed: a hub that does not confirm the mark would be
// asked again at the next turn, and the turn held again.
func TestStopSaysNothingUnconfirmed(t *testing.T) {
	w := begun(t)
	w.hub.attention = withDirected(7)
	w.hub.fails["tell"] = errors.New("no answer")
	if text := w.say(t, Stop, session); text != "" {
		t.Errorf("said %q", text)
	}
}

func TestStopAdvisesOnce(t *testing.T) {
	w := begun(t)
	w.hub.attention = hub.Attention{
		Tasks:     []hub.Task{{TaskID: 4, Title: "Build it", Status: hub.TaskWorking}},
		Proposals: []hub.WatchAdvice{{Condition: "tasks-complete:5", Why: "it waits for this"}},
	}
	if text := w.say(t, Stop, session+`,"stop_hook_active":true`); text != "" {
		t.Errorf("a held turn: %q", text)
	}
	w.Flag = "codex"
	if got := w.Run(t.Context(), Stop, []byte("{"+session+"}")); got != (Answer{Stdout: "{}"}) {
		t.Errorf("a harness that nothing wakes: %+v", got)
	}
	text := w.say(t, Stop, session)
	if !strings.Contains(text, `#4 "Build it" (working)`) || !strings.Contains(text, "hubcli watch --agent "+string(agent)+" --room r_5 --until tasks-complete:5") {
		t.Errorf("said %q", text)
	}
	if text := w.say(t, Stop, session); text != "" {
		t.Errorf("again: %q", text)
	}
}

// TestAnotherHubKnowsNobody: after a reset the saved session means nothing, and a
// room of the same id may be another.
func TestAnotherHubKnowsNobody(t *testing.T) {
	w := begun(t)
	w.hub.instance = "i2"
	w.hub.attention = withDirected(7)
	if text := w.say(t, Stop, session); text != "" {
		t.Errorf("said %q", text)
	}
	w.hub.live = map[hub.AgentID]bool{}
	w.hub.calls = nil
	w.say(t, SessionStart, session)
	if got, ok := identity.SessionsOf(w.DataRoot).Load("s1"); !ok || got.InstanceID != "i2" || got.AgentID != agent {
		t.Errorf("saved %+v, %v", got, ok)
	}
	if w.hub.calls[3] != "bootstrap "+string(agent) {
		t.Errorf("asked %q", w.hub.calls)
	}
}

// TestWhichHub: flag, environment, saved session, default.
func TestWhichHub(t *testing.T) {
	w := begun(t)
	dialled := ""
	w.Dial = func(url string) (Service, error) { dialled = url; return w.hub, nil }
	ask := func() string { w.say(t, Stop, session); return dialled }
	if got := ask(); got != "http://127.0.0.1:6969" {
		t.Errorf("saved: %s", got)
	}
	w.vars[EnvBaseURL] = "http://127.0.0.1:7001/"
	if got := ask(); got != "http://127.0.0.1:7001" {
		t.Errorf("environment: %s", got)
	}
	if text := w.say(t, SessionStart, session+`,"source":"resume"`); !strings.Contains(text, "--base-url http://127.0.0.1:7001 ") {
		t.Errorf("said %q", text)
	}
	delete(w.vars, EnvBaseURL)
	if got := ask(); got != "http://127.0.0.1:7001" {
		t.Errorf("saved anew: %s", got)
	}
	w.BaseURL = "http://127.0.0.1:7002"
	if got := ask(); got != "http://127.0.0.1:7002" {
		t.Errorf("flag: %s", got)
	}
}

// TestHubOfASavedSessionThatMoved is found at the address at which programs of this user look for
// it, if it is the same hub and the one at the saved address is gone.
func TestHubOfASavedSessionThatMoved(t *testing.T) {
	const old, now = "http://127.0.0.1:6969", "http://127.0.0.1:6975"
	for name, c := range map[string]struct {
		fails    error
		instance hub.InstanceID
		named    string
		want     []string
	}{
		"nobody answers":  {&hub.Error{Code: hub.CodeUnreachable}, "i1", "", []string{old, now}},
		"another user":    {&hub.Error{Code: hub.CodeOtherUser}, "i1", "", []string{old, now}},
		"another program": {&hub.Error{Code: hub.CodeImpostor}, "i1", "", []string{old, now}},
		"another hub":     {&hub.Error{Code: hub.CodeUnreachable}, "i2", "", []string{old, now}},
		"a slow hub":      {&hub.Error{Code: hub.CodeNoAnswer}, "i1", "", []string{old}},
		"it is there":     {nil, "i1", "", []string{old}},
		"a named address": {&hub.Error{Code: hub.CodeUnreachable}, "i1", old, []string{old}},
	} {
		t.Run(name, func(t *testing.T) {
			w := begun(t)
			w.DefaultBaseURL = now
			w.vars[EnvBaseURL] = c.named
			moved := newWorld(t).hub
			moved.instance, moved.attention = c.instance, withDirected(7)
			w.hub.attention = withDirected(7)
			var dialed []string
			w.Dial = func(url string) (Service, error) {
				if dialed = append(dialed, url); url == now {
					return moved, nil
				}
				return w.hub, nil
			}
			if c.fails != nil {
				w.hub.fails["info"] = c.fails
			}
			text := w.say(t, Stop, session)
			if dialed = slices.Compact(dialed); !slices.Equal(dialed, c.want) && !slices.Equal(dialed, append(c.want, c.want...)) {
				t.Errorf("the hook looked at %v, want %v", dialed, c.want)
			}
			speaks := c.fails == nil || len(c.want) == 2 && c.instance == "i1"
			if speaks != (text != "") || speaks && c.fails != nil && strings.Contains(text, "--base-url") {
				t.Errorf("said %q", text)
			}
		})
	}
}

// TestWhereNothingCanBeKept an agent of the environment is told all the same; a
// session of its own is not begun, because no later hook would know it.
func TestWhereNothingCanBeKept(t *testing.T) {
	for name, named := range map[string]bool{"named": true, "not named": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			require.NoError(t, os.WriteFile(w.DataRoot, nil, 0o600))
			if named {
				w.vars[EnvAgent] = "dev-a"
			}
			if text := w.say(t, SessionStart, session); strings.Contains(text, "dev-a") != named || text == "" != !named {
				t.Errorf("said %q", text)
			}
			if len(w.hub.live) != 0 {
				t.Errorf("registered %v", w.hub.live)
			}
		})
	}
	w := newWorld(t)
	w.DataRoot = ""
	if text := w.say(t, SessionStart, session); !strings.Contains(text, string(agent)) {
		t.Errorf("without a data root: %q", text)
	}
}

// TestVariablesAreHandedOver to the commands of Claude Code, and to those of no
// harness that has inherited the file's name.
func TestVariablesAreHandedOver(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "env")
	w.vars[hub.HarnessClaudeCode.Facts().ExportVariable] = path
	w.Flag = "codex"
	w.Run(t.Context(), SessionStart, []byte("{"+session+`,"source":"startup"}`))
	if _, err := os.Stat(path); err == nil {
		t.Error("another harness wrote it")
	}
	w.BaseURL = "http://127.0.0.1:7001"
	for _, source := range []string{"resume", "compact"} {
		w.say(t, SessionStart, session+`,"source":"`+source+`"`)
	}
	b, err := os.ReadFile(path)
	id := "codex-" + identity.Key("s1")[:8] // as the session was begun
	if want := "export HUB_AGENT=" + id + "\nexport HUB_BASE_URL=http://127.0.0.1:7001\n"; err != nil || string(b) != want {
		t.Errorf("the file is %q, %v, want %q", b, err, want)
	}
}

// TestTwoRunsForOneEvent: one agent, and one of them speaks, though they were
// started by two entries under two names.
func TestTwoRunsForOneEvent(t *testing.T) {
	for range 20 {
		w := newWorld(t)
		both := func(event Event) (spoke int) {
			answers := make(chan Answer, 2)
			for _, flag := range []string{"claude-code", "vscode"} {
				c := *w.Config
				c.Flag = flag
				go func() { answers <- c.Run(t.Context(), event, []byte("{"+session+`,"source":"startup"}`)) }()
			}
			for range 2 {
				if a := <-answers; a.Stdout != "" {
					spoke++
				}
			}
			return spoke
		}
		if n := both(SessionStart); n != 1 {
			t.Fatalf("%d spoke when the session began", n)
		}
		if len(w.hub.live) != 1 {
			t.Fatalf("registered %v", w.hub.live)
		}
		w.hub.attention = withDirected(7)
		w.hub.meet = &sync.WaitGroup{}
		w.hub.meet.Add(2)
		if n := both(Stop); n != 1 {
			t.Fatalf("%d spoke when the turn ended", n)
		}
	}
}

// TestTurnIsHeldSixTimesAtMost in a row, because a harness ends it then and shows nothing
// of what the hook has told. The messages stay untold until the next turn.
func TestTurnIsHeldSixTimesAtMost(t *testing.T) {
	w := begun(t)
	for turn := range hub.MessageID(2) {
		for i := range hub.MessageID(8) {
			id := 10*turn + i + 1
			w.hub.attention.Directed = withDirected(id).Directed
			payload := session
			if i > 0 {
				payload += `,"stop_hook_active":true`
			}
			if text := w.say(t, Stop, payload); strings.Contains(text, fmt.Sprintf("#%d ", id)) != (i < mostHolds) {
				t.Errorf("turn %d, message %d: %q", turn, id, text)
			}
			if told := w.hub.attention.ToldID; told != min(id, 10*turn+mostHolds) {
				t.Errorf("turn %d, message %d: told up to %d", turn, id, told)
			}
		}
	}
}

// TestWhatAnotherHasShownIsLeftOut, even if it was shown while the hook ran.
func TestWhatAnotherHasShownIsLeftOut(t *testing.T) {
	w := begun(t)
	w.hub.attention, w.hub.meanwhile = withDirected(7, 8), 7
	if text := w.say(t, Stop, session); strings.Contains(text, "#7") || !strings.Contains(text, "#8") {
		t.Errorf("the hook says %q", text)
	}
	w.hub.attention, w.hub.meanwhile = withDirected(7, 8), 8
	if text := w.say(t, Stop, session); text != "" {
		t.Errorf("when all was shown the hook says %q", text)
	}
}

// TestWhatAHarnessCannotShowIsNotTold.
func TestWhatAHarnessCannotShowIsNotTold(t *testing.T) {
	w := newWorld(t)
	w.hub.attention = withDirected(7)
	w.Flag = "goose"
	if got := w.Run(t.Context(), SessionStart, []byte("{"+session+"}")); got != (Answer{}) {
		t.Errorf("goose: %+v", got)
	}
	if got := w.Run(t.Context(), Stop, []byte("{"+session+"}")); !strings.Contains(got.Stdout, "#7") {
		t.Errorf("goose, at the end: %+v", got)
	}
	w.hub.attention = withDirected(9)
	w.Flag, w.hub.calls = "kiro", nil
	if got := w.Run(t.Context(), Stop, []byte("{"+session+"}")); got != (Answer{}) {
		t.Errorf("kiro: %+v", got)
	}
	w.asked(t)
}

// TestTheFirstPromptSaysWhoItIs: Kimi Code shows its model nothing of what a hook says when a session begins, so
// the text comes with the first prompt, once. The words of a peer are left to a tool there.
func TestTheFirstPromptSaysWhoItIs(t *testing.T) {
	w := newWorld(t)
	w.hub.attention = withDirected(7)
	w.Flag = "kimi"
	if got := w.Run(t.Context(), SessionStart, payload(t, "kimi.session-start")); got != (Answer{}) {
		t.Errorf("when it begins: %+v", got)
	}
	if got := w.Run(t.Context(), Prompt, payload(t, "kimi.prompt")).Stdout; !strings.HasPrefix(got, "You are agent kimi-") || !strings.Contains(got, "#7") || strings.Contains(got, "do 'this'") {
		t.Errorf("with its first prompt: %s", got)
	}
	w.hub.attention.ToldID = 7
	if got := w.Run(t.Context(), Prompt, payload(t, "kimi.prompt")); got != (Answer{}) {
		t.Errorf("with its second prompt: %+v", got)
	}
	w.Run(t.Context(), Compact, []byte(`{"hook_event_name":"PreCompact","session_id":"kimi-1","cwd":"/work/app"}`))
	if got := w.Run(t.Context(), Prompt, payload(t, "kimi.prompt")).Stdout; !strings.HasPrefix(got, "You are agent kimi-") {
		t.Errorf("after a compaction: %s", got)
	}
}

// TestAHeldTurnIsOver in Kimi Code, which calls no hook when it ends: the agent would be shown as working until
// its next prompt.
func TestAHeldTurnIsOver(t *testing.T) {
	for harness, over := range map[string]bool{"kimi": true, "qwen-code": false} {
		w := begun(t)
		w.Flag, w.hub.attention = harness, withDirected(7)
		w.hub.calls = nil
		if got := w.Run(t.Context(), Stop, []byte("{"+session+"}")); !strings.Contains(got.Stdout+got.Stderr, "#7") {
			t.Fatalf("%s: %+v", harness, got)
		}
		noted := slices.ContainsFunc(w.hub.calls, func(call string) bool { return strings.HasPrefix(call, "turn ") && strings.Contains(call, " idle") })
		if noted != over {
			t.Errorf("%s: %v", harness, w.hub.calls)
		}
	}
}

// TestTheLogHoldsNoMessage, is for the user alone, and does not grow for ever.
func TestTheLogHoldsNoMessage(t *testing.T) {
	w := begun(t)
	w.hub.attention = withDirected(7)
	w.hub.attention.Directed[0].Excerpt = "confidential"
	w.say(t, Stop, session)
	name := filepath.Join(w.DataRoot, logName)
	b, err := os.ReadFile(name)
	if err != nil || strings.Contains(string(b), "confidential") || strings.Contains(string(b), `"s1"`) || strings.Count(string(b), "\n") != 2 {
		t.Errorf("the log: %v\n%s", err, b)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log: %v, %v", info, err)
	}
	require.NoError(t, os.WriteFile(name, make([]byte, maxLogBytes+1), 0o600))
	w.say(t, Stop, session)
	w.say(t, Stop, session)
	now, err := os.Stat(name)
	old, err2 := os.Stat(name + ".1")
	if err != nil || err2 != nil || now.Size() > 1000 || old.Size() != maxLogBytes+1 {
		t.Errorf("after a long log: %v %v, %v %v", now, err, old, err2)
	}
}

// inHarness makes the world's hooks run below a shell of a harness, in which the
// bridge of the agent runs that was begun for the session.
func (w *world) inHarness(t *testing.T, agent hub.AgentID, session string) {
	t.Helper()
	p := map[int]process.Process{}
	for pid, parent := range map[int]int{1: 0, 20: 1, 21: 20, 22: 20, 23: 22} {
		p[pid] = process.Process{PID: pid, Parent: parent, Began: strconv.Itoa(pid)}
	}
	shell := p[22]
	shell.Name = "sh"
	p[22] = shell
	look := func(pid int) (process.Process, bool) {
		at, ok := p[pid]
		return at, ok
	}
	w.Process, w.PID = look, 23
	err := identity.NotesOf(w.DataRoot, look).Leave(p[20], identity.Note{
		AgentID: agent, BaseURL: w.DefaultBaseURL, Harness: hub.HarnessClaudeCode, Session: identity.Key(session), Bridge: p[21],
	})
	require.NoError(t, err)
}

// TestASessionGoesOnInItsProcess: under another id than its bridge was begun with
// it is still the bridge's agent, while one that begins anew is another's.
func TestASessionGoesOnInItsProcess(t *testing.T) {
	for _, source := range []string{"resume", "clear", "compact", "fork"} {
		w := newWorld(t)
		w.inHarness(t, "tools", "s0")
		require.NoError(t, identity.SessionsOf(w.DataRoot).Replace("s0", identity.Binding{AgentID: "tools", BaseURL: w.DefaultBaseURL, InstanceID: "i1"}))
		if text := w.say(t, Stop, session); strings.Contains(text, "tools") {
			t.Errorf("before it has begun: %q", text)
		}
		if text := w.say(t, SessionStart, session+`,"source":"`+source+`"`); !strings.Contains(text, "You are agent tools ") {
			t.Errorf("%s: %q", source, text)
		}
		w.inHarness(t, "joined", "s0")
		w.hub.attention = withDirected(7)
		if text := w.say(t, Stop, session); !strings.Contains(text, "agent joined:") {
			t.Errorf("at the end of a turn after %s: %q", source, text)
		}
		if text := w.say(t, SessionStart, `"session_id":"inner","cwd":"/work/app","source":"startup"`); !strings.Contains(text, "You are agent claude-code-"+identity.Key("inner")[:8]+" ") {
			t.Errorf("a session of its own: %q", text)
		}
	}
}

// TestWhoHasABridgeIsToldOfItsTools: an agent with a bridge is told of its tools, and
// of no command that would end the bridge's session. Another is told of commands; at the beginning, when
// its bridge may not have started yet, of both.
func TestWhoHasABridgeIsToldOfItsTools(t *testing.T) {
	displaces := regexp.MustCompile(`hubcli (post|poll|whoami) --agent`)
	for name, tt := range map[string]struct {
		prepare func(*world)
		bridged bool
	}{
		"none":               {func(*world) {}, false},
		"in the harness":     {func(w *world) { w.inHarness(t, agent, "s1") }, true},
		"elsewhere":          {func(w *world) { w.hub.bridge = agent }, true},
		"of the environment": {func(w *world) { w.vars[EnvAgent], w.hub.bridge = "dev-a", "dev-a" }, true},
		"another's":          {func(w *world) { w.vars[EnvAgent], w.hub.bridge = "dev-a", "dev-b" }, false},
		"nobody can say":     {func(w *world) { w.hub.fails["agents"] = errors.New("no") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			w.hub.attention = withDirected(7)
			texts := map[Event]string{SessionStart: w.say(t, SessionStart, session+`,"source":"startup"`)}
			w.hub.attention = withDirected(7, 9)
			texts[Stop] = w.say(t, Stop, session)
			for event, text := range texts {
				tools := tt.bridged || event == SessionStart
				if displaces.MatchString(text) == tt.bridged || strings.Contains(text, "the tool hub_poll_messages") != tools {
					t.Errorf("%s says\n%s", event, text)
				}
				if how := `When it is done: hub_done {"task_id":7,`; strings.Contains(text, how) != tools {
					t.Errorf("%s does not say how a task_request is answered:\n%s", event, text)
				}
			}
			if !strings.Contains(texts[SessionStart], "hubcli watch --agent ") {
				t.Errorf("how to wait is missing in\n%s", texts[SessionStart])
			}
		})
	}
}

// TestOpeningFitsTheHarness: the text at the beginning names the tools as the harness does, says how
// its model loads those that it does not see, and how it waits there.
func TestOpeningFitsTheHarness(t *testing.T) {
	const finish, inBackground = "finish your turn: a message for you begins the next one", "run this in the background"
	for _, tt := range []struct {
		harness hub.Harness
		plugin  bool
		says    []string
		not     string
	}{
		{hub.HarnessClaudeCode, false, []string{"mcp__hub__hub_start", `ToolSearch "select:mcp__hub__hub_take`, inBackground, "/opt/hub/hubcli watch --agent "}, finish},
		{hub.HarnessClaudeCode, true, []string{finish}, inBackground},
		{hub.HarnessCodex, false, []string{`tool_search "hub_start hub_take hub_lock hub_done"`, finish}, inBackground},
		{hub.HarnessOpenCode, false, []string{"hub_hub_start", finish}, inBackground},
		{hub.HarnessGeminiCLI, false, []string{"mcp_hub_hub_start", "when a turn ends"}, finish},
		{hub.HarnessQwenCode, false, []string{"mcp__hub__hub_start", "tool_call", "when a turn ends"}, finish},
		{hub.HarnessCopilotCLI, false, []string{"hub-hub_start", inBackground}, finish},
	} {
		w := newWorld(t)
		home := t.TempDir()
		w.Flag, w.Program, w.vars["HOME"] = string(tt.harness), "/opt/hub/hubcli", home
		if tt.plugin {
			file := filepath.Join(home, ".claude", "skills", "hubcli", "monitors", "monitors.json")
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			require.NoError(t, os.WriteFile(file, []byte("[]"), 0o600))
		}
		said := w.Run(t.Context(), SessionStart, []byte("{"+session+`,"sessionId":"s1","source":"startup"}`)).Stdout
		text := strings.NewReplacer(`\"`, `"`, `\u003c`, "<", `\n`, "\n").Replace(said)
		for _, want := range append(tt.says, "Begin with hub_start.", "hub_lock", "hub_ask_human", "after | was written by others") {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not told %q:\n%s", tt.harness, want, text)
			}
		}
		if strings.Contains(text, tt.not) {
			t.Errorf("%s is told %q:\n%s", tt.harness, tt.not, text)
		}
	}
}

// TestStandsAtItsFirstPrompt: a session that begins is idle until its first prompt. In Copilot CLI hooks hear of
// it with that prompt only, and it works.
func TestStandsAtItsFirstPrompt(t *testing.T) {
	for harness, idle := range map[hub.Harness]bool{hub.HarnessClaudeCode: true, hub.HarnessCopilotCLI: false} {
		w := newWorld(t)
		w.Flag = string(harness)
		w.Run(t.Context(), SessionStart, []byte("{"+session+`,"sessionId":"s1","source":"startup"}`))
		noted := slices.ContainsFunc(w.hub.calls, func(call string) bool { return strings.HasPrefix(call, "turn ") && strings.Contains(call, " idle") })
		if noted != idle {
			t.Errorf("%s: %v", harness, w.hub.calls)
		}
	}
}
