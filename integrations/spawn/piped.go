package spawn

import (
	"errors"
	"os"
	"runtime"

	"hubcli/hub"
)

// Piped describes a command that speaks over two pipes: it reads its file 3 and writes
// its file 4, or with Standard its standard input and output. It gets none of the hub's
// variables.
type Piped struct {
	Args []string // the first is the absolute path of the executable
	Env  []string
	Dir  string // absolute
	// Standard says that the pipes are its standard input and output.
	Standard bool
	// User is the user and the group as whom it runs; nil: those of the hub.
	User *[2]uint32
	// Remove is a folder that the keeper removes when no process of the group is left,
	// even if the hub is gone by then.
	Remove string
}

// Pipes are the hub's ends: what the command writes, and what it reads.
type Pipes struct{ In, Out *os.File }

func (p *Pipes) close() {
	for _, f := range []*os.File{p.In, p.Out} {
		if f != nil {
			f.Close()
		}
	}
}

// StartPiped starts a command with its pipes. The caller closes them. Windows has no
// numbered files for a child, so there it is an error.
func (r *Runner) StartPiped(p *Piped, ended func(hub.SpawnEnd)) (hub.SpawnControl, *Pipes, error) {
	if runtime.GOOS == "windows" {
		return hub.SpawnControl{}, nil, errors.New("on Windows a command cannot speak over numbered pipes")
	}
	ours, theirs := &Pipes{}, &Pipes{}
	defer theirs.close()
	var err error
	if theirs.In, ours.Out, err = os.Pipe(); err == nil {
		ours.In, theirs.Out, err = os.Pipe()
	}
	j := &job{Args: p.Args, Env: p.Env, Dir: p.Dir, Pipes: true, Standard: p.Standard, Remove: p.Remove}
	if p.User != nil {
		j.User = &ids{UID: p.User[0], GID: p.User[1]}
	}
	var w *run
	if err == nil {
		w, err = r.start(j, theirs.In, theirs.Out)
	}
	if err != nil {
		ours.close()
		return hub.SpawnControl{}, nil, err
	}
	go func() { ended(w.wait()) }()
	return hub.SpawnControl{PID: w.pid, Stop: w.stop}, ours, nil
}
