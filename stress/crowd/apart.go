package crowd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Command is the first argument of the program when it is the pair of a run. The pair is a
// process of its own: in that of the crowd it would notice how busy the crowd is.
const Command = "crowd-pair"

// told is one line of the pair's process: what it has noticed since the last one.
type told struct {
	Noticed
	Again  int    `json:"again"`
	Broken string `json:"broken"` // the promise that the hub broke; empty: none
}

// Pair is the process of the pair, for the hub at addr. It says what it has noticed each
// time that it gets a line, and once more when everything is delivered after its input
// has ended.
func Pair(ctx context.Context, addr string, in io.Reader, out io.Writer) error {
	return watch(ctx, addr, starved, in, out)
}

// watch is Pair with another patience.
func watch(ctx context.Context, addr string, patience time.Duration, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p, err := startPair(ctx, addr, patience, cancel)
	if err != nil {
		return err
	}
	tell := func() error {
		t := told{Noticed: p.take()}
		p.mu.Lock()
		t.Again = p.again
		p.mu.Unlock()
		if err := context.Cause(ctx); err != nil {
			t.Broken = err.Error()
		}
		return json.NewEncoder(out).Encode(t)
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if err := tell(); err != nil {
			return err
		}
	}
	p.end()
	return tell()
}

// apart is the pair as its process is seen from outside.
type apart struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *json.Decoder
	again int
}

// startApart starts the process of the pair. It ends with ctx.
func startApart(ctx context.Context, addr string) (*apart, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &apart{cmd: exec.CommandContext(ctx, self, Command, addr)}
	a.cmd.Stderr = os.Stderr
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.out = json.NewDecoder(out)
	return a, a.cmd.Start()
}

// take returns what the pair has noticed since the last take.
func (a *apart) take() (Noticed, error) {
	if _, err := io.WriteString(a.in, "\n"); err != nil {
		return Noticed{}, fmt.Errorf("the pair's process: %w", err)
	}
	return a.next()
}

func (a *apart) next() (Noticed, error) {
	var t told
	if err := a.out.Decode(&t); err != nil {
		return Noticed{}, fmt.Errorf("the pair's process: %w", err)
	}
	a.again = t.Again
	if t.Broken != "" {
		return Noticed{}, errors.New(t.Broken)
	}
	return t.Noticed, nil
}

// end waits until everything that was posted is delivered, and the process has ended.
func (a *apart) end() error {
	err := a.in.Close()
	if err == nil {
		_, err = a.next()
	}
	return errors.Join(err, a.cmd.Wait())
}
