package mcp

import (
	"context"
	"fmt"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

type getThreadIn struct {
	ThreadID hub.ThreadID  `json:"thread_id" jsonschema:"name"`
	Cursor   hub.MessageID `json:"cursor,omitempty" jsonschema:"from the last answer" range:"0,9007199254740991"`
	Limit    int           `json:"limit,omitempty" jsonschema:"messages, default 20" range:"1,100"`
}

// shownThread is part of a thread.
type shownThread struct {
	Thread    hub.ThreadSummary `json:"thread"`
	Messages  []shownMessage    `json:"messages"`
	Tasks     []shownTask       `json:"tasks"`             // the first that have not ended; hub_list_tasks with the thread_id has all
	Claims    []shownLease      `json:"claims"`            // the first that are held
	Earlier   bool              `json:"earlier,omitempty"` // the hub's answer holds only the latest messages
	Truncated bool              `json:"truncated"`
	Cursor    hub.MessageID     `json:"cursor,omitempty"`
}

const mostOfThread = 10 // tasks, and claims, that are shown with a thread

func getThread(ctx context.Context, c *call, in getThreadIn) (*answer, error) {
	got, err := c.hub().Thread(ctx, in.ThreadID, c.agent())
	if err != nil {
		return nil, err
	}
	rows := make([]hub.Message, 0, len(got.Messages))
	for _, enc := range got.Messages {
		row, err := enc.Decode()
		if err != nil {
			return nil, hub.NewError(hub.CodeCorruptRecord, "a message cannot be read")
		}
		if row.ID > in.Cursor {
			rows = append(rows, row)
		}
	}
	tasks, claims := threadWork(&got)
	return c.fit(func(room int) *answer {
		t := shownThread{Thread: got.Thread}
		t.Tasks, _ = take(tasks, mostOfThread, room/5)
		t.Claims, _ = take(claims, mostOfThread, room/5)
		spare := room - 500 - size(t.Tasks) - size(t.Claims)
		t.Messages, _ = showMessages(rows, orDefault(in.Limit, 20), spare)
		t.Truncated = len(t.Messages) < len(rows)
		line := fmt.Sprintf("Thread %s, %s: %d messages. To add one: hub_post_message with this thread_id.",
			quoted(string(in.ThreadID), 60), got.Thread.Status, got.Thread.MessageCount)
		if t.Truncated {
			t.Cursor = t.Messages[len(t.Messages)-1].ID
			line = fmt.Sprintf("Thread %s: %d of its %d messages. More: hub_get_thread with cursor %d.",
				quoted(string(in.ThreadID), 60), len(t.Messages), got.Thread.MessageCount, t.Cursor)
		}
		if t.Earlier = int64(len(got.Messages)) < got.Thread.MessageCount; t.Earlier {
			line += fmt.Sprintf(" Earlier ones: hub_poll_messages with this thread_id, channel %s and since_id 0.", quoted(string(got.Thread.Channel), 60))
		}
		if n := got.Thread.OpenTaskCount; int64(len(t.Tasks)) < n {
			line += fmt.Sprintf(" All %d open tasks: hub_list_tasks with this thread_id.", n)
		}
		if n := got.Thread.ActiveClaimCount; int64(len(t.Claims)) < n {
			line += fmt.Sprintf(" Only %d of %d claims are shown.", len(t.Claims), n)
		}
		text := texts(t.Messages)
		if len(t.Tasks) > 0 || len(t.Claims) > 0 {
			text += openWork(&t)
		}
		return &answer{
			data: t, line: line, prose: true, text: text,
			untrusted: append(within("messages[].", ofPeers), "tasks[].title", "claims[].key"),
		}
	})
}

// openWork shows the open work of a thread.
func openWork(t *shownThread) string {
	list, err := lean(struct {
		Tasks  []shownTask  `json:"tasks,omitempty"`
		Claims []shownLease `json:"claims,omitempty"`
	}{t.Tasks, t.Claims})
	if err != nil {
		return ""
	}
	return string(peertext.ModelJSON(list))
}

func threadWork(t *hub.Thread) ([]shownTask, []shownLease) {
	tasks, claims := []shownTask{}, []shownLease{}
	for i := range t.Tasks {
		if !t.Tasks[i].Status.Terminal() {
			tasks = append(tasks, showTask(&t.Tasks[i]))
		}
	}
	for i := range t.Claims {
		if t.Claims[i].ReleasedAt == nil {
			claims = append(claims, showClaim(&t.Claims[i]))
		}
	}
	return tasks, claims
}
