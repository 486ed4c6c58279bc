package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestDiskFilledByOthers: others fill the disk of a busy hub as fast as they
// can, and try again whatever the hub gives up. Writes answer only 507, and
// reads go on. Writes resume by themselves when there is room. A stop on the
// full disk ends with 0, no line of the log repeats itself, and every
// acknowledged message is there afterwards.
func TestDiskFilledByOthers(t *testing.T) {
	if !mayMount() {
		t.Skip("needs leave to mount a disk of its own, as root has it")
	}
	d := startFilledHub(t)
	for range 2 {
		d.wait("posts", func() bool { return d.count(hub.Code("")) > 0 })
		free := d.fill()
		d.wait("507", func() bool { return d.count(hub.CodeStorageFull) > 20 })
		if _, err := d.Messages(t.Context(), hub.MessagesQuery{Channel: hub.DefaultChannel, Limit: 1, Tail: true}); err != nil {
			t.Errorf("reading on a full disk: %v", err)
		}
		for _, command := range []string{"poll --timeout 0", "whoami"} {
			args := append(strings.Fields(command), "--agent", "reader", "--base-url", "http://127.0.0.1:"+d.port)
			if out, err := exec.Command("hubcli", args...).CombinedOutput(); err != nil {
				t.Errorf("%s on a full disk: %v\n%s", command, err, out)
			}
		}
		free()
		d.forget()
	}
	free := d.fill()
	d.wait("507", func() bool { return d.count(hub.CodeStorageFull) > 0 })
	d.stop()
	free()
	d.check()
}

// filledHub is a real hub on a small disk, with agents that post all the time.
type filledHub struct {
	*client.Client
	t     *testing.T
	mount string
	port  string
	cmd   *exec.Cmd
	log   bytes.Buffer
	end   context.CancelFunc
	posts sync.WaitGroup

	mu      sync.Mutex
	answers map[hub.Code]int // since the last forget; "" counts what was acknowledged
	kept    map[hub.MessageID]string
}

func startFilledHub(t *testing.T) *filledHub {
	t.Helper()
	port, err := freePort()
	require.NoError(t, err)
	d := &filledHub{t: t, mount: t.TempDir(), port: port, answers: map[hub.Code]int{}, kept: map[hub.MessageID]string{}}
	require.NoError(t, unix.Mount("tmpfs", d.mount, "tmpfs", 0, "size=400m"))
	t.Cleanup(func() { _ = unix.Unmount(d.mount, unix.MNT_DETACH) })
	d.Client = client.New(client.Config{BaseURL: "http://127.0.0.1:" + port})
	t.Cleanup(d.Close)
	d.start()
	ctx, cancel := context.WithCancel(context.Background())
	d.end = cancel
	t.Cleanup(func() { cancel(); d.posts.Wait() })
	for i := range 8 {
		d.posts.Go(func() { d.post(ctx, i) })
	}
	return d
}

func (d *filledHub) start() {
	d.t.Helper()
	d.cmd = exec.Command("hubcli", "--port", d.port, "--storage", filepath.Join(d.mount, "store"))
	d.cmd.Stderr = warnings{&d.log}
	require.NoError(d.t, d.cmd.Start())
	cmd := d.cmd
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	d.wait("the hub", func() bool { return answers(d.port) })
}

// warnings keeps the lines of a log that are more than information.
type warnings struct{ kept *bytes.Buffer }

func (w warnings) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		if !bytes.Contains(line, []byte("level=INFO")) {
			w.kept.Write(line)
		}
	}
	return len(lines), nil
}

// post posts bodies of several sizes until ctx is done: some go to the log of
// values, some do not.
func (d *filledHub) post(ctx context.Context, agent int) {
	c := client.New(client.Config{BaseURL: "http://127.0.0.1:" + d.port})
	defer c.Close()
	for n := 0; ctx.Err() == nil; n++ {
		body := fmt.Sprint(agent, "/", n, strings.Repeat(" x", []int{100, 3_000, 40_000}[n%3]))
		out, err := c.Post(ctx, hub.PostInput{FromAgent: hub.AgentID(fmt.Sprint("agent-", agent)), Body: body})
		if ctx.Err() != nil {
			return // it was cut off
		}
		var e *hub.Error
		d.mu.Lock()
		switch row, derr := out.Row.Decode(); {
		case err == nil && derr == nil:
			d.answers[""]++
			d.kept[row.ID] = body
		case errors.As(err, &e):
			d.answers[e.Code]++
		}
		d.mu.Unlock()
	}
}

func (d *filledHub) count(code hub.Code) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers[code]
}

func (d *filledHub) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.answers, "")
	delete(d.answers, hub.CodeStorageFull)
}

func (d *filledHub) wait(what string, holds func() bool) {
	d.t.Helper()
	if err := until(holds); err != nil {
		d.t.Fatalf("%s: %v; answers %v, log:\n%s", what, err, d.answers, d.log.String())
	}
}

// fill takes all space that there is, and afterwards whatever becomes free, until
// the function that it returns is called, which gives it back.
func (d *filledHub) fill() (free func()) {
	f, err := os.Create(filepath.Join(d.mount, "filler"))
	require.NoError(d.t, err)
	stop, stopped, full := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		block, once := make([]byte, 1<<20), sync.OnceFunc(func() { close(full) })
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := f.Write(block); err != nil {
					once()
				}
			}
		}
	}()
	<-full
	return sync.OnceFunc(func() {
		close(stop)
		<-stopped
		_ = os.Remove(f.Name())
		_ = f.Close()
	})
}

// stop ends the hub as a service manager would, while the disk is full.
func (d *filledHub) stop() {
	d.t.Helper()
	d.end()
	d.posts.Wait()
	for code, n := range d.answers {
		if code != "" && code != hub.CodeStorageFull {
			d.t.Errorf("%d posts were answered %s", n, code)
		}
	}
	require.NoError(d.t, d.cmd.Process.Signal(syscall.SIGTERM))
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("the hub ended with %v; log:\n%s", err, d.log.String())
	}
	if !strings.Contains(d.log.String(), "nothing is lost") {
		d.t.Errorf("a stop on a full disk does not say that nothing is lost:\n%s", d.log.String())
	}
	warned := map[string]int{}
	for line := range strings.Lines(d.log.String()) {
		if _, text, ok := strings.Cut(line, "level=WARN"); ok {
			warned[text]++
		}
	}
	for text, n := range warned {
		if n > 3 {
			d.t.Errorf("%d times in the log: %s", n, text)
		}
	}
}

// check starts the hub again and compares what it has with what it acknowledged.
func (d *filledHub) check() {
	d.t.Helper()
	d.start()
	for id, want := range d.kept {
		row, err := d.Message(d.t.Context(), id, "")
		if err != nil {
			d.t.Errorf("acknowledged message %d: %v", id, err)
			continue
		}
		if m, err := row.Decode(); err != nil || m.Body != want {
			d.t.Errorf("acknowledged message %d has another body, %v", id, err)
		}
	}
	d.t.Logf("%d acknowledged messages are there", len(d.kept))
}
