package person

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// everything is the tail that leaves nothing out.
const everything = -1

// awayPause is the time between two calls to a hub that is away.
const awayPause = time.Second

// spectatorLog reads messages for a person and prints them.
type spectatorLog struct {
	options *logOptions
	env     *term.Env
	client  *client.Client
	query   hub.LogQuery
	tail    int // only the last ones; everything: all
	printed int
	rooms   list.RoomNames
}

// run prints what there is, and what comes if it is to follow. An interrupted follower
// has done its work.
func (l *spectatorLog) run(ctx context.Context) error {
	c, err := l.options.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if l.query.RoomID, err = l.options.OnlyRoom(ctx, c); err != nil {
		return err
	}
	if l.client = c; l.query.Direct {
		l.client = c.AsOperator()
	}
	info, err := l.client.Info(ctx)
	if err != nil {
		return err
	}
	if err := l.history(ctx); err != nil {
		return list.UnknownChannel(ctx, l.client, l.query.Channel, err)
	}
	if err := l.remark(ctx); err != nil {
		return err
	}
	switch {
	case l.options.follow:
		err = l.follow(ctx, info.InstanceID)
		if ctx.Err() != nil {
			return nil
		}
	case l.options.json && l.printed == 0:
		_, err = io.WriteString(l.env.Stdout, "[]\n")
	case l.options.json:
		_, err = io.WriteString(l.env.Stdout, "\n]\n")
	}
	return err
}

// remark says that there is no message, and why there may be no message: a name that nobody has, or the channel of
// direct messages.
func (l *spectatorLog) remark(ctx context.Context) error {
	if l.query.Channel == hub.DirectChannel {
		l.env.Note("direct messages are in no channel; show them with: hubcli log --direct")
	}
	if l.printed > 0 {
		return nil
	}
	if !l.options.json && !l.options.follow {
		none := "there is no such message"
		if l.query == (hub.LogQuery{SinceID: l.query.SinceID, Direct: l.query.Direct}) {
			if none = "nothing was posted to a channel yet; --direct shows direct messages"; l.query.Direct {
				none = "nothing was posted yet"
			}
		}
		l.env.Note("%s", none)
	}
	thread, err := list.UnknownThread(ctx, l.client, l.query.ThreadID)
	if err != nil {
		return err
	}
	agent, err := list.UnknownAgent(ctx, l.client, l.query.Agent)
	for _, unknown := range []string{thread, agent} {
		if unknown != "" {
			l.env.Note("%s", unknown)
		}
	}
	return err
}

// history prints what there is.
func (l *spectatorLog) history(ctx context.Context) error {
	if l.tail >= 0 && l.tail <= hub.MaxPageRows && l.query.Since == 0 {
		return l.latest(ctx)
	}
	rows, upto, err := l.forward(ctx, l.query, l.tail)
	if err != nil {
		return err
	}
	l.query.SinceID = upto
	return l.print(ctx, rows)
}

// latest prints the last messages. It reads backward. An answer with fewer of them than were
// asked for is no proof that there are no others, and neither is one without any: then those
// that are missing are looked for from the first message on.
func (l *spectatorLog) latest(ctx context.Context) error {
	var last []hub.EncodedMessage
	q := l.query
	for begun := false; ; begun = true {
		q.Tail, q.Limit = true, max(l.tail-len(last), 1)
		page, err := l.client.Log(ctx, q)
		if err != nil {
			return err
		}
		if !begun {
			l.query.SinceID, q.BeforeID = page.NextSinceID, page.NextSinceID+1
		}
		if last = append(page.Rows, last...); len(last) >= l.tail {
			break
		}
		if len(page.Rows) > 0 {
			first, err := page.Rows[0].Decode()
			if err != nil {
				return opt.UnknownShape(err)
			}
			q.BeforeID = first.ID
		}
		if q.BeforeID <= 1 {
			break
		}
		if len(page.Rows) == 0 {
			q.Tail = false
			older, _, err := l.forward(ctx, q, l.tail-len(last))
			if err != nil {
				return err
			}
			last = append(older, last...)
			break
		}
	}
	return l.print(ctx, last[max(0, len(last)-l.tail):])
}

// forward reads all messages of a query and returns the last ones, as many as are wanted,
// and the id up to which it has read. Where everything is wanted it prints them.
func (l *spectatorLog) forward(ctx context.Context, q hub.LogQuery, wanted int) (last []hub.EncodedMessage, upto hub.MessageID, err error) {
	for q.Limit = hub.MaxPageRows; ; {
		page, err := l.client.Log(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		if wanted == everything {
			if err := l.print(ctx, page.Rows); err != nil {
				return nil, 0, err
			}
		} else {
			last = append(last, page.Rows...)
			last = last[max(0, len(last)-wanted):]
		}
		if page.NextSinceID <= q.SinceID {
			return last, q.SinceID, nil
		}
		q.SinceID, q.Since = page.NextSinceID, 0
	}
}

// follow prints new messages until ctx ends. While the hub is away it waits for it. It
// fails if another hub answers, because that has other messages.
func (l *spectatorLog) follow(ctx context.Context, instance hub.InstanceID) error {
	q := l.query
	q.Since, q.Wait, q.Limit = 0, hub.MaxPollWait, hub.MaxPageRows
	away := false
	for {
		began := l.env.Now()
		page, err := l.client.Log(ctx, q)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !passes(err):
			return err
		case err != nil:
			if !away {
				l.env.Note("%s; waiting for the hub", err)
			}
			away = true
			pause.For(ctx, awayPause)
			continue
		case away:
			if err := l.sameHub(ctx, instance); err != nil {
				return err
			}
			away = false
		}
		if err := l.print(ctx, page.Rows); err != nil {
			return err
		}
		q.SinceID = max(q.SinceID, page.NextSinceID)
		if len(page.Rows) == 0 && l.env.Now().Sub(began) < awayPause { // the hub ends
			pause.For(ctx, awayPause)
		}
	}
}

// passes reports whether an error of the hub may pass by itself.
func passes(err error) bool {
	var h *hub.Error
	return term.ExitOf(err) == term.ExitUnreachable || errors.As(err, &h) && (h.RetryAfter > 0 || hub.InfoOf(h.Code).Repeat == hub.RepeatAlways)
}

func (l *spectatorLog) sameHub(ctx context.Context, instance hub.InstanceID) error {
	info, err := l.client.Info(ctx)
	if err != nil || info.InstanceID == instance {
		return err
	}
	return term.Fail(term.ExitRefused, "begin again to see what that one has", "another store is served at %s now", l.client.BaseURL())
}

// print writes messages in the form that was asked for.
func (l *spectatorLog) print(ctx context.Context, rows []hub.EncodedMessage) error {
	s := l.env.Screen(l.options.color)
	for _, row := range rows {
		if err := l.printOne(ctx, row, s); err != nil {
			return err
		}
		l.printed++
	}
	return nil
}

func (l *spectatorLog) printOne(ctx context.Context, row hub.EncodedMessage, s term.Screen) error {
	switch {
	case l.options.json && l.options.follow:
		return term.PrintLine(l.env.Stdout, json.RawMessage(row))
	case l.options.json:
		before := "[\n"
		if l.printed > 0 {
			before = ",\n"
		}
		_, err := fmt.Fprintf(l.env.Stdout, "%s%s", before, term.VisibleJSON(row))
		return err
	}
	m, err := row.Decode()
	if err != nil {
		return opt.UnknownShape(err)
	}
	place := l.place(ctx, m.Channel)
	text := messageLine(&m, place, l.env.Now().Local(), s)
	if l.options.full {
		text = messageText(&m, place, l.env.Now().Local(), s)
	}
	_, err = fmt.Fprintln(l.env.Stdout, text)
	return err
}

// place says where a message was said: in a room, by its name, or in a #channel. A room
// that is not known is new, so the names are read again. Without them the channel is
// shown: that is no reason to stop.
func (l *spectatorLog) place(ctx context.Context, channel hub.ChannelName) string {
	room, ok := channel.Room()
	if ok && l.rooms[room] == "" {
		if names, err := (&list.Spectator{Client: l.client, Env: l.env}).RoomNames(ctx); err == nil {
			l.rooms = names
		}
	}
	return cmp.Or(l.rooms[room], "#"+string(channel))
}

// messageHead is what stands before the text of a message.
func messageHead(m *hub.Message, place string, now time.Time, s term.Screen) string {
	at := m.TS.Std().In(now.Location())
	layout := time.TimeOnly
	if at.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = time.DateTime
	}
	between := string(m.FromAgent)
	if m.ToAgent != nil {
		between += " → " + string(*m.ToAgent)
	}
	color := term.SGRBold
	if m.Authority == hub.AuthorityOperator {
		color = term.SGRBold + term.SGRYellow
	}
	return fmt.Sprintf("%s %s %s  %s", s.Paint(at.Format(layout), term.SGRDim), s.Paint(term.OneLine(place), term.SGRCyan),
		s.Paint(term.OneLine(between), color), s.Paint(fmt.Sprintf("[%s #%d]", term.OneLine(string(m.Kind)), m.ID), term.SGRDim))
}

// messageLine is a message on one line, which a screen may cut.
func messageLine(m *hub.Message, place string, now time.Time, s term.Screen) string {
	text := peertext.TerminalLine(strings.TrimSpace(m.Body))
	if n := len(m.Attachments); n > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s (+%d attached)", text, n))
	}
	return s.Cut(messageHead(m, place, now, s) + " " + strings.ReplaceAll(text, "\t", " "))
}

// messageText is a whole message. Lines after the first are indented, so that no body
// can look like another message.
func messageText(m *hub.Message, place string, now time.Time, s term.Screen) string {
	const indent = "\n    "
	text := messageHead(m, place, now, s)
	if about := list.MessageAbout(m); about != "" {
		text += " (" + peertext.TerminalLine(about) + ")"
	}
	text += " " + strings.ReplaceAll(peertext.Terminal(strings.TrimRight(m.Body, "\n")), "\n", indent)
	for _, a := range m.Attachments {
		text += indent + "+ " + list.AttachmentLine(&a)
	}
	return text
}
