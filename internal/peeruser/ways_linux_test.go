package peeruser

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestMain is the program of the other user, too: it connects and waits for the end of its
// input. And it is a hub in a user namespace: it says whose one connection is.
func TestMain(m *testing.M) {
	if os.Getenv("PEERUSER_LISTEN") != "" {
		listenOnce()
	}
	if to := os.Getenv("PEERUSER_CONNECT"); to != "" {
		conn, err := net.Dial("tcp", to)
		if err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdin.Read(make([]byte, 1))
		_ = conn.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func listenOnce() {
	l, err := Open()
	if err != nil {
		fmt.Println("cannot tell:", err)
		os.Exit(0)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	conn, err := listener.Accept()
	if err != nil {
		os.Exit(1)
	}
	user, err := l.Of(conn)
	fmt.Printf("own %s, peer %s: %v\n", l.Own(), user, err)
	os.Exit(0)
}

const nobody = 65534

func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to act as a second user")
	}
	if unmapped() >= 0 {
		t.Skip("needs a user namespace that has all users")
	}
	program := t.TempDir() + "/peer"
	copyProgram(t, program)
	for _, way := range ways {
		t.Run(strings.ReplaceAll(way.name, "/", " "), func(t *testing.T) {
			of, end, err := way.open()
			if err != nil {
				t.Fatal(err)
			}
			l := &Looker{of: of, end: end, own: "0"}
			defer func() { _ = l.Close() }()
			for _, address := range []string{"127.0.0.1:0", "[::1]:0", "[::]:0"} {
				listener := listen(t, "tcp", address)
				to := listener.Addr().String()
				if address == "[::]:0" {
					to = portOf(listener, "127.0.0.1")
				}
				accepted := connectAs(t, program, listener, to)
				if got, err := l.Of(accepted); err != nil || got != "65534" {
					t.Errorf("over %s the peer is of user %q, %v", address, got, err)
				}
			}
		})
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(to); strings.HasPrefix(dir, filepath.Clean(os.TempDir())); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, info.Mode()|0o011); err != nil { // so that another user may pass through
			t.Fatal(err)
		}
	}
}

func connectAs(t *testing.T, program string, listener net.Listener, to string) net.Conn {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Dir, cmd.Env = "/", []string{"PEERUSER_CONNECT=" + to}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // which ends the program
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accepted.Close() })
	return accepted
}

// In a user namespace all users outside of it have one number, which may be that of an account
// inside. They are nobody's then.
func TestUserNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a namespace for another user")
	}
	program := t.TempDir() + "/peer"
	copyProgram(t, program)
	for name, c := range map[string]struct {
		inside, as int
		want       string
	}{
		"the user outside that is root inside": {0, nobody, "own 0, peer 0: <nil>"},
		"root outside":                         {0, 0, "own 0, peer : " + ErrUnmapped.Error()},
		"an own user without a number":         {nobody, nobody, "cannot tell: "},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program)
			cmd.Dir, cmd.Env = "/", []string{"PEERUSER_LISTEN=1"}
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags: syscall.CLONE_NEWUSER, Credential: &syscall.Credential{Uid: uint32(c.inside), Gid: 0, NoSetGroups: true},
				UidMappings: []syscall.SysProcIDMap{{ContainerID: c.inside, HostID: nobody, Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: nobody, Size: 1}},
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC) {
				t.Skipf("needs a system that makes user namespaces: %v", err)
			} else if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
			}()
			lines := bufio.NewScanner(out)
			lines.Scan()
			if strings.HasPrefix(c.want, "cannot tell") {
				if !strings.HasPrefix(lines.Text(), c.want) {
					t.Errorf("the namespace says %q", lines.Text())
				}
				return
			}
			client := exec.Command(program)
			client.Dir, client.Env = "/", []string{"PEERUSER_CONNECT=" + lines.Text()}
			client.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(c.as), Gid: uint32(c.as)}}
			stdin, err := client.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			lines.Scan()
			if got := lines.Text(); got != c.want {
				t.Errorf("the namespace says %q, want %q", got, c.want)
			}
			_ = stdin.Close() // which ends the program
			if err := client.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Both ways say the same.
func TestProcSaysTheSame(t *testing.T) {
	of, end, err := openProc()
	if err != nil {
		t.Fatal(err)
	}
	l := &Looker{of: of, end: end, own: User(strconv.Itoa(os.Geteuid()))}
	if err := l.try(); err != nil {
		t.Fatal(err)
	}
	listener := listen(t, "tcp4", "127.0.0.1:0")
	dialed, accepted := connect(t, listener, listener.Addr().String())
	if err := dialed.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Of(accepted); !errors.Is(err, ErrGone) {
		t.Errorf("a peer that has left is of user %q, %v", got, err)
	}
}

// A socket that the system has broken is made anew.
func TestDiagRecovers(t *testing.T) {
	d := &diag{fd: -1, unmapped: -1}
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	l := &Looker{of: d.of, end: d.close, own: User(strconv.Itoa(os.Geteuid()))}
	defer func() { _ = l.Close() }()
	if err := syscall.Shutdown(d.fd, syscall.SHUT_RDWR); err != nil && !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Fatal(err)
	}
	// An answer that nobody took is the first in the queue.
	stale := pair{local: endOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}), remote: endOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2})}
	if err := syscall.Sendto(d.fd, diagRequest(stale, 77), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		t.Fatal(err)
	}
	if err := l.try(); err != nil {
		t.Error(err)
	}
}
