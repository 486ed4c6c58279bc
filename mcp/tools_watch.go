package mcp

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

func watchTools() []tool {
	return []tool{
		define(tool{
			name: "hub_watch", title: "Wait for minutes", reads: true, idempotent: true,
			description: "Wait for minutes: returns the exact shell command to run in the background; its exit wakes you.",
		}, watch),
	}
}

type watchIn struct {
	Until          []string `json:"until,omitempty" jsonschema:"conditions that must all hold: message-from:<agent>, tasks-complete:<id,id>, run-complete:<run_id>, seat-idle:<agent>; default: what you have under way"`
	RoomID         string   `json:"room_id,omitempty" jsonschema:"default: your room"`
	TimeoutSeconds float64  `json:"timeout_seconds,omitempty" jsonschema:"default 1200" range:"1,86400"`
	Label          string   `json:"label,omitempty" jsonschema:"shown in the room; a new watch replaces one with the same label" range:"80"`
}

// watchCommand holds a command for a POSIX shell and says how to use it.
type watchCommand struct {
	Command        string     `json:"command"`
	Args           []string   `json:"args" lean:"-"` // the same as an argument list
	RoomID         hub.RoomID `json:"room_id" lean:"-"`
	Until          []string   `json:"until"`
	TimeoutSeconds float64    `json:"timeout_seconds"`
	Wakes          bool       `json:"wakes"` // its exit begins a new turn in this harness
}

func watch(ctx context.Context, c *call, in watchIn) (*answer, error) {
	room, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	if len(in.Until) == 0 {
		if in.Until, err = c.proposed(ctx, room); err != nil {
			return nil, err
		}
	}
	if len(in.Until) > hub.MaxWatchConditions {
		return nil, hub.Invalid("until", "there are too many conditions").With("limit", hub.MaxWatchConditions).
			WithFix("a condition may name several tasks")
	}
	for _, text := range in.Until {
		if err := c.canHold(ctx, text); err != nil {
			return nil, err
		}
	}
	if in.Label != "" {
		if err := hub.CheckName("label", in.Label, hub.MaxWatchLabelChars); err != nil {
			return nil, err
		}
	}
	c.bridge.link.CatchUp(ctx, c.at) // unread messages would end the watch at once
	w, err := c.watchCommand(room, in)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(w.TimeoutSeconds * float64(time.Second))
	line := fmt.Sprintf("Run command in the background and finish your turn. It ends after %s at the latest, and its exit calls you again.", limit)
	if !w.Wakes {
		line = fmt.Sprintf("Nothing wakes you in this harness. Run command in the foreground (it ends after %s at the latest), or poll at your next turn.", limit)
	}
	return &answer{data: w, line: inRoom(line, room)}, nil
}

// proposed returns conditions that the agent probably wants to wait for.
func (c *call) proposed(ctx context.Context, room hub.RoomID) ([]string, error) {
	a, err := c.hub().Attention(ctx, hub.AttentionQuery{Agent: c.agent(), Room: room})
	if err != nil {
		return nil, err
	}
	if len(a.Proposals) == 0 {
		return nil, hub.Invalid("until", "you have no open work that a watch could wait for").
			WithFix(`name a condition, for example {"until":["message-from:lead"]} or {"until":["tasks-complete:41,42"]}`)
	}
	return []string{a.Proposals[0].Condition}, nil
}

// canHold refuses a condition that is malformed or names something that does
// not exist.
func (c *call) canHold(ctx context.Context, text string) error {
	cond, err := hub.ParseCondition("until", text)
	if err != nil {
		return err
	}
	for _, id := range cond.Tasks[:min(len(cond.Tasks), 20)] {
		if _, err := c.hub().Task(ctx, id, c.agent()); err != nil {
			return err
		}
	}
	if cond.Run != "" {
		_, err = c.hub().Run(ctx, cond.Run, c.agent())
	}
	return err
}

// watchCommand names this executable by its path: a hubcli on the harness's
// PATH may be missing, or may call another hub.
func (c *call) watchCommand(room hub.RoomID, in watchIn) (watchCommand, error) {
	exe, err := os.Executable()
	if err != nil {
		return watchCommand{}, hub.Errorf(hub.CodeInternal, "the executable cannot be found: %v", err)
	}
	if in.TimeoutSeconds == 0 {
		in.TimeoutSeconds = (20 * time.Minute).Seconds()
	}
	limit := time.Duration(in.TimeoutSeconds * float64(time.Second)).Round(time.Second)
	args := []string{exe, "watch", "--agent", string(c.agent())}
	if url := c.at.Client.BaseURL(); url != client.DefaultBaseURL {
		args = append(args, "--base-url", url)
	}
	args = append(args, "--room", string(room))
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
