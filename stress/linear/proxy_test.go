package linear

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"

	"hubcli/internal/require"
)

// The proxy passes bytes on, loses an answer and breaks a connection.
func TestProxyBreaksConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	heard := make(chan string, 8)
	go func() { // answers each line
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					heard <- lines.Text()
					fmt.Fprintln(conn, "answer to", lines.Text())
				}
			}()
		}
	}()
	p, err := newProxy()
	require.NoError(t, err)
	p.to(listener.Addr().String())
	ask := func(conn net.Conn, r *bufio.Reader, line string) string {
		fmt.Fprintln(conn, line)
		answer, _ := r.ReadString('\n') // at the end of the connection: nothing
		return answer
	}
	lost, broken := 0, 0
	for seed := range uint64(8) {
		conn, err := net.Dial("tcp", p.addr())
		require.NoError(t, err)
		r := bufio.NewReader(conn)
		if got := ask(conn, r, "one"); got != "answer to one\n" {
			t.Errorf("answer %q", got)
		}
		<-heard
		if n := p.cut(rand.New(rand.NewPCG(seed, 0)), 1); n != 1 {
			t.Fatalf("cut %d connections", n)
		}
		if got := ask(conn, r, "two"); got != "" {
			t.Errorf("answer %q through a connection that is cut", got)
		}
		conn.Close()
		select {
		case <-heard:
			lost++
		default:
			broken++
		}
		for p.open() > 0 {
			runtime.Gosched()
		}
	}
	if lost == 0 || broken == 0 {
		t.Errorf("%d answers lost, %d connections broken", lost, broken)
	}
	require.NoError(t, p.close())
	if _, err := net.Dial("tcp", p.addr()); err == nil {
		t.Error("the proxy listens after its end")
	}
}

// open counts the connections.
func (p *proxy) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}
