//go:build unix

package spawn

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestPipedCommand: a command reads its file 3, writes its file 4, gets no variable of the
// hub, and its folder goes with it.
func TestPipedCommand(t *testing.T) {
	t.Setenv("HUB_SECRET", "hidden")
	folder := filepath.Join(t.TempDir(), "profile")
	require.NoError(t, os.Mkdir(folder, 0o700))
	ends := make(chan hub.SpawnEnd, 1)
	control, pipes, err := testRunner().StartPiped(&Piped{
		Args: []string{"/bin/sh", "-c", `read x <&3; echo "got $x, $HUB_SECRET$GIVEN" >&4; : > left; read x <&3; echo bye`},
		Env:  []string{"GIVEN=given"}, Dir: folder, Remove: folder,
	}, func(e hub.SpawnEnd) { ends <- e })
	require.NoError(t, err)
	defer pipes.In.Close()
	_, err = io.WriteString(pipes.Out, "one\n")
	require.NoError(t, err)
	if line, err := bufio.NewReader(pipes.In).ReadString('\n'); err != nil || line != "got one, given\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	pipes.Out.Close() // the end of its input ends the command
	e := (&started{control, t, ends}).end()
	if code(e) != 0 || string(e.Output) != "bye\n" {
		t.Errorf("it ends with %+v", e)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
}

// TestPipedByStandardFiles: a command speaks over its standard input and output, and what it
// writes to its standard error is kept.
func TestPipedByStandardFiles(t *testing.T) {
	ends := make(chan hub.SpawnEnd, 1)
	control, pipes, err := testRunner().StartPiped(&Piped{
		Args: []string{"/bin/sh", "-c", `read x; echo "got $x"; echo aside >&2; read x; exit 7`}, Dir: t.TempDir(), Standard: true,
	}, func(e hub.SpawnEnd) { ends <- e })
	require.NoError(t, err)
	defer pipes.In.Close()
	_, err = io.WriteString(pipes.Out, "one\n")
	require.NoError(t, err)
	if line, err := bufio.NewReader(pipes.In).ReadString('\n'); err != nil || line != "got one\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	pipes.Out.Close()
	if e := (&started{control, t, ends}).end(); code(e) != 7 || string(e.Output) != "aside\n" {
		t.Errorf("it ends with %+v", e)
	}
}

// TestPipedFolderGoesWithTheHub: the keeper removes the folder when its hub is gone, also
// where the command ignores that.
func TestPipedFolderGoesWithTheHub(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "profile")
	require.NoError(t, os.Mkdir(folder, 0o700))
	keeper := exec.Command(os.Args[0], keeperArg)
	theirIn, ourOut, err := os.Pipe()
	require.NoError(t, err)
	ourIn, theirOut, err := os.Pipe()
	require.NoError(t, err)
	defer ourOut.Close()
	defer ourIn.Close()
	keeper.ExtraFiles = []*os.File{theirIn, theirOut}
	orders, err := keeper.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, keeper.Start())
	theirIn.Close()
	theirOut.Close()
	_, err = io.WriteString(orders, `{"args":["/bin/sh","-c","trap '' TERM; echo up >&4; while :; do sleep 600; done"],"dir":"/","grace_ms":100,"pipes":true,"remove":"`+folder+`"}`+"\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(ourIn).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, orders.Close()) // as when the hub is killed
	_ = keeper.Wait()
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder: %v", err)
	}
}
