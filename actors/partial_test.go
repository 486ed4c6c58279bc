package actors

import (
	"encoding/json"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestExcerptSaysWhetherItIsAll: a row of an unread message says so if the message has more than its
// excerpt: more text, several lines or an attachment.
func TestExcerptSaysWhetherItIsAll(t *testing.T) {
	r := start(t, newMemStore())
	defer func() { r.stop() }()
	long := make([]byte, 500)
	for i := range long {
		long[i] = 'a'
	}
	posts := []struct {
		in      hub.PostInput
		partial bool
	}{
		{hub.PostInput{Body: " as it is\n"}, false},
		{hub.PostInput{Body: "two\nlines"}, true},
		{hub.PostInput{Body: string(long)}, true},
		{hub.PostInput{Body: "see", Attachments: []hub.Attachment{{Type: hub.AttachmentText, Content: json.RawMessage(`"x"`)}}}, true},
	}
	for i := range posts {
		posts[i].in.FromAgent, posts[i].in.ToAgent = "ann", "ben"
		r.post(posts[i].in)
	}
	a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ben"})
	require.NoError(t, err)
	if len(a.Directed) != len(posts) {
		t.Fatalf("unread are %+v", a.Directed)
	}
	for i, row := range a.Directed {
		if row.Partial != posts[i].partial {
			t.Errorf("of %q the row says %v: %q", posts[i].in.Body, row.Partial, row.Excerpt)
		}
	}
}
