package spawn

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"sync"
	"time"

	"hubcli/hub"
)

const (
	// startWait is the time limit for a keeper to start the command.
	startWait = 20 * time.Second
	// lastOutput is the time limit for the output to end once no process of the
	// group is left: a process outside the group may still hold the pipe.
	lastOutput = 2 * time.Second
	// killMargin is the time after the grace at which a keeper counts as stuck.
	killMargin = 10 * time.Second
)

// run is one command under its keeper.
type run struct {
	keeper  *exec.Cmd
	orders  io.WriteCloser // the keeper's stdin: its lifeline
	reports *bufio.Reader
	printed *os.File // what the command prints
	out     output
	secrets map[string]hub.Secret // by the names of their variables
	heard   chan struct{}         // closed when nothing more is printed
	grace   time.Duration
	pid     int

	mu      sync.Mutex
	stopped string // the reason; empty: it was not stopped
	over    bool
	timers  []*time.Timer
}

// Start starts the command of a plan. An error holds the system's message.
func (r *Runner) Start(plan *hub.SpawnPlan, ended func(hub.SpawnEnd)) (hub.SpawnControl, error) {
	environ := os.Environ
	if r.Environ != nil {
		environ = r.Environ
	}
	set := map[string]string{}
	maps.Copy(set, plan.Vars)
	for name, secret := range plan.Secrets {
		set[name] = secret.Reveal()
	}
	w, err := r.start(&job{Args: plan.Args, Env: environment(environ(), plan.Env, set), Dir: plan.Dir, secrets: plan.Secrets})
	if err != nil {
		return hub.SpawnControl{}, err
	}
	if plan.Timeout > 0 {
		w.after(plan.Timeout, func() { w.stop("its time limit of " + plan.Timeout.String() + " was over") })
	}
	go func() { ended(w.wait()) }()
	return hub.SpawnControl{PID: w.pid, Stop: w.stop}, nil
}

// start starts a keeper and has it start the command of a job. The files are the
// keeper's files 3 and 4.
func (r *Runner) start(j *job, files ...*os.File) (*run, error) {
	w := &run{heard: make(chan struct{}), grace: r.grace(), secrets: j.secrets}
	j.GraceMS = w.grace.Milliseconds()
	if err := w.launch(r.Keeper, files...); err != nil {
		return nil, err
	}
	first, err := w.begin(j)
	if err != nil {
		w.abandon()
		return nil, err
	}
	w.pid = first.Started
	return w, nil
}

// launch starts the keeper with its three pipes and the files. Nothing else of the hub is
// open in it: Go opens every file so that it is closed in a child.
func (w *run) launch(command []string, files ...*os.File) error {
	printed, prints, err := os.Pipe()
	if err != nil {
		return err
	}
	defer prints.Close()
	w.printed = printed
	w.keeper = exec.Command(command[0], command[1:]...)
	w.keeper.Args[0] = "hubcli" // what the list of processes shows
	w.keeper.Env = []string{"GOTRACEBACK=none"}
	w.keeper.Stderr = prints
	w.keeper.ExtraFiles = files
	w.keeper.SysProcAttr = apart()
	reports, err := w.keeper.StdoutPipe()
	if err == nil {
		w.orders, err = w.keeper.StdinPipe()
	}
	if err == nil {
		err = w.keeper.Start()
	}
	if err != nil {
		printed.Close()
		return err
	}
	w.reports = bufio.NewReader(reports)
	go func() {
		defer close(w.heard)
		kept := masked(&w.out, w.secrets)
		_, _ = io.Copy(kept, printed) // any error ends the reading
		kept.flush()
	}()
	return nil
}

// begin sends the keeper its job and waits until a process runs.
func (w *run) begin(j *job) (report, error) {
	late := time.AfterFunc(startWait, func() { _ = w.keeper.Process.Kill() })
	defer late.Stop()
	line, err := json.Marshal(j)
	if err != nil {
		return report{}, err
	}
	if _, err := w.orders.Write(append(line, '\n')); err != nil {
		return report{}, errors.New("its keeper did not start")
	}
	first, err := w.next()
	switch {
	case err != nil:
		return report{}, errors.New("its keeper did not start")
	case first.Failed != "":
		return report{}, errors.New(first.Failed)
	}
	return first, nil
}

func (w *run) next() (report, error) {
	var r report
	line, err := w.reports.ReadBytes('\n')
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(line, &r)
}

// abandon ends a keeper that started no process.
func (w *run) abandon() {
	_ = w.orders.Close()
	_ = w.keeper.Process.Kill()
	_ = w.keeper.Wait()
	_ = w.printed.Close()
	<-w.heard
}

// after runs f in d unless the command has ended.
func (w *run) after(d time.Duration, f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.timers = append(w.timers, time.AfterFunc(d, f))
	}
}

// stop asks the keeper to end the group. A keeper that does not do it in time is
// killed, and the group with it.
func (w *run) stop(why string) {
	w.mu.Lock()
	if w.over || w.stopped != "" {
		w.mu.Unlock()
		return
	}
	w.stopped = why
	w.mu.Unlock()
	w.after(w.grace+killMargin, func() { _ = w.keeper.Process.Kill() })
	_, _ = io.WriteString(w.orders, stopLine) // a keeper that is gone has ended the group
}

// wait returns how the command ended, when no process of its group is left.
func (w *run) wait() hub.SpawnEnd {
	last, err := w.next()
	if err != nil || last.Ended == nil { // the keeper was killed
		killGroup(w.pid)
		last.Ended = &exit{}
	}
	w.mu.Lock()
	w.over = true
	why := w.stopped
	for _, t := range w.timers {
		t.Stop()
	}
	w.mu.Unlock()
	_ = w.orders.Close()
	_ = w.keeper.Wait()
	select {
	case <-w.heard:
	case <-time.After(lastOutput):
	}
	_ = w.printed.Close()
	<-w.heard
	if err != nil && why == "" {
		why = "its keeper was killed"
	}
	return hub.SpawnEnd{ExitCode: last.Ended.Code, Signal: last.Ended.Signal, Stopped: why, Output: w.out.bytes()}
}
