package cli

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"hubcli/cli/term"
	"hubcli/internal/testcli"
)

// swallow returns an address of loopback whose connections are neither taken nor
// refused, as behind a firewall that drops packets: nobody accepts, and the queue
// of those that wait for it is full.
func swallow(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
	late := 0 // in a row: a machine that stands still for a moment is late once
	for range 32 {
		dialer := net.Dialer{Timeout: 200 * time.Millisecond}
		c, err := dialer.DialContext(t.Context(), "tcp", address)
		// The error depends on a race between the poller and the dialer.
		if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
			if late++; late == 3 {
				return address
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		late = 0
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Skip("needs a kernel that takes no more connections than it was asked to")
	panic("unreachable")
}

// A host that swallows packets costs a hook its budget and no more: the budget
// holds for connecting too.
func TestResolveOfAHostThatSwallowsPackets(t *testing.T) {
	address := swallow(t)
	var got ran
	// Without a budget a connection is tried for 5 s; a busy machine may make one run
	// last as long, but not each.
	least := time.Hour
	for range 5 {
		begun := time.Now()
		got = runIn(t, testcli.World(t, nil), "resolve", "/", "--timeout", "0.4", "--base-url", "http://"+address)
		if least = min(least, time.Since(begun)); least < 3*time.Second {
			break
		}
	}
	if got.exit != term.ExitUnreachable || got.stdout != "" || least > 3*time.Second {
		t.Errorf("after %s: %+v", least, got)
	}
	want := "hubcli: no hub answered at http://" + address + " within 400ms\nfix: see whether the hub runs with: hubcli app status\n"
	if got.stderr != want {
		t.Errorf("stderr %q, want %q", got.stderr, want)
	}
}
