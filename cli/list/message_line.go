package list

import (
	"encoding/json"
	"fmt"
	"strings"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// MessageAbout says to what a message belongs; it may be empty.
func MessageAbout(m *hub.Message) string {
	var about []string
	if m.ThreadID != nil {
		about = append(about, "thread "+string(*m.ThreadID))
	}
	if m.ReplyTo != nil {
		about = append(about, fmt.Sprintf("reply to #%d", *m.ReplyTo))
	}
	if m.ParentTaskID != nil {
		about = append(about, fmt.Sprintf("under task %d", *m.ParentTaskID))
	}
	return strings.Join(about, ", ")
}

// AttachmentLine names an attachment.
func AttachmentLine(a *hub.Attachment) string {
	what := a.Path
	if what == "" {
		what = fmt.Sprintf("%d bytes of JSON", len(a.Content))
	}
	return fmt.Sprintf("%s: %s", a.Type, peertext.TerminalLine(what))
}

// PrintPosted says where the message went, whether its recipient would notice it, and whether
// its sender is muted.
// asked is the agent that the caller named.
func PrintPosted(env *term.Env, asked hub.AgentID, posted *hub.Posted, asJSON bool) error {
	if posted.Recipient != nil {
		env.Note("%s", posted.Recipient.Why())
	}
	if posted.Muted != nil {
		env.Note("%s", posted.Muted.Says())
	}
	if asJSON {
		return term.PrintLine(env.Stdout, json.RawMessage(posted.Row))
	}
	row, err := posted.Row.Decode()
	if err != nil {
		return opt.UnknownShape(err)
	}
	where := "to " + string(row.Channel)
	if row.ToAgent != nil {
		where = "to agent " + string(*row.ToAgent)
		if *row.ToAgent != asked {
			where += fmt.Sprintf(" (%s goes on under this name)", asked)
		}
	}
	opened := ""
	if row.Kind.OpensTask() {
		opened = fmt.Sprintf(", opened task %d", row.ID)
	}
	_, err = fmt.Fprintf(env.Stdout, "posted #%d %s%s\n", row.ID, peertext.TerminalLine(where), opened)
	return err
}
