package hub

import "context"

// Notify says how the operator is told of a new question: by a program, by a webhook, by
// both or not at all. The initial setting is not at all.
type Notify struct {
	// The absolute path of a program and its arguments; empty: none. In the arguments {id}, {agent}, {question},
	// {message} and {room} stand for those of the question.
	Command []string `json:"command" bounds:"..64 items"`
	Webhook string   `json:"webhook" bounds:"..2000 runes"` // A URL that takes a POST of {"ask": …}; empty: none.
	Remote  bool     `json:"remote"`                        // The webhook may be on another machine.
	Version int64    `json:"version" bounds:"0.."`          // Rises with every change.
	// Why the latest notification of this run of the hub failed; empty: it did not.
	LastError string `json:"last_error"`
}

// NotifyInput replaces the setting. Its version is that of the setting it was derived
// from.
type NotifyInput struct {
	Command []string `json:"command,omitempty" bounds:"..MaxNotifyArgs items; each ..MaxNotifyArgBytes runes"`
	Webhook string   `json:"webhook,omitempty" bounds:"..MaxWebhookBytes runes"`
	Remote  bool     `json:"remote,omitempty"`
	Version int64    `json:"version" bounds:"0.."` // Of the setting that this one was made from.
}

// Notified says what became of a notification. Empty texts mean that it arrived, or that
// nothing is set.
type Notified struct {
	CommandError string `json:"command_error"` // Empty: it ended with exit code 0, or none is set.
	WebhookError string `json:"webhook_error"` // Empty: it answered 2xx, or none is set.
}

// Failed returns the texts as one; empty: nothing has failed.
func (n Notified) Failed() string {
	switch {
	case n.CommandError != "" && n.WebhookError != "":
		return n.CommandError + "; " + n.WebhookError
	case n.CommandError != "":
		return n.CommandError
	}
	return n.WebhookError
}

// Limits of the setting.
const (
	MaxNotifyArgs     = 64
	MaxNotifyArgBytes = 4_000
	MaxWebhookBytes   = 2_000
)

// Notifications tell the operator of questions. All calls are the operator's.
type Notifications interface {
	// Notify returns the setting.
	Notify(ctx context.Context) (Notify, error)
	// SetNotify replaces the setting. Errors: version_conflict.
	SetNotify(ctx context.Context, in NotifyInput) (Outcome[Notify], error)
	// TestNotify sends a notification of a made-up question and says what became of it.
	TestNotify(ctx context.Context) (Notified, error)
}
