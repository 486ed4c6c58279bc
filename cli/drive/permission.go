package drive

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/integrations/acp"
	"hubcli/internal/peertext"
)

// prompt is an open permission prompt at the terminal.
type prompt struct {
	question *acp.Question
	answered chan string // takes the id of an option; capacity 1
}

// Bounds of a permission prompt.
const (
	maxLines = 20  // of a diff at the terminal
	waitMore = 2.0 // seconds for the hub, which ends the wait first
)

// ask decides about a permission prompt: one at a time, and the first answer counts.
func (d *Driver) ask(ctx context.Context, q acp.Question) (option string, chosen bool) {
	d.mu.Lock()
	turn := d.current
	d.mu.Unlock()
	if turn != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(turn, cancel)()
	}
	select {
	case d.asking <- struct{}{}:
		defer func() { <-d.asking }()
	case <-ctx.Done():
		return "", false
	}
	p, err := d.Hub.RequestPermission(ctx, d.input(&q))
	if err != nil {
		p = hub.Permission{}
	}
	if id, chosen, decided := d.verdict(&q, p); decided {
		return id, chosen
	}
	d.note(ctx, hub.TurnInput{AgentID: d.Agent, Turn: hub.TurnAtPrompt, Tool: toolOf(&q)})
	defer d.note(context.WithoutCancel(ctx), hub.TurnInput{AgentID: d.Agent, Turn: hub.TurnWorking})
	return d.open(ctx, &q, p)
}

// open waits for the first answer: of the operator, or of the person at the terminal.
func (d *Driver) open(ctx context.Context, q *acp.Question, p hub.Permission) (option string, chosen bool) {
	wait, stop := context.WithCancel(ctx)
	defer stop() // withdraws the question from the inbox
	inbox := make(chan hub.Permission, 1)
	if p.Verdict == hub.PermissionAsk && p.AskID != nil {
		go func() {
			limit, cancel := context.WithTimeout(wait, time.Duration((float64(p.WaitSec)+waitMore)*float64(time.Second)))
			defer cancel()
			got, err := d.Hub.AwaitPermission(limit, *p.AskID, hub.PermissionWaitInput{AgentID: d.Agent, WaitSec: float64(p.WaitSec)})
			if err != nil {
				got = hub.Permission{}
			}
			inbox <- got
		}()
	} else if !d.attended() {
		d.out.say("[refused: %s] nobody is here to answer; to be asked in the inbox: hubcli app permissions on", title(q))
		return q.Choice(acp.RejectOnce)
	}
	var typed chan string
	if d.attended() {
		typed = d.show(q)
		defer d.hide()
	} else {
		d.out.say("[asks the operator: %s] hubcli inbox shows the question", title(q))
	}
	for {
		select {
		case id := <-typed:
			return id, true
		case got := <-inbox:
			if id, chosen, decided := d.verdict(q, got); decided {
				return id, chosen
			}
			if !d.attended() {
				d.out.say("[refused: %s] nobody has answered in time", title(q))
				return q.Choice(acp.RejectOnce)
			}
			inbox = nil // the person at the terminal goes on being asked
		case <-ctx.Done():
			return "", false
		}
	}
}

// verdict is the option for what the hub has decided. It never is one that lasts.
func (d *Driver) verdict(q *acp.Question, p hub.Permission) (option string, chosen, decided bool) {
	by := ""
	if p.By != "" {
		by = " by " + peertext.Excerpt(p.By, maxStep)
	}
	switch p.Verdict { //nolint:exhaustive // the others decide nothing
	case hub.PermissionAllow:
		option, chosen = q.Choice(acp.AllowOnce)
		if !chosen {
			d.out.say("[allowed%s, but the program offers no way to allow it once: %s]", by, title(q))
			return "", false, false
		}
		d.out.say("[allowed%s: %s]", by, title(q))
	case hub.PermissionDeny:
		option, chosen = q.Choice(acp.RejectOnce)
		d.out.say("[refused%s: %s]", by, title(q))
	default:
		return "", false, false
	}
	return option, chosen, true
}

// show asks the person at the terminal.
func (d *Driver) show(q *acp.Question) chan string {
	p := &prompt{q, make(chan string, 1)}
	d.out.say("[may it run?] %s: %s", toolOf(q), title(q))
	if len(q.Tool.Input) > 0 { // the title is the harness's own words
		d.out.say("  %s", peertext.Excerpt(string(q.Tool.Input), maxTitle))
	}
	for _, path := range q.Tool.Paths[:min(len(q.Tool.Paths), maxLines)] {
		d.out.say("  %s", peertext.TerminalLine(path))
	}
	for _, diff := range q.Tool.Diffs {
		d.out.say("%s", lines(&diff))
	}
	for i, o := range q.Options {
		d.out.say("  %d  %s: %s", i+1, meaning(o.Kind), peertext.Excerpt(o.Name, maxStep))
	}
	d.out.mark("y, n or a number: ")
	d.mu.Lock()
	d.prompt = p
	d.mu.Unlock()
	return p.answered
}

// meaning says what an option does. Its name is the harness's own words, and may say another thing.
func meaning(kind acp.OptionKind) string {
	switch kind {
	case acp.AllowOnce:
		return "allow once"
	case acp.AllowAlways:
		return "allow always"
	case acp.RejectOnce:
		return "reject once"
	case acp.RejectAlways:
		return "reject always"
	}
	return "unknown"
}

func (d *Driver) hide() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.prompt = nil
}

// answer takes a typed line as the answer to the open permission prompt, if there is one.
func (d *Driver) answer(line string) bool {
	d.mu.Lock()
	p := d.prompt
	d.mu.Unlock()
	if p == nil {
		return false
	}
	id, ok := "", false
	switch n, err := strconv.Atoi(line); {
	case err == nil && n > 0 && n <= len(p.question.Options):
		id, ok = p.question.Options[n-1].ID, true
	case slices.Contains([]string{"y", "yes"}, strings.ToLower(line)):
		id, ok = p.question.Choice(acp.AllowOnce)
	case slices.Contains([]string{"n", "no"}, strings.ToLower(line)):
		id, ok = p.question.Choice(acp.RejectOnce)
	}
	if !ok {
		d.out.mark("y, n or a number: ")
		return true
	}
	select {
	case p.answered <- id:
	default: // it is answered
	}
	return true
}

// input is what the hub is asked. The protocol names a kind of tool, not its name in the
// harness, and says little of its input: no rule for a command or a file allows it.
func (d *Driver) input(q *acp.Question) hub.PermissionInput {
	in := hub.PermissionInput{AgentID: d.Agent, RoomID: d.Room, Tool: toolOf(q), Folder: d.Folder, Unclear: true}
	about := []string{q.Tool.Title}
	if len(q.Tool.Input) > 0 {
		about = append(about, string(q.Tool.Input))
	}
	for _, diff := range q.Tool.Diffs {
		about = append(about, lines(&diff))
	}
	in.About = d.About(strings.Join(about, "\n"))
	for _, path := range q.Tool.Paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.Folder, path)
		}
		if path = filepath.Clean(path); len(in.Files) < hub.MaxPermissionFiles && !slices.Contains(in.Files, path) && hub.CheckName("file_path", path, hub.MaxFilePathChars) == nil {
			in.Files = append(in.Files, path)
		}
	}
	return in
}

// toolOf is the kind of the tool, by which rules name it.
func toolOf(q *acp.Question) string {
	kind := peertext.Excerpt(q.Tool.Kind, 50)
	if kind == "" || hub.CheckName("tool", kind, 50) != nil {
		return "other"
	}
	return kind
}

func title(q *acp.Question) string {
	if t := peertext.Excerpt(q.Tool.Title, maxTitle); t != "" {
		return t
	}
	return "a tool without a name"
}

// lines shows a change in a few lines.
func lines(diff *acp.Diff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  change of %s", peertext.TerminalLine(diff.Path))
	n := 0
	for _, side := range []struct{ sign, text string }{{"-", diff.Old}, {"+", diff.New}} {
		for line := range strings.Lines(side.text) {
			if n++; n > maxLines {
				b.WriteString("\n  … more follows")
				return b.String()
			}
			fmt.Fprintf(&b, "\n  %s %s", side.sign, peertext.Excerpt(line, maxStep))
		}
	}
	return b.String()
}
