package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/hubfile"
	"hubcli/internal/peertext"
)

func watchTools() []tool {
	return []tool{
		define(tool{
			name: "hub_watch", title: "Wait for minutes", reads: true, idempotent: true,
			description: "Wait minutes for messages to you, or for other conditions. Returns a shell command whose end calls you again, or says how to wait in your program.",
		}, watch),
	}
}

type watchIn struct {
	Until          []string `json:"until,omitempty" jsonschema:"all must hold: for-me (default), task-ready, answered:<message id>, message-from:<agent>, tasks-complete:<id,id>, run-complete:<run_id>, seat-idle:<agent>"`
	RoomID         string   `json:"room_id,omitempty" jsonschema:"default: yours"`
	TimeoutSeconds float64  `json:"timeout_seconds,omitempty" jsonschema:"default 1200" range:"1,86400"`
	Label          string   `json:"label,omitempty" jsonschema:"shown in the room; replaces a watch of the same label" range:"80"`
}

// watchCommand says whether the conditions hold, and how to wait for them. A command is
// for a POSIX shell; there is none if the conditions hold or the agent's commands
// cannot reach the hub.
type watchCommand struct {
	Met            bool       `json:"met"`
	Command        string     `json:"command,omitempty"`
	Args           []string   `json:"args,omitempty" lean:"-"` // the same as an argument list
	RoomID         hub.RoomID `json:"room_id" lean:"-"`
	Until          []string   `json:"until"`
	TimeoutSeconds float64    `json:"timeout_seconds"`
	Wakes          bool       `json:"wakes"` // its exit begins a new turn in this harness
}

// listedAgents is how many live agents a refusal of an unknown name lists.
const listedAgents = 20

func watch(ctx context.Context, c *call, in watchIn) (*answer, error) {
	if len(in.Until) == 0 {
		in.Until = []string{string(hub.UntilForMe)}
	}
	room, err := c.watchedRoom(ctx, in)
	if err != nil {
		return nil, err
	}
	q := hub.WatchQuery{Agent: c.agent(), Room: room}
	if err := api.ValidateWatch(&q, in.Until); err != nil {
		return nil, err
	}
	if in.Label != "" {
		if err := hub.CheckName("label", in.Label, hub.MaxWatchLabelChars); err != nil {
			return nil, err
		}
	}
	c.bridge.link.CatchUp(ctx, c.at) // unread messages would end the watch at once
	got, err := c.hub().Watch(ctx, q)
	if err != nil {
		return nil, c.namesNobody(ctx, err)
	}
	w, err := c.watchCommand(room, in)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(w.TimeoutSeconds * float64(time.Second))
	poll := fmt.Sprintf("hub_poll_messages with timeout_seconds %d", int(c.longest().Seconds()))
	switch {
	case got.Met:
		w.Met, w.Command, w.Args = true, "", nil
		return &answer{data: w, line: inRoom(metAlready(&got), room)}, nil
	case len(got.Circle) > 1:
		w.Command, w.Args = "", nil
		return &answer{data: w, line: inRoom(fmt.Sprintf("To wait for that would close a circle: %s. None of you would go on. Do first what the others wait for, or release it; hub_poll_messages shows what is asked of you.", around(got.Circle)), room)}, nil
	case got.Stuck:
		w.Command, w.Args = "", nil
		return &answer{data: w, line: inRoom("Waiting would not help: "+whys(&got)+". Take the task over with hub_take and its id, give it to another agent with hub_update_task, or cancel it.", room)}, nil
	case got.Streamed && byMessagesAlone(q.Until):
		w.Command, w.Args, w.Wakes = "", nil, true
		return &answer{data: w, line: inRoom("Finish your turn: your program shows you each message for you as it comes, and begins your next turn with it.", room)}, nil
	case c.harness().Facts().Offline || c.bridge.request != nil: // over HTTP the client may run no commands here
		w.Command, w.Args = "", nil
		return &answer{data: w, line: inRoom("In this program the end of a command does not wake you, and commands may not reach the hub. To wait, call "+poll+"; or finish your turn, if your user or another agent starts your next one.", room)}, nil
	case !w.Wakes:
		return &answer{data: w, line: inRoom(fmt.Sprintf("The end of a background command does not wake you in this program. To wait for messages, call %s. To wait for other conditions, run command in the foreground; it ends after %s at the latest.", poll, limit), room)}, nil
	}
	return &answer{data: w, line: inRoom(fmt.Sprintf("Run command in the background and finish your turn. It ends after %s at the latest, and its exit calls you again.", limit), room)}, nil
}

// watchedRoom is the room that a watch is about, or "": an agent in no room waits for direct
// messages, and for mentions anywhere. Where a condition means the room, there has to be one.
func (c *call) watchedRoom(ctx context.Context, in watchIn) (hub.RoomID, error) {
	if in.RoomID != "" || slices.Contains(in.Until, string(hub.UntilTaskReady)) {
		return c.room(ctx, in.RoomID)
	}
	return c.home(ctx)
}

// byMessagesAlone reports whether a message for the agent meets every condition.
func byMessagesAlone(until []hub.Condition) bool {
	return !slices.ContainsFunc(until, func(c hub.Condition) bool {
		return c.Kind != hub.UntilForMe && c.Kind != hub.UntilAnswered
	})
}

// metAlready says that there is nothing to wait for, and why.
func metAlready(got *hub.Watched) string {
	line := "There is nothing to wait for: " + whys(got) + "."
	if len(got.Messages) > 0 {
		line += " Read your messages with hub_poll_messages."
	}
	return line
}

// whys says how the first conditions stand.
func whys(got *hub.Watched) string {
	whys := make([]string, 0, len(got.Conditions))
	for _, c := range got.Conditions[:min(len(got.Conditions), 3)] {
		whys = append(whys, c.Why)
	}
	return strings.Join(whys, ", ")
}

// namesNobody adds to the refusal of an agent that does not exist which agents are live.
func (c *call) namesNobody(ctx context.Context, err error) error {
	e := asError(err)
	if e.Code != hub.CodeSessionNotFound {
		return err
	}
	name, _ := e.Detail["agent_id"].(string)
	if name == "" { // the session of the caller itself
		return err
	}
	live, _, failed := c.hub().Agents(ctx, hub.AgentsQuery{Limit: listedAgents})
	if failed != nil {
		return err
	}
	var names []string
	for i := range live {
		if live[i].AgentID != c.agent() {
			names = append(names, word(string(live[i].AgentID)))
		}
	}
	fix := "no other agent is live now; leave until out to wait for any message to you"
	if len(names) > 0 {
		fix = "name one of the live agents: " + strings.Join(names, ", ")
	}
	return hub.Errorf(e.Code, "no agent is called %s", word(name)).With("agent_id", name).WithFix(fix)
}

// watchCommand names this executable by its path: a hubcli on the harness's
// PATH may be missing, or may call another hub.
func (c *call) watchCommand(room hub.RoomID, in watchIn) (watchCommand, error) {
	exe, err := os.Executable()
	if err != nil {
		return watchCommand{}, hub.Errorf(hub.CodeInternal, "the executable cannot be found: %v", err)
	}
	if filepath.IsAbs(os.Args[0]) {
		exe = os.Args[0] // as the adapter's entry and its rule for permissions name it
	}
	if in.TimeoutSeconds == 0 {
		in.TimeoutSeconds = (20 * time.Minute).Seconds()
	}
	limit := time.Duration(in.TimeoutSeconds * float64(time.Second)).Round(time.Second)
	args := []string{exe, "watch", "--agent", string(c.agent())}
	if url := c.at.Client.BaseURL(); url != hubfile.BaseURL(c.bridge.link.DataRoot) {
		args = append(args, "--base-url", url)
	}
	if room != "" {
		args = append(args, "--room", string(room))
	}
	for _, text := range in.Until {
		args = append(args, "--until", text)
	}
	args = append(args, "--timeout", limit.String())
	if in.Label != "" {
		args = append(args, "--label", in.Label)
	}
	quotedArgs := make([]string, len(args))
	for i, arg := range args {
		quotedArgs[i] = peertext.Shell(arg)
	}
	return watchCommand{
		Command: strings.Join(quotedArgs, " "), Args: args, RoomID: room, Until: in.Until, TimeoutSeconds: limit.Seconds(),
		Wakes: hook.Wakes(c.harness()),
	}, nil
}
