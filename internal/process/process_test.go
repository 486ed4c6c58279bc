package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"hubcli/internal/require"
)

func TestLook(t *testing.T) {
	me, ok := Look(os.Getpid())
	if !ok {
		t.Fatal("this process is not found")
	}
	again, _ := Look(os.Getpid())
	if me.PID != os.Getpid() || me.Parent != os.Getppid() || me.Began == "" || strings.Trim(me.Began, "0123456789") != "" || me != again {
		t.Errorf("%+v, then %+v", me, again)
	}
	child := exec.Command(os.Args[0], "-test.run=^$")
	require.NoError(t, child.Start())
	pid := child.Process.Pid
	if p, ok := Look(pid); ok && (p.Parent != os.Getpid() || p.Began < me.Began && len(p.Began) <= len(me.Began)) {
		t.Errorf("the child is %+v, this process %+v", p, me)
	}
	require.NoError(t, child.Wait())
	if p, ok := Look(pid); ok && p.Parent == os.Getpid() {
		t.Errorf("the child has ended and is %+v", p)
	}
}
