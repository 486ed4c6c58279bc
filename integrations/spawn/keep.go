package spawn

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// orphanGrace is the time in which the group can end by itself after the hub is
// gone.
const orphanGrace = 2 * time.Second

// Keep runs the keeper. It reads a job from stdin, runs the job's command, and
// returns the keeper's exit code when no process of the group is left. It
// reports to the hub on stdout. What the command prints goes to the keeper's
// stderr.
func Keep(stdin io.Reader, stdout io.Writer) int {
	mute()
	closeToCommands()
	orders := bufio.NewReader(stdin)
	j, err := readJob(orders)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hubcli: only the hub runs this command; it reads its job from stdin")
		return 2
	}
	say := func(r report) { // errors mean that the hub is gone
		if line, err := json.Marshal(r); err == nil {
			_, _ = stdout.Write(append(line, '\n'))
		}
	}
	g, err := startGroup(j)
	if err != nil {
		j.clear()
		say(report{Failed: err.Error()})
		return 1
	}
	say(report{Started: g.pid()})
	ends := make(chan time.Duration, 2) // each value is a time until the group is killed
	go listen(orders, time.Duration(j.GraceMS)*time.Millisecond, ends)
	last := g.wait(ends)
	j.clear()
	say(report{Ended: &last})
	return 0
}

func readJob(r *bufio.Reader) (*job, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var j job
	if err := json.Unmarshal(line, &j); err != nil {
		return nil, err
	}
	if len(j.Args) == 0 {
		return nil, errors.New("spawn: the job has no command")
	}
	return &j, nil
}

// clear removes the folder that goes with the group. What the last processes still wrote
// while they ended may need another try.
func (j *job) clear() {
	const tries = 20
	for n := 0; j.Remove != "" && n < tries && os.RemoveAll(j.Remove) != nil; n++ {
		time.Sleep(look)
	}
}

// listen reads orders until the hub is gone. The end of the hub counts as an
// order to stop.
func listen(orders *bufio.Reader, grace time.Duration, ends chan<- time.Duration) {
	for {
		line, err := orders.ReadString('\n')
		if err != nil {
			ends <- min(grace, orphanGrace)
			return
		}
		if line == stopLine {
			ends <- grace
		}
	}
}

// look is the time between two checks of what goes on by itself.
const look = 10 * time.Millisecond

// emptyInput opens the stdin of every command.
func emptyInput() (*os.File, error) { return os.Open(os.DevNull) }
