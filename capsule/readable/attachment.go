package readable

import (
	"encoding/json"
	"fmt"
	"strings"

	"hubcli/hub"
)

// attachment appends what a message carries.
func (r *renderer) attachment(b *strings.Builder, a *hub.Attachment) {
	b.WriteString("\nAttached " + r.text(string(a.Type)))
	if a.Path != "" {
		b.WriteString(" " + r.text(a.Path))
	}
	switch {
	case a.EndLine > 0:
		fmt.Fprintf(b, ", lines %d to %d", a.StartLine, a.EndLine)
	case a.StartLine > 0:
		fmt.Fprintf(b, ", line %d", a.StartLine)
	}
	if a.Base != "" || a.Head != "" {
		b.WriteString(", from " + r.text(a.Base) + " to " + r.text(a.Head))
	}
	if a.Description != "" {
		b.WriteString(": " + r.text(a.Description))
	}
	b.WriteByte('\n')
	var text string
	isText := json.Unmarshal(a.Content, &text) == nil
	switch {
	case len(a.Content) == 0:
	case a.Type == hub.AttachmentText && isText:
		r.quote(b, text)
	case a.Type == hub.AttachmentCode && isText:
		code(b, a.Language, r.clean(text))
	default:
		code(b, "json", r.clean(string(a.Content)))
	}
}
