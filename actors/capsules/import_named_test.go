package capsules_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"hubcli/actors/capsules"
	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
)

// A text that names a message or a room of another hub does not come to name one of its own
// project: the import takes other numbers. So the project says the same when it is exported
// again, in which a number that had come to name something would be a reference.
func TestTextsKeepTheirMeaning(t *testing.T) {
	const n = 10   // messages of the capsule
	const far = 25 // so many times more numbers are named
	id := func(i int) string { return "r_" + strconv.FormatInt(int64(i), 36) }
	many := func(i int, name func(i int) string) string {
		var names []string
		for j := range far {
			names = append(names, name(i+j*n))
		}
		return strings.Join(names, " ")
	}
	for name, fill := range map[string]func(i int, m *capsule.Message){
		"messages":           func(i int, m *capsule.Message) { m.Body = fmt.Sprintf("see #%d", i) },
		"rooms":              func(i int, m *capsule.Message) { m.Body = "see " + id(i) },
		"many messages":      func(i int, m *capsule.Message) { m.Body = many(i, func(i int) string { return fmt.Sprintf("#%d", i) }) },
		"many rooms":         func(i int, m *capsule.Message) { m.Body = many(i, id) },
		"behind a line end":  func(i int, m *capsule.Message) { m.Metadata = fmt.Appendf(nil, `{"see":"this:\n#%d"}`, i) },
		"an id behind one":   func(i int, m *capsule.Message) { m.Metadata = fmt.Appendf(nil, `{"see":"this:\n%s"}`, id(i)) },
		"numbers of the hub": func(i int, m *capsule.Message) { m.Metadata = fmt.Appendf(nil, `{"task_completed":%d}`, i) },
		"attachments": func(i int, m *capsule.Message) {
			m.Attachments = []hub.Attachment{{Type: hub.AttachmentJSON, Content: fmt.Appendf(nil, `{"see":"this:\n#%d"}`, i)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHub(t)
			first := smallCapsuleOf(t, n, fill)
			p, err := imported(operator(t), verified(t, first), h.Hub)
			require.NoError(t, err)
			sameContent(t, first, written(t, h, capsules.Request{Project: p.ProjectID, Scope: capsule.ScopeComplete, Privacy: capsule.FullHistory, Operator: true}))
			posted, err := h.Hub.Post(operator(t), hub.PostInput{FromAgent: "eve", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: "next"})
			require.NoError(t, err)
			next, err := posted.Row.Decode()
			require.NoError(t, err)
			if next.ID > far*n+2*n+10 {
				t.Errorf("the next message has the number %d: more numbers were passed over than the texts name", next.ID)
			}
		})
	}
}
