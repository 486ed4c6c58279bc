package hub

import "context"

// Notify says how the operator is told of a new question: by a program, by a webhook, by
// both or not at all. The initial setting is not at all.
type Notify struct {
	Command   []string `json:"command"`    // an argument list, never a line for a shell; the first is the absolute path of an executable
	Webhook   string   `json:"webhook"`    // a URL that takes a POST; empty: none
	Remote    bool     `json:"remote"`     // the webhook may be on another machine
	Version   int64    `json:"version"`    // rises with every change
	LastError string   `json:"last_error"` // why the latest notification failed; empty: it did not
}

// NotifyInput replaces the setting. Its version is that of the setting it was derived
// from.
type NotifyInput struct {
	Command []string `json:"command,omitempty"`
	Webhook string   `json:"webhook,omitempty"`
	Remote  bool     `json:"remote,omitempty"`
	Version int64    `json:"version"`
}

// Notified says what became of a notification. Empty texts mean that it arrived, or that
// nothing is set.
type Notified struct {
	CommandError string `json:"command_error"`
	WebhookError string `json:"webhook_error"`
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
