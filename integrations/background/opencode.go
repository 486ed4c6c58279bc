package background

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hubcli/internal/peertext"
)

// OpenCodePassword is the variable with the password of a server of opencode, for the
// server and for what attaches.
const OpenCodePassword = "OPENCODE_SERVER_PASSWORD"

// openCodeUser is whom a server of opencode expects.
const openCodeUser = "opencode"

const (
	answerTime = 30 * time.Second
	maxAnswer  = 1 << 20 // bytes
)

// OpenCodeArgs are the arguments of a server at a free port of this machine.
func OpenCodeArgs() []string { return []string{"serve", "--hostname", "127.0.0.1", "--port", "0"} }

// OpenCodeAttach are the arguments with which a terminal shows a session.
func OpenCodeAttach(address, folder, session string) []string {
	return []string{"attach", address, "--dir", folder, "--session", session}
}

// OpenCodeAddress returns the address that a line of the server's output tells.
func OpenCodeAddress(line string) (address string, found bool) {
	const machine = "http://127.0.0.1:"
	_, address, _ = strings.Cut(strings.TrimSpace(line), "listening on ")
	port, local := strings.CutPrefix(address, machine)
	n, err := strconv.ParseUint(port, 10, 16)
	if !local || err != nil {
		return "", false
	}
	return machine + strconv.FormatUint(n, 10), true
}

// OpenCode is a client of a server.
type OpenCode struct{ Address, Password string }

// Begin makes a session, or looks for one that the server has kept. Then it has the server start
// its MCP servers, so that the agent is there before its first turn.
func (s *OpenCode) Begin(ctx context.Context, known string) (session string, err error) {
	var got struct {
		ID string `json:"id"`
	}
	if known == "" {
		err = s.call(ctx, http.MethodPost, "/session", struct{}{}, &got)
	} else {
		err = s.call(ctx, http.MethodGet, "/session/"+url.PathEscape(known), nil, &got)
	}
	if err == nil && got.ID == "" {
		err = errors.New("opencode has named no session")
	}
	if err != nil {
		return "", err
	}
	return got.ID, s.call(ctx, http.MethodGet, "/mcp", nil, nil)
}

// Prompt begins a turn with a text, and does not wait for its end.
func (s *OpenCode) Prompt(ctx context.Context, session, text string) error {
	type part struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	in := struct {
		Parts []part `json:"parts"`
	}{[]part{{"text", text}}}
	return s.call(ctx, http.MethodPost, "/session/"+url.PathEscape(session)+"/prompt_async", in, nil)
}

func (s *OpenCode) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.Address+path, body)
	if err != nil {
		return err
	}
	req.SetBasicAuth(openCodeUser, s.Password)
	req.Header.Set("Content-Type", "application/json")
	// No proxy, whatever the environment says: the password is for this machine.
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := direct.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return err
	case res.StatusCode/100 != 2:
		return fmt.Errorf("opencode answers %s to %s %s: %s", res.Status, method, path, peertext.Excerpt(string(text), said))
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("opencode answers %s %s with what is no JSON: %w", method, path, err)
	}
	return nil
}
