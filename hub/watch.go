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

// The forms of SPEC section 4.2.
const (
	UntilTasksComplete ConditionKind = "tasks-complete" // tasks-complete:<id[,id...]>
	UntilRunComplete   ConditionKind = "run-complete"   // run-complete:<run_id>
	UntilMessageFrom   ConditionKind = "message-from"   // message-from:<agent>
	UntilSeatIdle      ConditionKind = "seat-idle"      // seat-idle:<agent>
)

// Condition is a parsed watch condition; Text is how it was given.
type Condition struct {
	Kind  ConditionKind
	Text  string
	Tasks []TaskID
	Run   RunID
	Agent AgentID
}

// conditionForms says for people what a condition looks like.
const conditionForms = "use tasks-complete:<id[,id...]>, run-complete:<run_id>, message-from:<agent> or seat-idle:<agent>"

// ParseCondition reads one of the forms of SPEC section 4.2. Whether what it
// names exists is the hub's to say. field names the input in errors.
func ParseCondition(field, text string) (Condition, error) {
	kind, rest, _ := strings.Cut(text, ":")
	c := Condition{Kind: ConditionKind(kind), Text: text}
	refuse := func(why string) (Condition, error) {
		return Condition{}, Invalid(field, field+" "+why).With("condition", text).WithFix(conditionForms)
	}
	switch c.Kind {
	case UntilTasksComplete:
		for part := range strings.SplitSeq(rest, ",") {
			id, err := strconv.ParseInt(part, 10, 64)
			if err != nil || id < 1 || id > MaxMessageID || part[0] == '+' || part[0] == '0' {
				return refuse("names " + strconv.Quote(part) + ", which is no task id: one is an integer from 1")
			}
			if !slices.Contains(c.Tasks, TaskID(id)) {
				c.Tasks = append(c.Tasks, TaskID(id))
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

// WatchQuery waits until all conditions hold at once, as Agent sees them.
type WatchQuery struct {
	Agent AgentID
	Room  RoomID
	Until []Condition
	Label string
	Wait  time.Duration // 0: evaluate once
	// Began is when who waits has begun to, the same in all its calls: of two
	// watches of one label the one that began later stays, in whatever order their
	// calls come. 0, or what lies ahead of the hub's clock, is now.
	Began Time
}

// CheckWatching is CheckSender for an agent whose watch it is: the sibling of a
// watch has none of its own.
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
	Met         bool             `json:"met"`
	RoomID      RoomID           `json:"room_id"`
	AgentID     AgentID          `json:"agent_id"`
	Conditions  []ConditionState `json:"conditions"`
	Unread      int              `json:"unread"`        // in the room and the inbox, up to MaxUnread
	Messages    []UnreadRow      `json:"messages"`      // the first unread ones that are directed or of agents waited for, at most 5
	NextSinceID MessageID        `json:"next_since_id"` // where to poll from to read what is unread
}

// ConditionState is whether one condition holds, and why or why not.
type ConditionState struct {
	Condition string `json:"condition"`
	Met       bool   `json:"met"`
	Why       string `json:"why"`
}

// Watches waits for what happens in rooms.
type Watches interface {
	// Watch returns when all conditions hold, q.Wait is over or the hub stops. It
	// is the agent's one watch of that label: one that began later ends it, or has
	// ended it minutes ago (watch_replaced). room_not_found, task_not_found, run_not_found,
	// session_not_found (an agent that is not known), too_many_polls.
	Watch(ctx context.Context, q WatchQuery) (Watched, error)
}
