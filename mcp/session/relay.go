package session

import (
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/pause"
)

// A session of Claude Code that takes the channel of the bridge also tells it of each permission prompt, and takes
// allow or deny for it as long as the prompt stands in its terminal. The bridge asks the operator in the place of the
// hook, by the same question of the inbox. If the hook of the session asks, the bridge does not: one prompt is one question.
//
// Claude Code does not say that its user has answered. The next sign of the session's work does: a turn that
// the hooks tell of, or a call of a tool. Then the question is withdrawn. It is also withdrawn with the end of the session.

// Of permission prompts that a channel relays.
const (
	maxRelayed    = 16                     // open at once
	maxRelayID    = 200                    // bytes of the harness's name of a prompt
	relayHook     = 2 * time.Second        // in which the hook of the same prompt has asked, if there is one: that is its time
	relayEarlier  = time.Second            // by how much it may have been earlier
	relayLook     = 100 * time.Millisecond // how often its question is looked for
	relaySign     = 250 * time.Millisecond // how often a sign that the prompt was answered is looked for
	relayMore     = 2 * time.Second        // for the hub, which ends the wait first
	relayQuestion = "/permission_request"  // behind the name of the channel: what the harness sends
	relayAnswer   = "/permission"          // and what it takes; also the capability
)

// relayed is a permission prompt as Claude Code sends it.
type relayed struct {
	ID          string `json:"request_id"`
	Tool        string `json:"tool_name"`
	Description string `json:"description"`
	Preview     string `json:"input_preview"` // of the tool's input, cut where it is long
}

// Relays returns the capability by which the harness session relays its permission prompts; empty: it takes no channel.
func (l *Link) Relays() string {
	if !l.TakesChannel() {
		return ""
	}
	return l.Harness().Facts().Channel + relayAnswer
}

// Heard takes a notification of the client, and reports whether it was a permission prompt.
func (l *Link) Heard(method string, params json.RawMessage) bool {
	if !l.TakesChannel() || method != "notifications/"+l.Harness().Facts().Channel+relayQuestion {
		return false
	}
	var r relayed
	if json.Unmarshal(params, &r) != nil || r.ID == "" || len(r.ID) > maxRelayID || hub.CheckName("tool", r.Tool, hub.MaxNameChars) != nil {
		l.log.Debug("a permission prompt is not readable")
		return true
	}
	if !l.relayBegins(r.ID) {
		l.log.Debug("a permission prompt comes twice, or too many are open")
		return true
	}
	l.work.Go(func() {
		defer l.relayEnds(r.ID)
		if err := l.relay(l.life, &r); err != nil && l.life.Err() == nil {
			l.log.Debug("the operator is not asked about a permission prompt", "error", err)
		}
	})
	return true
}

// relayBegins notes an open prompt; false: it is open already, or there are too many.
func (l *Link) relayBegins(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.relaying == nil {
		l.relaying = map[string]bool{}
	}
	if l.relaying[id] || len(l.relaying) >= maxRelayed {
		return false
	}
	l.relaying[id] = true
	return true
}

func (l *Link) relayEnds(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.relaying, id)
}

// ownsQuestion notes a question as one that the bridge has asked. Of the earlier ones it keeps as many as may be open.
func (l *Link) ownsQuestion(id *hub.AskID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id != nil {
		l.questions = append(l.questions[max(0, len(l.questions)-2*maxRelayed):], *id)
	}
}

func (l *Link) ownQuestion(id hub.AskID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.questions, id)
}

// relay asks the operator about a prompt, and tells the harness the answer.
func (l *Link) relay(ctx context.Context, r *relayed) error {
	came := l.Now()
	s, err := l.Session(ctx)
	if err != nil {
		return err
	}
	room, err := l.Home(ctx, s)
	if err != nil {
		return err
	}
	if asked, err := l.hookAsks(ctx, s, r, came); asked || err != nil {
		return err
	}
	judge := s.Client.Judge(func() (string, error) { return client.NotedToken(l.DataRoot, s.Client.BaseURL()) })
	p, err := judge.RequestPermission(ctx, r.input(s.Agent, room, l.project()))
	if err != nil {
		return err
	}
	l.ownsQuestion(p.AskID)
	if p.Verdict == hub.PermissionAsk && p.AskID != nil {
		wait, stop := l.whilePrompted(ctx, s, came)
		defer stop()
		limit, cancel := context.WithTimeout(wait, time.Duration(p.WaitSec)*time.Second+relayMore)
		defer cancel()
		if p, err = judge.AwaitPermission(limit, *p.AskID, hub.PermissionWaitInput{AgentID: s.Agent, WaitSec: float64(p.WaitSec)}); err != nil {
			return err
		}
	}
	switch p.Verdict { //nolint:exhaustive // the others decide nothing, and the harness's own prompt goes on
	case hub.PermissionAllow, hub.PermissionDeny:
		return l.Notify(ctx, "notifications/"+l.Harness().Facts().Channel+relayAnswer, map[string]string{"request_id": r.ID, "behavior": string(p.Verdict)})
	}
	return nil
}

// hookAsks waits until the hook of the same prompt has asked, as long as it may take. Where no hook tells of turns
// there is none.
func (l *Link) hookAsks(ctx context.Context, s *Session, r *relayed, came time.Time) (bool, error) {
	since := hub.TimeOf(came.Add(-relayEarlier))
	for {
		rows, _, err := s.Client.Asks(ctx, hub.AsksQuery{AgentID: s.Agent, Limit: maxRelayed})
		if err != nil {
			return false, err
		}
		for i := range rows {
			if p := rows[i].Permission; p != nil && p.Tool == r.Tool && rows[i].CreatedAt >= since && !l.ownQuestion(rows[i].AskID) {
				return true, nil
			}
		}
		a, err := s.Client.Attention(ctx, hub.AttentionQuery{Agent: s.Agent})
		if err != nil || a.Turn == hub.TurnUnknown || l.Now().Sub(came) >= relayHook {
			return false, err
		}
		if !pause.For(ctx, relayLook) {
			return false, context.Cause(ctx)
		}
	}
}

// whilePrompted returns a context that ends with a sign that the prompt was answered in the terminal: a tool that
// was called since, or a turn that goes on. What is done beside the prompt may end it early; then the terminal
// alone asks.
func (l *Link) whilePrompted(ctx context.Context, s *Session, came time.Time) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		for prompted := false; pause.For(ctx, relaySign); {
			if l.calledSince(came) {
				return
			}
			a, err := s.Client.Attention(ctx, hub.AttentionQuery{Agent: s.Agent})
			switch {
			case err != nil:
			case a.Turn == hub.TurnAtPrompt:
				prompted = true
			case prompted:
				return
			}
		}
	}()
	return ctx, cancel
}

func (l *Link) calledSince(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastCall.After(t)
}

// input is what the hub is asked. A preview may hide a part of the tool's input, so no rule allows by it; one that
// denies may.
func (r *relayed) input(agent hub.AgentID, room hub.RoomID, folder string) hub.PermissionInput {
	command := r.Preview
	var input struct {
		Command string `json:"command"`
	}
	if json.Unmarshal([]byte(r.Preview), &input) == nil && input.Command != "" {
		command = input.Command
	}
	if utf8.RuneCountInString(command) > hub.MaxPermissionCommand {
		command = string([]rune(command)[:hub.MaxPermissionCommand])
	}
	about := r.Preview
	if r.Description != "" && about != "" {
		about = r.Description + "\n" + about
	} else if about == "" {
		about = r.Description
	}
	return hub.PermissionInput{
		AgentID: agent, RoomID: room, Tool: r.Tool, Folder: folder, About: hook.ForEyes(about), Command: &command, Unclear: true,
	}
}
