package damage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// outcome is how a damage ended.
type outcome string

const (
	whole   outcome = "whole"
	told    outcome = "answered corrupt_record" // by the calls that meet the damage
	refused outcome = "refused"
)

// The exit codes of a hub that refuses its store, or a folder that has lost its marker.
const (
	exitStore = 70
	exitUsage = 2
)

// judge starts a hub on a damaged store. An error says what must not be.
func (r *run) judge(ctx context.Context, store string) (outcome, error) {
	p, err := r.exe.Start(ctx, store)
	if err != nil {
		return refused, r.refusal(ctx, store, err)
	}
	err = r.work.Verify(ctx, p.Addr)
	output := p.Output()
	p.Kill()
	switch {
	case strings.Contains(output, "panic:") || strings.Contains(output, "SIGBUS"):
		return "", fmt.Errorf("the hub panicked:\n%s", output)
	case err == nil:
		return whole, nil
	case strings.Contains(err.Error(), `"corrupt_record"`):
		return told, nil
	}
	return "", fmt.Errorf("another history: %w", err)
}

// refusal looks at how a hub refuses a store, and starts it once more.
func (r *run) refusal(ctx context.Context, store string, first error) error {
	_, second := r.exe.Start(ctx, store)
	if second == nil {
		return fmt.Errorf("refused once, then started: %w", first)
	}
	for _, err := range []error{first, second} {
		var exit *exec.ExitError
		text := err.Error()
		switch {
		case !errors.As(err, &exit) || exit.ExitCode() != exitStore && exit.ExitCode() != exitUsage:
			return fmt.Errorf("the hub ended otherwise than by refusing: %w", err)
		case strings.Contains(text, "panic:") || strings.Contains(text, "goroutine "):
			return fmt.Errorf("the hub panicked: %w", err)
		case !strings.Contains(text, "hubcli: ") || !strings.Contains(text, "fix: "):
			return fmt.Errorf("the refusal has no reason or no way out: %w", err)
		}
	}
	return nil
}

// hubcli runs a command of the executable.
func (r *run) hubcli(ctx context.Context, args ...string) (stdout []byte, code int, err error) {
	cmd := exec.CommandContext(ctx, r.exe.Path, args...)
	cmd.Env = append(os.Environ(), "HUB_DATA_ROOT="+r.dir, "HUB_BASE_URL=http://127.0.0.1:1")
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	if strings.Contains(text.String(), "goroutine ") {
		err = fmt.Errorf("hubcli %s panicked:\n%s", strings.Join(args, " "), text.String())
	}
	if err == nil && code != 0 && out.Len() == 0 {
		err = fmt.Errorf("hubcli %s ended with %d: %s", strings.Join(args, " "), code, text.String())
	}
	return out.Bytes(), code, err
}

// salvage asks the doctor about a damaged store, makes a new one of it, and compares
// that with what the agents were told.
// Where the file that names the maker is damaged, the store has to be taken over.
func (r *run) salvage(ctx context.Context, store, before string, adopt bool) error {
	out, _, err := r.hubcli(ctx, "app", "doctor", "--storage", store)
	if err != nil {
		return err
	}
	named := false
	for line := range strings.Lines(string(out)) {
		bad := strings.HasPrefix(line, "fail  store") || strings.HasPrefix(line, "warn  store")
		named = named || bad && strings.Contains(line, "| fix: ")
	}
	if !named {
		return fmt.Errorf("the doctor names nothing:\n%s", out)
	}
	to := r.path("salvaged")
	args := []string{"app", "doctor", "--storage", store, "--salvage", to, "--json"}
	if adopt {
		args = append(args, "--adopt")
	}
	out, code, err := r.hubcli(ctx, args...)
	if err != nil || code != 0 {
		return fmt.Errorf("the salvage ended with %d: %w\n%s", code, err, out)
	}
	after, err := listing(store)
	if err != nil {
		return err
	}
	if after != before {
		return errors.New("the damaged store was changed")
	}
	var made struct {
		Message int64 `json:"message"`
		Lost    []struct {
			First int64 `json:"first"`
			Last  int64 `json:"last"`
		} `json:"lost_message_ids"`
	}
	if err := json.Unmarshal(out, &made); err != nil {
		return err
	}
	listed := func(id int64) bool {
		for _, l := range made.Lost {
			if id >= l.First && id <= l.Last {
				return true
			}
		}
		return false
	}
	p, err := r.exe.Start(ctx, to)
	if err != nil {
		return fmt.Errorf("the salvaged store does not start: %w", err)
	}
	defer p.Kill()
	there, err := r.work.Feed(ctx, p.Addr)
	if err != nil {
		return fmt.Errorf("reading the salvaged store: %w", err)
	}
	known := r.work.Bodies()
	for id, body := range there {
		if known[id] != body {
			return fmt.Errorf("message %d of the salvaged store is %q, it was %q", id, body, known[id])
		}
	}
	for id := range known {
		if _, ok := there[id]; !ok && !listed(id) && id <= made.Message {
			return fmt.Errorf("message %d is neither in the salvaged store nor listed", id)
		} else if !ok {
			r.summary.Missing++
		}
	}
	r.summary.Salvaged++
	p.Kill() // it may be writing its index
	return os.RemoveAll(to)
}
