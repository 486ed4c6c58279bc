package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal, what a program has written to it, and what it shows by
// that. A program that draws only what has changed writes a line in pieces, or only its
// end, as its data come. So a test must look at the screen.
type terminal struct {
	human   *os.File // the side of the human
	program *os.File

	mu      sync.Mutex
	written []byte
	screen  *vt.Emulator
	ended   chan struct{} // closed when nothing more comes
}

// openTerminal makes a terminal of a size such as 80x24.
func openTerminal(size string) (*terminal, error) {
	human, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	t := &terminal{human: human, screen: vt.NewEmulator(80, 24), ended: make(chan struct{})}
	go io.Copy(io.Discard, t.screen) // what the screen answers to questions; the program gets no answer
	number, err := unix.IoctlGetInt(int(human.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(human.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		t.program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		err = t.resize(size)
	}
	return t, err
}

func (t *terminal) resize(size string) error {
	var w unix.Winsize
	if _, err := fmt.Sscanf(size, "%dx%d", &w.Col, &w.Row); err != nil {
		return err
	}
	t.mu.Lock()
	t.screen.Resize(int(w.Col), int(w.Row))
	t.mu.Unlock()
	return unix.IoctlSetWinsize(int(t.program.Fd()), unix.TIOCSWINSZ, &w)
}

// close ends what openTerminal began.
func (t *terminal) close() {
	_ = t.screen.InputPipe().(io.Closer).Close()
	_ = t.human.Close()
}

// read keeps and shows what the program writes, until nobody has the program's side open.
func (t *terminal) read() {
	defer close(t.ended)
	b := make([]byte, 32<<10)
	for {
		n, err := t.human.Read(b)
		t.mu.Lock()
		t.written = append(t.written, b[:n]...)
		_, _ = t.screen.Write(b[:n])
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// shown is the text of the screen, without the blanks at the ends of lines.
func (t *terminal) shown() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.String()
}

// play does the steps of a file, each a line:
//
//	see <regexp>     wait until the text of the screen matches
//	type <text>      type a text in quotes as Go has them
//	size 40x10       resize the terminal
//	run <command>    run another command, which must succeed
//	interrupt        send SIGINT
func (t *terminal) play(steps string, run func([]string) error, interrupt func() error) error {
	for line := range strings.Lines(steps) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "see":
			want, err := regexp.Compile(rest)
			if err != nil {
				return err
			}
			if until(func() bool { return want.MatchString(t.shown()) }) != nil {
				return fmt.Errorf("%q was not seen on the screen:\n%s", rest, t.shown())
			}
		case "type":
			text, err := strconv.Unquote(rest)
			if err != nil {
				return err
			}
			if _, err := t.human.WriteString(text); err != nil {
				return err
			}
		case "size":
			if err := t.resize(rest); err != nil {
				return err
			}
		case "run":
			if err := run(strings.Fields(rest)); err != nil {
				return fmt.Errorf("%s: %w", rest, err)
			}
		case "interrupt":
			if err := interrupt(); err != nil {
				return err
			}
		}
	}
	return nil
}

// cmdTerminal runs a command on a terminal and plays steps. What it has written is
// stdout. The terminal must be again as it was.
func cmdTerminal(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 4, "terminal <code> <size> <file of steps> <command...>")
	t, err := openTerminal(args[1])
	ts.Check(err)
	defer t.close()
	before, err := unix.IoctlGetTermios(int(t.program.Fd()), unix.TCGETS)
	ts.Check(err)
	prepare := func(args []string) *exec.Cmd {
		cmd, _, _ := command(ts, args)
		cmd.Env = append(cmd.Env, "TERM="+ts.Getenv("TERM"), "NO_COLOR="+ts.Getenv("NO_COLOR"), "HUB_BASE_URL="+ts.Getenv("HUB_BASE_URL"), "COLORTERM=", "PATH="+ts.Getenv("PATH"), "WORK="+ts.Getenv("WORK"))
		return cmd
	}
	cmd := prepare(args[3:])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.program, t.program, t.program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	go t.read()
	played := t.play(ts.ReadFile(args[2]), func(args []string) error { return prepare(args).Run() },
		func() error { return cmd.Process.Signal(os.Interrupt) })
	if played != nil {
		_ = cmd.Process.Kill()
	}
	code := exitCode(waitFor(cmd))
	after, err := unix.IoctlGetTermios(int(t.program.Fd()), unix.TCGETS)
	_ = t.program.Close()
	<-t.ended
	text := string(t.written)
	fmt.Fprint(ts.Stdout(), text)
	ts.Check(played)
	ts.Check(err)
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s: %q", code, args[0], ansi.Strip(text))
	}
	if *after != *before {
		ts.Fatalf("the terminal is left in another mode: %+v, was %+v", after, before)
	}
}

// waitFor waits until the command has ended. One that does not end is killed.
func waitFor(cmd *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	if until(func() bool {
		select {
		case err = <-ended:
			return true
		default:
			return false
		}
	}) != nil {
		_ = cmd.Process.Kill()
		err = <-ended
	}
	return err
}
