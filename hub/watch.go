package hub

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ConditionKind is the word before the colon of a watch condition.
type ConditionKind string

// The kinds of conditions.
const (
	UntilForMe         ConditionKind = "for-me"         // for-me
	UntilTaskReady     ConditionKind = "task-ready"     // task-ready or task-ready:<room_id>
	UntilAnswered      ConditionKind = "answered"       // answered:<message id>
	UntilTasksComplete ConditionKind = "tasks-complete" // tasks-complete:<id[,id...]>
	UntilRunComplete   ConditionKind = "run-complete"   // run-complete:<run_id>
	UntilMessageFrom   ConditionKind = "message-from"   // message-from:<agent>
	UntilSeatIdle      ConditionKind = "seat-idle"      // seat-idle:<agent>
)

// Condition is a parsed watch condition; Text is how it was given.
type Condition struct {
	Kind    ConditionKind
	Text    string
	Tasks   []TaskID
	Run     RunID
	Agent   AgentID
	Room    RoomID // of task-ready; empty: the room of the watch
	Message MessageID
}

// conditionForms describes the forms of a condition for people.
const conditionForms = "use for-me, task-ready[:<room_id>], answered:<message id>, tasks-complete:<id[,id...]>, run-complete:<run_id>, message-from:<agent> or seat-idle:<agent>"

// ParseCondition reads one condition. It does not check that the named rows
// exist. field names the input in errors.
func ParseCondition(field, text string) (Condition, error) {
	kind, rest, named := strings.Cut(text, ":")
	c := Condition{Kind: ConditionKind(kind), Text: text}
	refuse := func(why string) (Condition, error) {
		return Condition{}, Invalid(field, field+" "+why).With("condition", text).WithFix(conditionForms)
	}
	switch c.Kind {
	case UntilForMe:
		if named {
			return refuse("names something behind for-me, which stands alone")
		}
	case UntilTaskReady:
		if named && CheckName(field, rest, MaxNameChars) != nil {
			return refuse("names no room")
		}
		c.Room = RoomID(rest)
	case UntilAnswered:
		if c.Message = conditionID(rest); c.Message == 0 {
			return refuse("names " + strconv.Quote(rest) + ", which is no message id: one is an integer from 1")
		}
	case UntilTasksComplete:
		for part := range strings.SplitSeq(rest, ",") {
			id := conditionID(part)
			if id == 0 {
				return refuse("names " + strconv.Quote(part) + ", which is no task id: one is an integer from 1")
			}
			if !slices.Contains(c.Tasks, id) {
				c.Tasks = append(c.Tasks, id)
			}
		}
		if len(c.Tasks) > MaxWatchTasks {
			return refuse("names too many tasks: at most " + strconv.Itoa(MaxWatchTasks))
		}
	case UntilRunComplete:
		if CheckName(field, rest, MaxNameChars) != nil {
			return refuse("names no run")
		}
		c.Run = RunID(rest)
	case UntilMessageFrom, UntilSeatIdle:
		c.Agent = AgentID(rest)
		if CheckAgentID(field, c.Agent) != nil {
			return refuse("names " + strconv.Quote(rest) + ", which is no agent id")
		}
		if c.Agent.Watcher() || c.Kind == UntilSeatIdle && c.Agent.Reserved() {
			return refuse("names " + rest + ", which is no agent at work")
		}
	default:
		return refuse("is " + strconv.Quote(text) + ", which is no condition")
	}
	return c, nil
}

// conditionID reads the id of a message or task. 0: the text is no such id.
func conditionID(text string) MessageID {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || id > MaxMessageID || text[0] == '+' || text[0] == '0' {
		return 0
	}
	return MessageID(id)
}

// WatchQuery waits until all conditions hold at once, as Agent sees them.
type WatchQuery struct {
	Agent AgentID
	Room  RoomID // empty: none; then all that is public counts as the room
	Until []Condition
	Label string
	Wait  time.Duration // 0: evaluate once
	// Began is when the watcher first began to wait; all its calls send the
	// same value. Of two watches with the same label the one that began later
	// stays, whatever the order of their calls. 0 means now, and so does a time
	// ahead of the hub's clock.
	Began Time
	// Stream says that the call is one of many that show events beside the work
	// of the agent, which does not sleep meanwhile. One condition that holds is
	// enough then, and no wake notice is left.
	Stream bool
	After  MessageID // messages up to it do not count as unread
}

// CheckWatching is CheckSender for the agent that a watch belongs to. It also
// refuses the sibling session of a watch, which has no watch of its own.
func CheckWatching(field string, id AgentID) error {
	if err := CheckSender(field, id); err != nil {
		return err
	}
	if id.Watcher() {
		return Invalid(field, field+" is the id of a watch, and a watch has none of its own").
			WithFix("name the agent itself, without " + WatchSuffix)
	}
	return nil
}

// Watched says how a watch ended.
type Watched struct {
	Met bool `json:"met"` // All conditions hold; of a stream, one does.
	// Only where it is true: a condition waits for a task whose assignee has been gone for two minutes, or closes a
	// circle of agents that wait for each other. The call ends then, and so does the next one.
	Stuck bool `json:"stuck,omitempty"`
	// Only with stuck, where agents would wait for each other: the agent, one that its conditions wait for, and so
	// on; the last one waits for the agent.
	Circle []AgentID `json:"circle,omitempty" bounds:"2.. items"`
	RoomID RoomID    `json:"room_id" bounds:"as string; ..64 runes"` // Empty: the watch is of no room.
	// Of a stream whose agent goes on under another id, that id; the call ends then.
	AgentID    AgentID          `json:"agent_id"`
	Conditions []ConditionState `json:"conditions"`
	Unread     int              `json:"unread" bounds:"0..1000"` // In the room and the inbox; 1000 stands for that many or more.
	// The first unread ones that are for the agent, come from an agent that message-from names, or answer a message
	// that answered names; rising.
	Messages    []UnreadRow `json:"messages" bounds:"..5 items"`
	More        int         `json:"more" bounds:"0..195"`             // How many such messages follow those. A higher count is not made.
	HeadID      MessageID   `json:"head_id" bounds:"as Cursor"`       // The latest message that the answer takes into account.
	NextSinceID MessageID   `json:"next_since_id" bounds:"as Cursor"` // Where to poll from to read what is unread.
	Streamed    bool        `json:"streamed"`                         // A stream waits that shows the agent its messages as they come.
}

// ConditionState is whether one condition holds, and why or why not.
type ConditionState struct {
	Condition string `json:"condition" bounds:"as ConditionText"`
	Met       bool   `json:"met"`
	// Only where it is true: it waits for a task whose assignee has been gone for two minutes, or closes a circle of
	// agents that wait for each other.
	Stuck bool   `json:"stuck,omitempty"`
	Why   string `json:"why"` // In words, why or why not.
}

// Watches waits for what happens in rooms.
type Watches interface {
	// Watch returns when all conditions hold, one is stuck, q.Wait is over or the hub stops.
	// An agent has one watch for each label: a watch that began later replaces
	// an earlier one, whose calls then fail with watch_replaced. Errors:
	// room_not_found, task_not_found, run_not_found, message_not_found,
	// session_not_found (an agent that is not known), too_many_polls.
	Watch(ctx context.Context, q WatchQuery) (Watched, error)
}
