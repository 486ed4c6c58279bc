package main

import (
	"bytes"
	"io"
	"runtime"
	"strings"

	"hubcli/cli/term"
	"hubcli/internal/peertext"
)

// standardLog takes what is written to the standard library's logger. The library's HTTP
// client remarks on odd servers there, which is left out: what users read is said by the
// commands themselves. Badger ends the process there if it finds its own state impossible:
// the library logs the reason and exits with 1. Then the reason is told, with the exit code
// of a store that failed: nobody is left with a process that ended without a word.
type standardLog struct {
	stderr io.Writer
	exit   func(code int)
}

func (l standardLog) Write(b []byte) (int, error) {
	if endsProcess() {
		reason, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte{'\n'})
		_, _ = io.WriteString(l.stderr, "hubcli: the database ended the process: "+peertext.TerminalLine(string(reason))+
			"\nfix: see what is wrong with `hubcli app doctor`, then start again; nothing that was acknowledged is lost, or the start says so\n")
		l.exit(term.ExitStore)
	}
	return len(b), nil
}

// endsProcess reports whether log.Fatal or one of its kind is writing.
func endsProcess() bool {
	var calls [16]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "log.Fatal") || strings.HasPrefix(f.Function, "log.(*Logger).Fatal") {
			return true
		}
		if !more {
			return false
		}
	}
}
