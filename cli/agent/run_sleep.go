package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/background"
	"hubcli/integrations/hook"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
	"hubcli/internal/process"
)

// sleepLabel is what the room shows of an agent whose session sleeps. The watch with this label is what
// senders are told of: the agent gets a message as it comes.
const sleepLabel = "sleeps: a message or a task for it starts it again"

// sleepAndWake keeps a session from start to start, until it is told to end or no start follows.
func (h *held) sleepAndWake(ctx context.Context, o *runOptions, start term.HarnessCommand) error {
	s := background.Sleeper{
		Every: h.env.ResumeEvery,
		Session: func(ctx context.Context, text string) (bool, error) {
			h.began = false
			if text == "" {
				err := h.session(ctx, o, start)
				return h.began, err
			}
			h.note.Starts++ // for the list, while it runs; asleep has the count
			err := h.again(ctx, o, start, text)
			return h.began, err
		},
		Asleep: h.asleep,
		Rest:   func(ctx context.Context, d time.Duration) error { return h.rest(ctx, o, d) },
		News:   func(ctx context.Context) (string, error) { return h.awaitNews(ctx, o) },
	}
	err := s.Keep(ctx)
	if errors.Is(err, background.ErrOver) {
		h.over(err)
	}
	return err
}

// say adds a line to what the session has said.
func (h *held) say(format string, args ...any) {
	fmt.Fprintln(h.log, peertext.TerminalLine(fmt.Sprintf(format, args...)))
}

// asleep notes that the session has ended and may be started again.
func (h *held) asleep(starts int, ended error) {
	h.say("[sleeps] %v; a message or a task for %s starts it again", ended, h.note.AgentID)
	h.note.Sleeping, h.note.Starts = true, starts
	h.note.Address, h.note.Secret = "", "" // nothing is there any more
	if err := h.notes.Store(h.note); err != nil {
		h.say("[hub] hubcli run --list does not show that it sleeps: %v", err)
	}
}

// over keeps for the list why the session is not started any more.
func (h *held) over(why error) {
	h.say("[ends] %v", why)
	h.note.Sleeping, h.note.Over = false, peertext.Excerpt(why.Error(), lastWords)
	if err := h.notes.Store(h.note); err == nil {
		h.noted = false // the list forgets it
	}
}

// again starts the harness with the same session and agent, and a text to begin with.
func (h *held) again(ctx context.Context, o *runOptions, start term.HarnessCommand, text string) error {
	h.say("[starts] %s", text)
	r := h.runner
	r.run.task = 0 // it has begun with that
	if err := r.run.takeUp(ctx, r.run.agent); err != nil {
		return err
	}
	if err := r.run.settle(ctx, o, r.room); err != nil {
		r.run.leave(ctx)
		return err
	}
	next := *o
	next.goOn, next.task, next.prompt = true, 0, text
	return h.session(ctx, &next, start)
}

// watcher is a watch of the agent's messages by this process. It survives a restart of the hub, and fails
// if another store has taken the place of the hub's.
func (h *held) watcher(o *runOptions, wait time.Duration) (*watcher, error) {
	w := newWatcher(h.env, &watchOptions{
		BaseURL: o.BaseURL, label: sleepLabel, timeout: wait,
		Agent: opt.Agent{ID: string(h.note.AgentID), Flag: &pflag.Flag{Name: "as"}}, room: list.RoomRef{Room: string(h.note.RoomID)},
	})
	if err := w.prepare(); err != nil {
		return nil, err
	}
	w.instance, w.away, w.skips = h.note.InstanceID, true, true
	return w, nil
}

// rest waits until the next start may come. It waits at the hub, so that senders learn that the agent gets
// what they send.
func (h *held) rest(ctx context.Context, o *runOptions, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	w, err := h.watcher(o, d)
	if err != nil {
		return err
	}
	defer w.hub.Close()
	w.query.After, w.begun = hub.MaxMessageID, true // nothing is unread behind it
	out, err := w.await(ctx)
	if out.Outcome == outcomeTimeout {
		return nil
	}
	return err
}

// awaitNews waits for what the agent was not told of, and names it as the text of a prompt.
func (h *held) awaitNews(ctx context.Context, o *runOptions) (string, error) {
	w, err := h.watcher(o, endless)
	if err != nil {
		return "", err
	}
	defer w.hub.Close()
	if _, err := w.await(ctx); err != nil {
		return "", err
	}
	w.bridged = true // it will be
	rows := w.last.Messages
	if h.news = w.last.HeadID; len(rows) > 0 && w.last.More == 0 {
		h.news = rows[len(rows)-1].ID
	}
	n := hook.News{Agent: h.note.AgentID, Rows: rows, More: w.last.More, Read: w.reading(), Now: hub.TimeOf(h.env.Now())}
	return n.Pointer(), nil
}

// told notes at the hub that the agent is told of what it is started for. If that fails, it is told once more.
func (h *held) told(ctx context.Context) {
	if h.news == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lastLook)
	defer cancel()
	_, _ = h.runner.client.Tell(ctx, hub.ToldInput{AgentID: h.note.AgentID, ToldID: h.news})
	h.news = 0
}

// claudeLooks is how often it is looked whether the process of a session of Claude Code runs.
const claudeLooks = time.Second

// keepClaude has Claude Code's daemon begin a session, and waits until no process works on it any more:
// its user has stopped it, or Claude Code has because it was idle.
func (h *held) keepClaude(ctx context.Context, o *runOptions, start term.HarnessCommand) error {
	c, session, err := h.runner.beginClaude(ctx, h.env, o, start.Args[0])
	if err != nil {
		return err
	}
	h.told(ctx)
	h.runner.run.known.Session = session.Session
	h.runner.run.remember(h.env)
	h.note.Address = session.ID
	if err := h.announce(session.Session); err != nil {
		_ = c.Stop(context.WithoutCancel(ctx), session.ID) // nobody would find it
		return err
	}
	for pid, began := keptBy(session); ; {
		if !pause.For(ctx, claudeLooks) {
			return h.leaveClaude(ctx, pid, began)
		}
		if now, ok := process.Look(pid); ok && now.Began == began {
			continue
		}
		row, err := c.Look(ctx, session.ID) // its daemon may have given it another process
		switch {
		case err != nil && ctx.Err() == nil:
			h.say("[hub] it is not known whether the session goes on: %v", err)
		case err == nil && row.PID == 0:
			h.runner.gone(ctx)
			return errors.New("no process of Claude Code works on the session any more")
		case err == nil:
			pid, began = keptBy(row)
		}
	}
}

// leaveClaude leaves a session to Claude Code's daemon, which keeps it without this process.
func (h *held) leaveClaude(ctx context.Context, pid int, began string) error {
	h.note.PID, h.note.Began, h.note.Resume = pid, began, false
	if err := h.notes.Store(h.note); err == nil {
		h.noted = false
	}
	return context.Cause(ctx)
}
