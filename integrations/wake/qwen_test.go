package wake

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestInputFile: the file is found wherever the command line names it, and nowhere else.
func TestInputFile(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"node qwen --input-file /a/b", "/a/b"},
		{"node qwen --input-file=in.jsonl -m x", "/work/in.jsonl"},
		{"qwen --input-file ../in", "/in"},
		{"qwen --input-file", ""},
		{"qwen --input-file=", ""},
		{"qwen --input-files /a", ""},
		{"qwen -- --input-file /a", ""},
		{"qwen", ""},
	} {
		if got := inputFile(strings.Split(c.line, " "), "/work"); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
	if got := inputFile([]string{"qwen", "--input-file", "x"}, ""); got != "" {
		t.Errorf("from an unknown folder: %q", got)
	}
}

// TestQwen: a text is one line in the file that the command line of a running process
// names. No file is made, and a pipe without a reader holds nobody.
func TestQwen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a system that tells the command line of another process")
	}
	dir := t.TempDir()
	session := exec.Command("sh", "-c", "read line", "sh", "--input-file", "in.jsonl")
	session.Dir = dir
	stdin, err := session.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, session.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = session.Wait()
	})
	// A process that has just begun may have no command line yet.
	var say func(context.Context, string) error
	require.Eventually(t, "the session takes input", func() bool {
		say = Qwen(session.Process.Pid)
		return say != nil
	})
	file := filepath.Join(dir, "in.jsonl")
	if err := say(t.Context(), "x"); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("without the file: %v", err)
	}
	require.NoError(t, os.WriteFile(file, []byte("{}\n"), 0o600))
	require.NoError(t, say(t.Context(), "read \"it\"\n"))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	if want := "{}\n" + `{"type":"submit","text":"read \"it\"\n"}` + "\n"; string(b) != want {
		t.Errorf("the file has %q, want %q", b, want)
	}
	require.NoError(t, os.Remove(file))
	require.NoError(t, exec.Command("mkfifo", file).Run())
	if err := say(t.Context(), "x"); err == nil {
		t.Error("a pipe that nobody reads from takes a text")
	}
	if Qwen(os.Getpid()) != nil {
		t.Error("a process without the flag is said to take input")
	}
}
