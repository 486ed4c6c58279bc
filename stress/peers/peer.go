package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"time"

	"hubcli/internal/pause"
	"hubcli/internal/testport"
	"hubcli/stress/target"
)

// peer is a server that is compared.
type peer interface {
	// describe names the server with its version, and says what a hub does that it does not.
	describe() (name, lacks string)
	// start starts the server with its data in dir, and returns when it serves. It may be
	// called again after kill.
	start(ctx context.Context, dir string) error
	// kill ends the server at once, and waits for its end.
	kill()
	// agent connects an agent; i is its number.
	agent(ctx context.Context, i int) (agent, error)
}

// process is a peer whose process belongs to the run.
type process interface {
	// anonymous is the memory of the process, without what it maps of files, in bytes.
	anonymous() (int64, error)
}

// keeper is a peer that keeps messages over a kill.
type keeper interface {
	// messages counts those that it has.
	messages(ctx context.Context) (int64, error)
}

// agent is a connection to a peer. Its calls return when the server has answered.
type agent interface {
	io.Closer
	// post adds a message of bodyBytes to the log that all agents share, durably.
	post() error
	// pair takes a key that is this agent's own, exclusively and durably, and gives it back.
	pair() error
	// park asks for the next message; woken returns when it is there.
	park() error
	woken() error
}

const (
	bodyBytes   = 256
	callWait    = 30 * time.Second
	readyWait   = 30 * time.Second
	readyLook   = 2 * time.Millisecond
	parkSeconds = 20 // the longest that a waiter waits for a message
)

// server is the process of a peer.
type server struct {
	addr  string
	cmd   *exec.Cmd
	ended chan struct{}
}

// run starts a program and waits until ready says that it serves.
func (s *server) run(ctx context.Context, program string, args func(port string) ([]string, error), ready func(context.Context) error) error {
	port, err := testport.Take()
	if err != nil {
		return err
	}
	s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	words, err := args(strconv.Itoa(port))
	if err != nil {
		return err
	}
	s.cmd, s.ended = exec.CommandContext(ctx, program, words...), make(chan struct{})
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = s.cmd.Wait() // it is killed, or its log says why it ended
		close(s.ended)
	}()
	within, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	for {
		err := ready(within)
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%s ended by itself: %v", program, s.cmd.ProcessState)
		default:
		}
		if !pause.For(within, readyLook) {
			s.kill()
			return errors.Join(fmt.Errorf("%s does not serve within %v: %w", program, readyWait, err), ctx.Err())
		}
	}
}

func (s *server) kill() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.ended
}

func (s *server) anonymous() (int64, error) { return target.Anonymous(s.cmd.Process.Pid) }
