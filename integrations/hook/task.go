package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"hubcli/hub"
)

// EnvMirrorTasks is the variable by which the user of a harness has the tasks of the harness's own list
// stand among those of the room too, if it is 1.
const EnvMirrorTasks = "HUB_MIRROR_TASKS"

// Limits of a mirrored task, in characters.
const (
	maxTaskSubject = 200
	maxTaskText    = 2_000
)

// OwnTask is a task of a harness's own list.
type OwnTask struct {
	ID      string // the harness's name for it, within the session
	Subject string
	Text    string // what is to be done; may be empty
}

// ownTask reads the task that an event is about.
func (f fields) ownTask() OwnTask {
	return OwnTask{
		ID:      clip(f.text("task_id", "taskId"), maxSessionText),
		Subject: clip(f.text("task_subject"), maxTaskSubject),
		Text:    clip(f.text("task_description"), maxTaskText),
	}
}

// mirrors connects to the hub if the event's task is to stand in the room too, and returns the agent, its
// room and the thread that names the task.
func (r *run) mirrors(ctx context.Context) (id hub.AgentID, room *hub.Room, thread hub.ThreadID, err error) {
	if r.Getenv(EnvMirrorTasks) != "1" {
		return "", nil, "", quiet(EnvMirrorTasks + " is not 1: tasks of the harness's own list stay there")
	}
	if r.payload.Task.ID == "" || r.payload.Task.Subject == "" {
		return "", nil, "", quiet("the event names no task")
	}
	id, saved, err := r.known()
	if err != nil {
		return "", nil, "", err
	}
	if room, err = r.room(ctx, id, saved); err != nil {
		return "", nil, "", err
	}
	if room == nil {
		return "", nil, "", quiet("the agent is in no room")
	}
	sum := sha256.Sum256([]byte(r.payload.SessionID + "\x00" + r.payload.Task.ID))
	return id, room, hub.ThreadID("own-task-" + hex.EncodeToString(sum[:6])), nil
}

// mirrored returns the task of the room that stands for that of the event; 0: there is none.
func (r *run) mirrored(ctx context.Context, id hub.AgentID, thread hub.ThreadID) (hub.TaskID, error) {
	rows, _, err := r.hub.Tasks(ctx, hub.TasksQuery{ThreadID: thread, CreatedBy: id, Viewer: id, Active: true, Limit: 1})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0].TaskID, nil
}

// taskCreated puts a new task of the harness's own list among those of the room. It is the agent's from the
// beginning, so that nobody else takes it.
func (r *run) taskCreated(ctx context.Context) error {
	id, room, thread, err := r.mirrors(ctx)
	if err != nil {
		return err
	}
	if task, err := r.mirrored(ctx, id, thread); err != nil || task != 0 {
		return err // the harness tells of it once more
	}
	body := r.payload.Task.Subject
	if text := strings.TrimSpace(r.payload.Task.Text); text != "" {
		body += "\n\n" + text
	}
	row, err := r.hub.Post(ctx, hub.PostInput{FromAgent: id, Channel: room.Channel, Kind: hub.KindTask, Body: body, ThreadID: thread})
	if err != nil {
		return err
	}
	m, err := row.Row.Decode()
	if err != nil {
		return err
	}
	_, err = r.hub.UpdateTask(ctx, m.ID, hub.TaskUpdateInput{AgentID: id, Assignee: &id})
	return err
}

// taskCompleted ends the task of the room that stands for one of the harness's own list.
func (r *run) taskCompleted(ctx context.Context) error {
	id, _, thread, err := r.mirrors(ctx)
	if err != nil {
		return err
	}
	task, err := r.mirrored(ctx, id, thread)
	if err != nil || task == 0 {
		return err
	}
	_, err = r.hub.CompleteTask(ctx, task, hub.CompleteInput{AgentID: id, Release: true})
	return err
}
