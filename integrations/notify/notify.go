// Package notify tells a human of a question: it runs a program or posts to a webhook, as
// the operator has set it. No shell reads the program's arguments, and a webhook is on this
// machine unless the setting allows another one.
//
// A Notifier may be used from any goroutine. The package never repeats a notification,
// never follows a redirect, and keeps nothing.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// Runner starts processes and watches over them; see package integrations/spawn.
type Runner interface {
	Check(plan *hub.SpawnPlan) error
	Start(plan *hub.SpawnPlan, ended func(hub.SpawnEnd)) (hub.SpawnControl, error)
}

// Timeout bounds one program and one call of a webhook.
const Timeout = 10 * time.Second

// shownChars is how much of a question an argument holds.
const shownChars = 300

// Notifier sends notifications.
type Notifier struct {
	Runner Runner // nil: no program can be run
	// Dir is the folder in which programs start: one in which only this user writes,
	// since interpreters load files of the folder in which they start.
	Dir string
}

// Notify sends a notification by all ways of the setting and says what became of it.
func (n *Notifier) Notify(ctx context.Context, to hub.Notify, a hub.Ask) hub.Notified {
	var out hub.Notified
	if len(to.Command) > 0 {
		if err := n.run(ctx, to.Command, &a); err != nil {
			out.CommandError = err.Error()
		}
	}
	if to.Webhook != "" {
		if err := post(ctx, to, &a); err != nil {
			out.WebhookError = err.Error()
		}
	}
	return out
}

// desktop are the variables without which a program cannot show anything to a user.
var desktop = []string{"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY"}

// run runs the program and waits for its end.
func (n *Notifier) run(ctx context.Context, args []string, a *hub.Ask) error {
	if n.Runner == nil {
		return errors.New("this hub runs no programs")
	}
	values := valuesOf(a)
	plan := &hub.SpawnPlan{Args: Arguments(args, values), Env: desktop, Vars: map[string]string{}, Dir: n.Dir, Timeout: Timeout}
	for name, value := range values {
		plan.Vars["HUB_ASK_"+strings.ToUpper(name)] = value
	}
	if err := n.Runner.Check(plan); err != nil {
		return err
	}
	ends := make(chan hub.SpawnEnd, 1)
	control, err := n.Runner.Start(plan, func(end hub.SpawnEnd) { ends <- end })
	if err != nil {
		return err
	}
	select {
	case end := <-ends:
		return failure(&end)
	case <-ctx.Done():
		control.Stop("the hub stops")
		<-ends
		return context.Cause(ctx)
	}
}

// failure says how a program failed; nil: it did not.
func failure(end *hub.SpawnEnd) error {
	switch {
	case end.Stopped != "":
		return errors.New("the program was stopped: " + end.Stopped)
	case end.Signal != "":
		return errors.New("the program was ended by " + end.Signal)
	case end.ExitCode == nil:
		return errors.New("the program did not exit")
	case *end.ExitCode != 0:
		return fmt.Errorf("the program ended with exit code %d", *end.ExitCode)
	}
	return nil
}

// valuesOf are the texts of a question that arguments and variables may hold: on one
// line, short, and without characters that act on a terminal.
func valuesOf(a *hub.Ask) map[string]string {
	question := peertext.TerminalLine(a.Question)
	if utf8.RuneCountInString(question) > shownChars {
		question = string([]rune(question)[:shownChars-1]) + "…"
	}
	values := map[string]string{"id": string(a.AskID), "agent": string(a.AgentID), "question": question, "message": strconv.FormatInt(int64(a.MessageID), 10), "room": ""}
	if a.RoomID != nil {
		values["room"] = string(*a.RoomID)
	}
	return values
}

// Arguments replaces {id}, {agent}, {question}, {message} and {room} in all arguments but
// the first. A value is not expanded again. A value that would be an option gets a blank
// before it.
func Arguments(args []string, values map[string]string) []string {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	expand := strings.NewReplacer(pairs...)
	out := append([]string{}, args...)
	for i := 1; i < len(out); i++ {
		expanded := expand.Replace(out[i])
		if strings.HasPrefix(expanded, "-") && !strings.HasPrefix(out[i], "-") {
			expanded = " " + expanded
		}
		out[i] = expanded
	}
	return out
}

// post sends the question to the webhook.
func post(ctx context.Context, to hub.Notify, a *hub.Ask) error {
	body, err := json.Marshal(map[string]any{"ask": a})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Webhook, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "hubcli")
	transport := transportFor(to.Remote)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("the webhook cannot be reached: %w", err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 1<<16)
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("the webhook answered %s", answer.Status)
	}
	return nil
}

// transportFor makes connections to this machine alone, or to any. No proxy gets a
// question.
func transportFor(remote bool) *http.Transport {
	dialer := &net.Dialer{Timeout: Timeout}
	if !remote {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().Unmap().IsLoopback() {
				return fmt.Errorf("%s is not on this machine", address)
			}
			return nil
		}
	}
	return &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: Timeout, ResponseHeaderTimeout: Timeout}
}
