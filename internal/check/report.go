package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// quiet is how long nothing is printed before a line says what is running: in front of a person,
// and in a log, of which many places keep only the end.
const (
	quiet    = 10 * time.Second
	quietLog = time.Minute
)

// report prints the lines of steps that run at the same time, each with the
// seconds since the start and the name of its step, and sums what they count.
type report struct {
	mu     sync.Mutex
	begun  time.Time
	spoke  time.Time
	now    map[string]func() string // running steps, and what each is at
	total  tally
	tested bool
}

// output is the key of the step's writer in a context.
type output struct{}

// writer returns where a step prints.
func writer(ctx context.Context) io.Writer {
	if w, ok := ctx.Value(output{}).(io.Writer); ok {
		return w
	}
	return os.Stdout
}

func (r *report) begin(step string) io.Writer {
	r.mu.Lock()
	r.now[step] = func() string { return step }
	r.mu.Unlock()
	r.line(step, "begins")
	return &lines{r: r, step: step}
}

func (r *report) end(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.now, step)
}

func (r *report) count(t *tally) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tested = true
	r.total.add(*t)
}

func (r *report) line(step, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(step, text)
}

func (r *report) print(step, text string) {
	r.spoke = time.Now()
	fmt.Printf("[%4ds] %-11s %s\n", int(time.Since(r.begun).Seconds()), step, text)
}

// tell says what is running whenever nothing was printed for a while. The returned
// function ends it.
func (r *report) tell() (stop func()) {
	tick := time.NewTicker(time.Second)
	done := make(chan struct{})
	after := quietLog
	if info, err := os.Stdout.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		after = quiet
	}
	var over sync.WaitGroup
	over.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			r.mu.Lock()
			if time.Since(r.spoke) >= after {
				var at []string
				for _, what := range r.now {
					at = append(at, what())
				}
				slices.Sort(at)
				r.print("running", strings.Join(at, "; "))
			}
			r.mu.Unlock()
		}
	})
	return func() {
		tick.Stop()
		close(done)
		over.Wait()
	}
}

// lines prints what a step writes, line by line.
type lines struct {
	r    *report
	step string

	mu   sync.Mutex
	rest []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		line, rest, ended := bytes.Cut(l.rest, []byte("\n"))
		if !ended {
			return len(b), nil
		}
		l.r.line(l.step, string(line))
		l.rest = rest
	}
}

// at tells how to ask what the step is at.
func (l *lines) at(what func() string) {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	l.r.now[l.step] = func() string { return l.step + ": " + what() }
}
