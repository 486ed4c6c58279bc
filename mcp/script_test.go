package mcp

import (
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
)

func testNow() time.Time { return time.Now() }

// script is a client that writes its lines and then keeps stdin open until done
// returns true, for at most ten seconds.
type script struct {
	io.Reader
	done func() bool
}

func newScript(lines string, done func() bool) io.Reader {
	return &script{strings.NewReader(lines), done}
}

func (s *script) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		for until := time.Now().Add(10 * time.Second); !s.done() && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
	}
	return n, err
}

// shellWords returns the words into which a real shell splits a command.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a POSIX shell")
	}
	out, err := exec.Command(sh, "-c", `set -- `+command+`; for a do printf '%s\0' "$a"; done`).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
