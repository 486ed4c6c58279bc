package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/pause"
	"hubcli/internal/process"
)

// Service is the part of the hub that hooks call.
type Service interface {
	Info(ctx context.Context) (hub.Info, error)
	Register(ctx context.Context, in hub.RegisterInput) (hub.Outcome[hub.Registered], error)
	Bootstrap(ctx context.Context, agent hub.AgentID) (hub.Bootstrap, error)
	Resolve(ctx context.Context, path string) (hub.Resolved, error)
	Sit(ctx context.Context, room hub.RoomID, in hub.SitInput) (hub.Outcome[hub.Seat], error)
	RoomStatus(ctx context.Context, q hub.StatusQuery) (hub.RoomStatus, error)
	Attention(ctx context.Context, q hub.AttentionQuery) (hub.Attention, error)
	NoteTurn(ctx context.Context, in hub.TurnInput) (hub.TurnNoted, error)
	Tell(ctx context.Context, in hub.ToldInput) (hub.Told, error)
	Agents(ctx context.Context, q hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error)
	Lock(ctx context.Context, in hub.LockInput) (hub.Grant[hub.Lock], error)
	Holdings
	RequestPermission(ctx context.Context, in hub.PermissionInput) (hub.Permission, error)
	AwaitPermission(ctx context.Context, id hub.AskID, in hub.PermissionWaitInput) (hub.Permission, error)
	Post(ctx context.Context, in hub.PostInput) (hub.Posted, error)
	Tasks(ctx context.Context, q hub.TasksQuery) ([]hub.Task, hub.Cursor, error)
	UpdateTask(ctx context.Context, id hub.TaskID, in hub.TaskUpdateInput) (hub.Outcome[hub.Task], error)
	CompleteTask(ctx context.Context, id hub.TaskID, in hub.CompleteInput) (hub.Outcome[hub.Task], error)
	CloseSession(ctx context.Context, id hub.SessionID, successor hub.AgentID) (hub.Outcome[hub.ClosedSession], error)
}

// The environment variables that name agent and hub.
const (
	EnvAgent   = "HUB_AGENT"
	EnvBaseURL = "HUB_BASE_URL"
	// EnvDriven names, in a harness that "hubcli run" drives, the process that does. Its
	// session is the agent that EnvAgent names, and the driver begins turns for messages.
	EnvDriven = "HUB_DRIVEN"
)

// maxURL is the longest address, in bytes, that fits three times into a text.
const maxURL = 100

// Config holds the inputs of a hook. Getenv, Now and Dial are required.
type Config struct {
	// Flag is the harness that the command line names; may be empty or unknown.
	Flag string
	// Tools says that the harness gives the agent the tools of a bridge, which may
	// not have started yet.
	Tools bool
	// Program is the path of this executable as the command line of the hook names it; may be empty.
	Program string
	// BaseURL is the hub that the command line names; may be empty.
	BaseURL string
	// DefaultBaseURL is the hub to use if nothing names one.
	DefaultBaseURL string
	// DataRoot is the folder of the user's data; empty stores nothing. It is
	// made when there is a session to remember, never before.
	DataRoot string
	// Dir is the working folder of the process, for payloads that name none.
	Dir    string
	Getenv func(string) string
	Now    func() time.Time
	// Process returns a running process; nil knows none. PID is the hook's own.
	Process func(pid int) (process.Process, bool)
	PID     int
	// Arguments returns the command line of a running process; nil: nobody knows it.
	Arguments func(pid int) ([]string, bool)
	// Staged returns the top of the work tree and the files of the commit that Git is about
	// to make, named from there; see the function Staged.
	Staged func(ctx context.Context) (top string, files []string, err error)
	// Longer gives the hook more time, from now on, than it has for all other events; nil:
	// it has no more.
	Longer func(time.Duration) (context.Context, context.CancelFunc)
	// Dial returns a client of the hub at an address. It sends nothing yet.
	Dial func(baseURL string) (Service, error)
}

// run is one run of a hook.
type run struct {
	*Config
	event    Event
	payload  Payload
	harness  hub.Harness
	sessions identity.Sessions
	notes    identity.Notes
	bridged  bool                  // a bridge runs in this harness and names the agent
	calls    bool                  // that bridge is told the id of each call
	refuses  bool                  // the answer refuses what the harness is about to do
	verdict  hub.PermissionVerdict // allow or deny: the answer decides in place of the user
	ends     bool                  // the answer ends the turn
	tag      string                // the answer puts this id into the call of a tool of the hub
	hub      Service
	baseURL  string
	instance hub.InstanceID
	sure     hub.MessageID   // up to which message the model has surely read what the agent was told of
	again    hub.MessageID   // up to which messages may have been shown in a process that was cut off
	ignored  map[string]bool // reasons that are already logged
}

// quiet is the reason for which a hook is silent.
type quiet string

func (q quiet) Error() string { return string(q) }

// Silence returns the silent answer, in the form of the harness or of Git.
func (c *Config) Silence(event Event, payload []byte) Answer {
	if event == BeforeCommit {
		return Answer{}
	}
	return formOf(Recognize(c.Flag, Parse(payload), c.Getenv)).silence()
}

// Run answers a hook. It returns when it has an answer or ctx ends. If anything
// fails, the answer is silence.
func (c *Config) Run(ctx context.Context, event Event, payload []byte) Answer {
	r := &run{Config: c, event: event, payload: Parse(payload)}
	r.harness = Recognize(c.Flag, r.payload, c.Getenv)
	r.sessions, r.notes = identity.SessionsOf(c.DataRoot), identity.NotesOf(c.DataRoot, c.Process)
	r.sessions.Tell, r.notes.Tell = r.ignore, r.ignore
	if r.payload.SubAgent && r.form().Tagged != "" { // its main agent is known by another session
		r.payload.SessionID = r.sessions.Root(cmp.Or(r.payload.Under, r.payload.SessionID))
	}
	if len(r.payload.Folders) > 0 && event != BeforeCommit && !r.payload.SubAgent {
		_ = r.sessions.Place(r.payload.SessionID, r.payload.Folders[0]) // else the bridge takes the folder of the project
	}
	text, err := r.speak(ctx)
	who := fmt.Sprintf("%s %s %s", event, r.harness, identity.Key(r.payload.SessionID))
	if err != nil {
		log(c.DataRoot, c.Now(), "%s: silent: %s", who, why(err))
		return c.Silence(event, payload)
	}
	log(c.DataRoot, c.Now(), "%s: said %d bytes", who, len(text))
	if event == BeforeCommit {
		return commitAnswer(text, r.refuses)
	}
	switch {
	case r.refuses:
		return r.form().render(r.form().Refuse, text)
	case r.tag != "":
		return r.form().tagged(r.harness.Facts().CallMember, r.tag, r.payload.Meta)
	case r.verdict == hub.PermissionAllow:
		return r.form().render(r.form().Allow, text)
	case r.verdict == hub.PermissionDeny:
		return r.form().render(r.form().Deny, text)
	}
	if r.ends {
		return r.form().render(r.form().End, text)
	}
	return r.form().answer(event, text)
}

// ignore logs once that an untrusted file or value is ignored.
func (r *run) ignore(err error) {
	if r.ignored[err.Error()] {
		return
	}
	if r.ignored == nil {
		r.ignored = map[string]bool{}
	}
	r.ignored[err.Error()] = true
	log(r.DataRoot, r.Now(), "%s: ignored: %v", r.event, err)
}

// why returns a text for an error without words that a peer may have written.
func why(err error) string {
	var h *hub.Error
	if errors.As(err, &h) {
		return string(h.Code)
	}
	return err.Error()
}

func (r *run) form() form { return formOf(r.harness) }

// connect chooses the hub: that of the command line, of the environment, of the
// saved session, or the default. The hub of a saved session may have got another address.
func (r *run) connect(ctx context.Context, saved identity.Binding) error {
	named := cmp.Or(r.BaseURL, r.Getenv(EnvBaseURL))
	info, err := r.dial(ctx, cmp.Or(named, saved.BaseURL, r.DefaultBaseURL))
	if err != nil && named == "" && saved.InstanceID != "" && r.baseURL != r.DefaultBaseURL && gone(err) {
		at, service := r.baseURL, r.hub
		moved, merr := r.dial(ctx, r.DefaultBaseURL)
		if merr == nil && moved.InstanceID == saved.InstanceID {
			info, err = moved, nil
		} else {
			r.baseURL, r.hub = at, service
		}
	}
	r.instance = info.InstanceID
	return err
}

// dial asks the hub at an address who it is.
func (r *run) dial(ctx context.Context, baseURL string) (hub.Info, error) {
	r.baseURL = strings.TrimRight(baseURL, "/")
	if len(r.baseURL) > maxURL {
		return hub.Info{}, quiet("the address of the hub is too long for a line of text")
	}
	service, err := r.Dial(r.baseURL)
	if err != nil {
		return hub.Info{}, err
	}
	r.hub = service
	return r.hub.Info(ctx)
}

// gone reports whether an error says that the hub is not at its address any more.
func gone(err error) bool {
	for _, code := range []hub.Code{hub.CodeUnreachable, hub.CodeImpostor, hub.CodeOtherUser} {
		if errors.Is(err, &hub.Error{Code: code}) {
			return true
		}
	}
	return false
}

// named returns the agent that another process has chosen, or "". It is the
// agent of the bridge in the same harness, whose hub is used too, else the one
// that the environment names.
func (r *run) named() (hub.AgentID, error) {
	session := ""
	if r.payload.SessionID != "" {
		session = identity.Key(r.payload.SessionID)
	}
	note, ok := r.notes.OfBridge(r.PID, r.harness, session, r.goesOn)
	if ok && (r.BaseURL == "" || strings.TrimRight(r.BaseURL, "/") == note.BaseURL) {
		r.BaseURL, r.bridged, r.calls = note.BaseURL, true, note.Calls
		return note.AgentID, nil
	}
	id := hub.AgentID(r.Getenv(EnvAgent))
	if id == "" {
		return "", nil
	}
	if id.Watcher() {
		return "", quiet(EnvAgent + " names a watch")
	}
	return id, hub.CheckSender(EnvAgent, id)
}

// laterSources are the sources of sessions that begin within a running process.
var laterSources = []string{"resume", "clear", "compact", "fork"}

// goesOn reports whether the session follows another one in the same process of
// the harness. Only the start event says so; its answer is stored.
func (r *run) goesOn(at process.Process) bool {
	session, mark := r.payload.SessionID, fmt.Sprintf("in-%d-%s", at.PID, at.Began)
	if r.event == SessionStart && slices.Contains(laterSources, r.payload.Source) {
		once(r.sessions, session, mark, false)
		return true
	}
	return r.sessions.Marked(session, mark)
}

// resolve returns the room of the first folder that has one.
func (r *run) resolve(ctx context.Context) (hub.Resolved, error) {
	folders := r.payload.Folders
	if len(folders) == 0 && r.Dir != "" {
		folders = []string{r.Dir}
	}
	var refused error
	for _, dir := range folders {
		got, err := r.hub.Resolve(ctx, dir)
		if err == nil && got.Bound && got.Room != nil {
			return got, nil
		}
		refused = errors.Join(refused, err)
	}
	return hub.Resolved{}, refused
}

// start answers session-start.
func (r *run) start(ctx context.Context) (string, error) {
	named, err := r.named()
	if err != nil {
		return "", err
	}
	saved, known := r.sessions.Load(r.payload.SessionID)
	r.programBegins(false)
	if err := r.connect(ctx, saved); err != nil {
		return "", err
	}
	got, err := r.resolve(ctx)
	if err != nil {
		return "", err
	}
	if !got.Bound {
		return "", quiet("the folder is bound to no room")
	}
	known = known && saved.InstanceID == r.instance
	if known && r.bridged && named != saved.AgentID && r.payload.Source == fromBefore && r.Getenv(EnvAgent) == "" {
		named = r.callBridge(ctx, saved, named)
	}
	id, err := r.identify(ctx, named, saved, known, got.Room.RoomID)
	if err != nil {
		return "", err
	}
	r.programBegins(true)
	r.sit(ctx, id, got.Room.RoomID)
	r.handOver(id)
	if !r.form().hears(SessionStart) {
		if r.form().hears(Prompt) { // the text comes with the first prompt
			_ = r.sessions.Mark(r.payload.SessionID, unsaid)
		}
		return "", quiet("this harness shows no agent what is said when a session begins")
	}
	if !first(r.sessions, r.payload.SessionID, r.payload.Source+r.program(), r.Now()) {
		return "", quiet("another run speaks for this event")
	}
	r.takeBack(ctx, id)
	text := r.open(ctx, id, got)
	r.stands(ctx, id)
	return text, nil
}

// open returns the text at the beginning of a session.
func (r *run) open(ctx context.Context, id hub.AgentID, at hub.Resolved) string {
	s := r.scene(ctx, id, at)
	text, told := s.opening()
	if told > 0 {
		// The text is shown even if this call fails: holding a turn once too
		// often is better than never.
		if told, err := r.hub.Tell(ctx, hub.ToldInput{AgentID: id, ToldID: told}); err == nil {
			r.given(told)
		}
	}
	return text
}

// identify finds the agent of the session, stores it, and registers it unless
// another process does.
func (r *run) identify(ctx context.Context, named hub.AgentID, saved identity.Binding, known bool, room hub.RoomID) (hub.AgentID, error) {
	session := r.payload.SessionID
	if named == "" && session == "" {
		return "", quiet("neither " + EnvAgent + " nor the payload says who this is")
	}
	b := identity.Binding{AgentID: named, BaseURL: r.baseURL, RoomID: room, InstanceID: r.instance}
	if known {
		b.SessionID = saved.SessionID
	}
	if named == "" {
		b.AgentID = identity.AgentOf(r.harness, session)
		if known {
			b.AgentID = saved.AgentID
		}
	}
	err := r.remember(session, &b, saved, known, named != "")
	switch {
	case named != "":
		if err != nil { // the environment will name it again
			log(r.DataRoot, r.Now(), "%s: the session is not remembered: %v", r.event, err)
		}
		if r.harness.Facts().Queues {
			r.leaveNotes(b)
		}
		return named, nil
	case err != nil:
		return "", err
	}
	r.leaveNotes(b)
	begun, err := r.register(ctx, b.AgentID, !known)
	if begun != "" {
		b.SessionID = begun
		if err := r.sessions.Replace(session, b); err != nil { // then the session ends by silence
			log(r.DataRoot, r.Now(), "%s: the session of the hub is not remembered: %v", r.event, err)
		}
	}
	return b.AgentID, err
}

// leaveNotes tells a bridge that starts later, or has started at the same time, the agent of the
// session. The bridge finds the note by its parent process, which is the harness above the hook. A bridge
// that has a name already learns which session it is to wake.
func (r *run) leaveNotes(b identity.Binding) {
	if !r.notes.Usable() {
		return
	}
	note := identity.Note{
		AgentID: b.AgentID, BaseURL: b.BaseURL, InstanceID: b.InstanceID, Harness: r.harness, Session: identity.Key(r.payload.SessionID),
		Left: hub.TimeOf(r.Now()), Resumes: r.payload.Source == fromBefore,
	}
	if r.harness.Facts().Queues && r.Getenv(EnvAgent) == string(b.AgentID) {
		note.Thread = r.payload.SessionID
	}
	for _, at := range r.notes.Harness(r.PID) {
		if err := r.notes.Leave(at, note); err != nil {
			log(r.DataRoot, r.Now(), "%s: no note is left for a bridge: %v", r.event, err)
			return
		}
	}
}

// callBridge has a bridge that began before the session was known become the agent that the session was
// before. It returns the agent that the bridge is then: one that has served its agent stays who it is.
func (r *run) callBridge(ctx context.Context, saved identity.Binding, named hub.AgentID) hub.AgentID {
	saved.BaseURL = r.baseURL
	r.leaveNotes(saved)
	ctx, cancel := context.WithTimeout(ctx, followsHook)
	defer cancel()
	if ends, ok := ctx.Deadline(); ok {
		var cut context.CancelFunc
		ctx, cut = context.WithDeadline(ctx, ends.Add(-speaks))
		defer cut()
	}
	for pause.For(ctx, lookForBridge) {
		if now, err := r.named(); err == nil && now == saved.AgentID {
			return now
		}
	}
	saved.AgentID = named
	r.leaveNotes(saved) // else the bridge would become the other one later
	return named
}

const (
	followsHook   = 1500 * time.Millisecond // how long a bridge may take to become another agent
	lookForBridge = 20 * time.Millisecond
)

// remember saves the binding. If another run saved a binding first, b is set to
// that one.
func (r *run) remember(session string, b *identity.Binding, saved identity.Binding, known, named bool) error {
	switch {
	case r.sessions.Dir == "" || session == "":
		return nil
	case known && saved == *b:
		r.sessions.Touch(session, r.Now())
		return nil
	case known || saved.AgentID != "" || named:
		return r.sessions.Replace(session, *b)
	}
	r.sessions.Sweep(r.Now())
	first, err := r.sessions.Claim(session, *b)
	*b = first
	return err
}

// register makes the agent known to the hub without taking a session
// from a process that has one already. A new agent has seen everything that was before it.
// It returns the session that it began, if it did.
func (r *run) register(ctx context.Context, id hub.AgentID, fresh bool) (hub.SessionID, error) {
	replace := false
	meta, err := json.Marshal(map[string]string{"harness": string(r.harness)})
	if err != nil {
		return "", err
	}
	out, err := r.hub.Register(ctx, hub.RegisterInput{AgentID: id, Replace: &replace, Metadata: meta})
	if errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) {
		return "", nil
	}
	if err == nil && fresh {
		_, err = r.hub.Bootstrap(ctx, id)
	}
	return out.Row.SessionID, err
}

// sit lets the room show that the agent works there. If it fails, the session
// continues without a seat.
func (r *run) sit(ctx context.Context, id hub.AgentID, room hub.RoomID) {
	if _, err := r.hub.Sit(ctx, room, hub.SitInput{AgentID: id}); err != nil {
		log(r.DataRoot, r.Now(), "%s: the room does not show the agent: %s", r.event, why(err))
	}
}

// handOver names the agent to later commands of the session.
func (r *run) handOver(id hub.AgentID) {
	variable := r.harness.Facts().ExportVariable
	if variable == "" {
		return
	}
	path := r.Getenv(variable)
	if path == "" {
		return
	}
	err := export(path, EnvAgent, string(id))
	if err == nil && r.baseURL != r.DefaultBaseURL {
		err = export(path, EnvBaseURL, r.baseURL)
	}
	if err != nil {
		log(r.DataRoot, r.Now(), "%s: the variables are not handed over: %v", r.event, err)
	}
}
