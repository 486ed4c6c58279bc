package mcp

import (
	"context"
	"fmt"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/mcp/session"
)

// requestTask asks an agent for a task that there is: the agent becomes its assignee and gets the words of
// the post. A second task for the same work would be open when the first is done.
func (c *call) requestTask(ctx context.Context, id hub.TaskID, post hub.PostInput, key string) (*answer, error) {
	switch {
	case post.Kind != "" && post.Kind != hub.KindTaskRequest:
		return nil, hub.Invalid("task_id", "a message of the kind "+string(post.Kind)+" asks for no task").
			WithFix("leave kind out or set it to task_request; to end a task: hub_done; to speak of one: reply_to")
	case post.ToAgent == c.agent():
		return nil, hub.Invalid("to_agent", "that is you").WithFix(fmt.Sprintf(`to begin the task: hub_take {"task_id":%d}`, id))
	case post.ReplyTo != 0 || post.ThreadID != "":
		return nil, hub.Invalid("task_id", "a request for a task that there is has to_agent and body alone").
			WithFix("send the rest in a message of its own with hub_dm, or change the task with hub_update_task")
	}
	if n := utf8.RuneCountInString(post.Body); n > hub.MaxNoteChars {
		return nil, hub.NewError(hub.CodeBodyTooLarge, "the body is too large").With("field", "body").With("limit", hub.MaxNoteChars).With("size", n).
			WithFix("send a shorter body, and the rest with hub_dm")
	}
	out, err := c.hub().UpdateTask(c.key(ctx, key), id, hub.TaskUpdateInput{AgentID: c.agent(), Assignee: &post.ToAgent, Note: post.Body, UnlessNear: post.UnlessNear})
	if err != nil {
		return nil, err
	}
	t := showTask(&out.Row)
	line := fmt.Sprintf("Task #%d is %s%s, and it has your words.", t.TaskID, t.Status, assigned(&t))
	if out.Replayed {
		line = session.Sentence(line, "This was said before; nothing new was sent.")
	}
	return &answer{data: t, prose: true, line: line, untrusted: []string{"title", "thread_id"}}, nil
}
