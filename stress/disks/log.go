package disks

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// maxRepeats is how often a line may be in the log of one step, whatever its times and
// numbers are. A step takes seconds, and the agents call thousands of times in it.
const maxRepeats = 20

// hubLog counts the lines of a hub's log. The lines of calls are left out: there is one
// for each call that changes something, by design.
type hubLog struct {
	mu    sync.Mutex
	rest  []byte         // the beginning of a line
	lines map[string]int // by their text without times and numbers
	crash string         // the first line of a crash of the runtime
}

var (
	lineTime = regexp.MustCompile(`^time=\S+ `)
	numbers  = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
)

func (l *hubLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte{'\n'})
		if !ok {
			return len(b), nil
		}
		l.take(string(line))
		l.rest = rest
	}
}

func (l *hubLog) take(line string) {
	for _, sign := range []string{"panic:", "fatal error:", "unexpected fault address", "[signal "} {
		if strings.HasPrefix(line, sign) && l.crash == "" {
			l.crash = line
		}
	}
	if strings.Contains(line, " msg=call ") {
		return
	}
	if l.lines == nil {
		l.lines = map[string]int{}
	}
	l.lines[numbers.ReplaceAllString(lineTime.ReplaceAllString(line, ""), "0")]++
}

// check refuses a log with a crash or with a line that repeats itself.
func (l *hubLog) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.crash != "" {
		return errors.New("the hub crashed: " + l.crash)
	}
	for line, n := range l.lines {
		if n > maxRepeats {
			return fmt.Errorf("%d times in the log of one hub: %s", n, line)
		}
	}
	return nil
}

// has reports whether a line holds a word.
func (l *hubLog) has(word string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range l.lines {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}
