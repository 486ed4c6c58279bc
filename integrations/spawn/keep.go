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

// Keep is a keeper's whole life: it reads its job from stdin, runs it, and returns
// when no process of the group is left. Its stdout goes to the hub; what the command
// prints goes to this process's stderr. It returns the exit code.
func Keep(stdin io.Reader, stdout io.Writer) int {
	mute()
	closeToCommands()
	orders := bufio.NewReader(stdin)
	j, err := readJob(orders)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hubcli: this command is the hub's own: it reads what to run from its stdin")
		return 2
	}
	say := func(r report) { // errors mean that the hub is gone
		if line, err := json.Marshal(r); err == nil {
			_, _ = stdout.Write(append(line, '\n'))
		}
	}
	g, err := startGroup(j)
	if err != nil {
		say(report{Failed: err.Error()})
		return 1
	}
	say(report{Started: g.pid()})
	ends := make(chan time.Duration, 2) // time until the group is killed
	go listen(orders, time.Duration(j.GraceMS)*time.Millisecond, ends)
	last := g.wait(ends)
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

// listen reads orders until the hub is gone. The end of the hub is an order to
// stop too.
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

// nothing is the stdin of every command.
func nothing() (*os.File, error) { return os.Open(os.DevNull) }
