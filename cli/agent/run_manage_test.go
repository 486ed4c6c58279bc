package agent

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"hubcli/internal/identity"
	"hubcli/internal/process"
	"hubcli/internal/require"
)

// TestOtherProcessesAreLeftAlone: a process whose number a note has, and which began at another
// time, is neither taken for that of the session nor ended.
func TestOtherProcessesAreLeftAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs the command sleep")
	}
	cmd := exec.Command("sleep", "60")
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	self, ok := process.Look(cmd.Process.Pid)
	if !ok {
		t.Fatal("the process is not found")
	}
	other := &identity.Background{AgentID: "ada", PID: self.PID, Began: self.Began + "0"}
	if isAlive(other) {
		t.Error("another process is taken for that of the session")
	}
	stopProcess(other.PID, other.Began)
	killProcess(other.PID, other.Began)
	select {
	case err := <-ended:
		t.Fatalf("another process was ended: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	same := &identity.Background{AgentID: "ada", PID: self.PID, Began: self.Began}
	if !isAlive(same) {
		t.Error("the process of the session is not found")
	}
	stopProcess(same.PID, same.Began)
	<-ended
	if isAlive(same) {
		t.Error("it is still there")
	}
	for _, pid := range []int{0, -1, os.Getpid()} {
		if isAlive(&identity.Background{PID: pid}) {
			t.Errorf("%d without a time counts", pid)
		}
	}
}

// TestLogIsBounded: what a session says fills no disk.
func TestLogIsBounded(t *testing.T) {
	f, err := identity.BackgroundsOf(t.TempDir()).OpenLog("ada")
	require.NoError(t, err)
	defer f.Close()
	l := &heldLog{f: f}
	line := make([]byte, maxLog/3)
	for range 10 {
		n, err := l.Write(line)
		require.NoError(t, err)
		if n != len(line) {
			t.Fatalf("%d bytes were written", n)
		}
	}
	info, err := f.Stat()
	require.NoError(t, err)
	if info.Size() > maxLog || info.Size() == 0 {
		t.Errorf("the file has %d bytes", info.Size())
	}
}
