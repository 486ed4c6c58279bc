package peers

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"time"

	"hubcli/internal/testport"
)

// peer is a server that is compared.
type peer interface {
	// describe names the server with its version, and says what a hub does that it does not.
	describe() (name, lacks string)
	// start starts the server with its data in dir.
	start(ctx context.Context, dir string) error
	// stop ends it and removes nothing.
	stop()
	// agent connects an agent; i is its number.
	agent(ctx context.Context, i int) (agent, error)
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
	bodyBytes = 256
	callWait  = 30 * time.Second
	readyWait = 30 * time.Second
)

// server is the process of a peer.
type server struct {
	addr string
	cmd  *exec.Cmd
}

// run starts a program; args may hold the place of the port.
func (s *server) run(ctx context.Context, program string, args func(port string) []string) error {
	port, err := testport.Take()
	if err != nil {
		return err
	}
	s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	s.cmd = exec.CommandContext(ctx, program, args(strconv.Itoa(port))...)
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	for {
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			s.stop()
			return fmt.Errorf("%s does not listen: %w", program, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *server) stop() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill() // its data is thrown away
	_ = s.cmd.Wait()
}
