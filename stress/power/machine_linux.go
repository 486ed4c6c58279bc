package power

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// rig knows the programs that make machines.
type rig struct {
	kernel, mkfs string
	self         string // this program
	dir          string
}

func newRig(dir string) (*rig, error) {
	g := &rig{dir: dir}
	var err error
	if g.self, err = os.Executable(); err != nil {
		return nil, err
	}
	for program, at := range map[string]*string{"linux.uml": &g.kernel, "mkfs.ext4": &g.mkfs} {
		if *at, err = exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%w (%w)", ErrNoMachine, err)
		}
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w (it is not run as root)", ErrNoMachine)
	}
	return g, nil
}

// diskSize is enough for the store of some dozen cuts with its ballast and logs.
const diskSize = 1 << 30

// newDisk makes an empty file system in a file.
func (g *rig) newDisk(ctx context.Context, name string) (string, error) {
	path := filepath.Join(g.dir, name)
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	if err := errors.Join(f.Truncate(diskSize), f.Close()); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, g.mkfs, "-q", "-F", path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("mkfs.ext4: %w: %s", err, out)
	}
	return path, nil
}

// machine is one that runs.
type machine struct {
	cmd   *exec.Cmd
	lines chan string // of its console; closed at its end
}

// boot starts a machine with a disk. Its first process is this program.
func (g *rig) boot(ctx context.Context, disk, hub string, cut int) (*machine, error) {
	m := &machine{lines: make(chan string, 1024)}
	m.cmd = exec.CommandContext(ctx, g.kernel,
		"mem=512M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "con=null", "con0=fd:0,fd:1", "ubd0="+disk, "uml_dir="+g.dir+"/",
		"init="+g.self, "--", Command, hub, fmt.Sprint(cut))
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a cut ends all of its processes
	m.cmd.Cancel = m.kill
	console, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(m.lines)
		for in := bufio.NewScanner(console); in.Scan(); {
			m.lines <- in.Text()
		}
	}()
	return m, nil
}

func (m *machine) kill() error { return syscall.Kill(-m.cmd.Process.Pid, syscall.SIGKILL) }

// cut takes the power away and takes the lines that had reached the console.
func (m *machine) cut(take func(string) error) error {
	_ = m.kill() // it may have ended
	var err error
	for line := range m.lines {
		err = errors.Join(err, take(line))
	}
	_ = m.cmd.Wait() // it was killed
	return err
}
