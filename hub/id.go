package hub

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Every identifier has its own type, so that the compiler rejects a channel
// where a thread is meant.
type (
	// AgentID names an agent: one participant, whatever session it uses.
	AgentID string
	// SessionID names one registration of an agent. The full form is a secret
	// and is returned by register and resume only; rows carry the public form,
	// the part before the dot.
	SessionID string
	// ChannelName names a stream of public messages.
	ChannelName string
	// ThreadID names the messages, tasks and leases that belong together.
	ThreadID string
	// MessageID numbers messages from 1, rising, never reused, at most 2^53-1.
	MessageID int64
	// TaskID is the MessageID of the message that opened the task.
	TaskID = MessageID
	// ClaimKey names a logical lease.
	ClaimKey string
	// RunID names a batch of tasks.
	RunID string
	// ProjectID names a project. Like the ids below it holds an underscore, which
	// no slug does.
	ProjectID string
	// RoomID names a room of a project.
	RoomID string
	// SeatID names an agent's place in a room.
	SeatID string
	// InviteID names an invite. It is not the invite's code, which is secret.
	InviteID string
	// DecisionID names a decision of a room.
	DecisionID string
	// ArtifactID names one version of an artifact of a room.
	ArtifactID string
	// MemoryID names a memory of a room or project.
	MemoryID string
	// InstanceID names a store; it survives restarts and changes with a reset.
	InstanceID string
	// Fence rises with every grant of any lease.
	Fence int64
	// Seq numbers the records of the journal from 1.
	Seq uint64
)

// Names with a meaning of their own.
const (
	// DefaultChannel and DirectChannel always exist. DirectChannel is the label
	// of a direct message that names no channel.
	DefaultChannel ChannelName = "general"
	DirectChannel  ChannelName = "direct"

	// AgentHub, AgentSystem and AgentOperator cannot be senders but can be
	// recipients. AgentSystem signs what the hub itself posts.
	AgentHub      AgentID = "hub"
	AgentSystem   AgentID = "system"
	AgentOperator AgentID = "operator"

	// WatchSuffix ends the agent id of the sibling session that only watch
	// registers; it is not listed among the live agents.
	WatchSuffix = ".watch"
	// RoomChannelPrefix begins the names of channels that rooms own.
	RoomChannelPrefix = "room-"
)

// agentPattern describes for people what isAgentID accepts.
const agentPattern = `^[A-Za-z0-9][A-Za-z0-9._@:+-]{0,63}$`

// isAgentID runs for every call, so it uses no regular expression.
func isAgentID(id AgentID) bool {
	if len(id) == 0 || len(id) > MaxAgentIDBytes {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
		case i > 0 && strings.IndexByte("._@:+-", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// Reserved reports whether id cannot be a sender, in whatever case it is written: no agent is to be
// taken for the operator or the hub.
func (id AgentID) Reserved() bool {
	switch id.Lower() {
	case AgentHub, AgentSystem, AgentOperator:
		return true
	}
	return false
}

// Lower returns the id in lower case, as ids are compared where they may not differ in case alone.
func (id AgentID) Lower() AgentID { return AgentID(strings.ToLower(string(id))) }

// Group reports whether id is a word for several agents, such as all or team. No
// agent can have such a name, because agents use it to write to the whole room.
func (id AgentID) Group() bool {
	switch strings.ToLower(string(id)) {
	case "all", "anyone", "everybody", "everyone", "here", "team":
		return true
	}
	return false
}

// person reports whether id is a word for the operator. No agent can act under it, because agents
// that write to it mean the person at the machine.
func (id AgentID) person() bool {
	switch strings.ToLower(string(id)) {
	case "human", "user":
		return true
	}
	return false
}

// TrialPrefix begins the ids of the agents by which adapters are tried.
const TrialPrefix = "adapter-verify-"

// Trial reports whether id is one by which an adapter is tried. Such an agent is no colleague: it
// gets no seat in a room, and nobody is told that it leaves messages unread.
func (id AgentID) Trial() bool { return strings.HasPrefix(string(id), TrialPrefix) }

// Watcher reports whether id is the sibling session of a watch.
func (id AgentID) Watcher() bool { return strings.HasSuffix(string(id), WatchSuffix) }

// Watch returns the id of the agent's sibling session that watch registers.
func (id AgentID) Watch() AgentID { return id + WatchSuffix }

// Channel returns the name of the channel that the room owns.
func (id RoomID) Channel() ChannelName { return RoomChannelPrefix + ChannelName(id) }

// Room returns the id in the name of a room's channel, and false for other
// channels. It does not check that the room exists.
func (c ChannelName) Room() (RoomID, bool) {
	id, ok := strings.CutPrefix(string(c), RoomChannelPrefix)
	return RoomID(id), ok && id != ""
}

// Archives reports whether the operator can archive the channel by itself: that of a room goes
// with the room, and general and direct are a part of every hub.
func (c ChannelName) Archives() bool {
	_, ofRoom := c.Room()
	return !ofRoom && c != DefaultChannel && c != DirectChannel
}

// Public returns the short form of the session id that rows show.
func (id SessionID) Public() SessionID {
	public, _, _ := strings.Cut(string(id), ".")
	return SessionID(public)
}

// CheckAgentID refuses a name that is no agent id. The error names field and
// suggests a legal id if one can be derived.
func CheckAgentID(field string, id AgentID) error {
	if isAgentID(id) {
		return nil
	}
	detail := map[string]any{"field": field, "pattern": agentPattern}
	fix := "use 1 to 64 letters, digits and . _ @ : + -, beginning with a letter or digit"
	if s := SuggestAgentID(string(id)); s != "" {
		detail["suggested"] = string(s)
		fix += "; for example " + string(s)
	}
	if id == "" {
		return NewError(CodeInvalid, field+" is missing").WithDetail(detail).WithFix(fix)
	}
	return NewError(CodeInvalidAgentID, field+" is not an agent id").WithDetail(detail).WithFix(fix)
}

// CheckNoWatcher refuses the id of the sibling session of a watch: it writes no message, and
// nobody writes to it.
func CheckNoWatcher(field string, id AgentID) error {
	if !id.Watcher() {
		return nil
	}
	return NewError(CodeReservedAgent, string(id)+" is a name of watches: no agent has an id that ends in "+WatchSuffix).
		With("field", field).WithFix("name the agent itself, such as " + strings.TrimSuffix(string(id), WatchSuffix))
}

// CheckAssignee is CheckRecipient for an agent that is to do a task: the hub does none.
func CheckAssignee(field string, id AgentID) error {
	if err := CheckRecipient(field, id); err != nil {
		return err
	}
	if id == AgentHub || id == AgentSystem {
		return NewError(CodeReservedAgent, string(id)+" is the hub itself and does no task").With("field", field).WithFix("name an agent")
	}
	return nil
}

// CheckRecipient is CheckAgentID for the agent to which a message or a task goes:
// words for several agents are refused too.
func CheckRecipient(field string, id AgentID) error {
	if err := CheckAgentID(field, id); err != nil {
		return err
	}
	if _, project, ok := id.Imported(); ok {
		return Invalid(field, string(id)+" wrote in a project that was imported: nobody reads as this agent").
			With("project_id", project).WithFix("name an agent of this hub")
	}
	if err := CheckNoWatcher(field, id); err != nil {
		return err
	}
	if id.Group() {
		return Invalid(field, string(id)+" is no agent: "+field+" names one agent").
			WithFix("leave " + field + " out to write to the whole room or channel, or name one agent")
	}
	return nil
}

// CheckSender is CheckAgentID for the agent a call acts as: the reserved names
// and words for several agents are refused too.
func CheckSender(field string, id AgentID) error {
	if err := CheckAgentID(field, id); err != nil {
		return err
	}
	if id.Reserved() {
		return NewError(CodeReservedAgent, string(id)+" is reserved and cannot act as an agent").
			WithFix("choose another agent id")
	}
	if name, project, ok := id.Imported(); ok {
		return NewError(CodeReservedAgent, string(id)+" is an author of an imported project and cannot act as an agent").
			With("project_id", project).WithFix("choose another agent id, such as " + string(name))
	}
	if id.Group() {
		return NewError(CodeReservedAgent, string(id)+" is a word for several agents and cannot be the id of one").
			WithFix("choose an id that names one agent, such as " + string(id) + "-1")
	}
	if id.person() {
		return NewError(CodeReservedAgent, string(id)+" is a word for the person at the machine and cannot act as an agent").
			WithFix("choose an id that names one agent, such as " + string(id) + "-1")
	}
	return nil
}

// SuggestAgentID turns a name into a legal id, or returns "".
func SuggestAgentID(given string) AgentID {
	var b strings.Builder
	for _, r := range given {
		switch {
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'):
			b.WriteRune(r)
		case strings.ContainsRune("._@:+-", r):
			if b.Len() > 0 {
				b.WriteRune(r)
			}
		default:
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
		}
		if b.Len() >= MaxAgentIDBytes {
			break
		}
	}
	return AgentID(strings.TrimRight(b.String(), "-"))
}

// CheckSlug refuses what is no slug: lower case ASCII letters and digits in groups
// that single hyphens part.
func CheckSlug(field, slug string) error {
	ok := slug != "" && len(slug) <= MaxSlugChars
	for group := range strings.SplitSeq(slug, "-") {
		ok = ok && group != "" && strings.Trim(group, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
	}
	if ok {
		return nil
	}
	return Invalid(field, field+" is not a slug").With("limit", MaxSlugChars).
		WithFix("use 1 to 64 lower case letters and digits in groups separated by single hyphens, such as web-shop")
}

// CheckName refuses a name that is empty, too long, no UTF-8 or that carries
// control characters. max counts characters.
func CheckName(field, name string, max int) error {
	switch {
	case name == "":
		return Invalid(field, field+" is missing")
	case !utf8.ValidString(name):
		return Invalid(field, field+" is not valid UTF-8")
	case utf8.RuneCountInString(name) > max:
		return Invalid(field, field+" is too long").With("limit", max).With("size", utf8.RuneCountInString(name))
	case strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return Invalid(field, field+" has a control character")
	}
	return nil
}

// CheckVisible refuses a name without a visible character: one of spaces,
// combining marks and invisible characters only.
func CheckVisible(field, name string) error {
	const fillers = "\u115f\u1160\u2800\u3164\uffa0"
	visible := func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !strings.ContainsRune(fillers, r)
	}
	if strings.ContainsFunc(name, visible) {
		return nil
	}
	return Invalid(field, field+" has no character that can be seen").WithFix("give a name that people can read")
}

// importMark parts the name of an imported agent or thread from the id of its project.
const importMark = "@"

// ImportedAgent returns the id that an author of an imported project has in this hub: its
// name, a mark and the project. Nobody can act under such an id, so it may be longer than
// the id of an agent of this hub.
func ImportedAgent(name AgentID, project ProjectID) AgentID {
	return name + importMark + AgentID(project)
}

// Imported returns the name that the agent had in the hub from which its project came, and
// the project. ok is false for agents of this hub.
func (id AgentID) Imported() (name AgentID, project ProjectID, ok bool) {
	n, p, ok := imported(string(id))
	return AgentID(n), p, ok
}

// ImportedThread returns the id that a thread of an imported project has in this hub.
func ImportedThread(name ThreadID, project ProjectID) ThreadID {
	return name + importMark + ThreadID(project)
}

// Imported returns the name that the thread had in the hub from which its project came, and
// the project. ok is false for threads of this hub.
func (id ThreadID) Imported() (name ThreadID, project ProjectID, ok bool) {
	n, p, ok := imported(string(id))
	return ThreadID(n), p, ok
}

// CheckThread is CheckName for the id of a thread. The marks that imports have put behind its
// name are not counted, so that one can speak in every thread of an imported project. Whether a
// project was imported is not asked: a mark that means none makes a name longer by some letters
// and does nothing else.
func CheckThread(field string, id ThreadID) error {
	if size := utf8.RuneCountInString(string(id)); size > MaxThreadChars {
		return Invalid(field, field+" is too long").With("limit", MaxNameChars).With("size", size)
	}
	for {
		name, _, ok := id.Imported()
		if !ok || name == "" {
			return CheckName(field, string(id), MaxNameChars)
		}
		id = name
	}
}

// imported cuts the mark of an imported project from the end of a name.
func imported(name string) (string, ProjectID, bool) {
	at := strings.LastIndex(name, importMark)
	if at < 0 || !isProjectID(name[at+1:]) {
		return name, "", false
	}
	return name[:at], ProjectID(name[at+1:]), true
}

func isProjectID(text string) bool {
	rest, ok := strings.CutPrefix(text, "p_")
	return ok && rest != "" && !strings.ContainsFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') })
}
