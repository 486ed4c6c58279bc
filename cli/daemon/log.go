package daemon

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"

	"hubcli/internal/peertext"
)

// Limits of the log file.
const (
	logMaxMegabytes = 10
	logKept         = 3
	logHeldBytes    = 64 << 10 // of lines before the store is open
)

// Log is the log file in the store. The store makes its folder and refuses
// unknown files in it, so lines are held in memory until Open is called. They
// also go to stderr, for the process that started the daemon.
type Log struct {
	mu     sync.Mutex
	held   []byte
	stderr io.Writer
	path   string
	file   *lumberjack.Logger // nil until Open
	crash  *os.File
	folder os.FileInfo // in which the file was opened; nil: it is not known
}

// NewLog returns the log at path. It makes no file and no folder before Open.
func NewLog(path string, stderr io.Writer) *Log {
	return &Log{path: path, stderr: stderr}
}

// Write writes one line: to the file, or to stderr and memory while it is not open.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return l.write(b)
	}
	if room := logHeldBytes - len(l.held); room > 0 {
		l.held = append(l.held, b[:min(len(b), room)]...)
	}
	return l.stderr.Write(b)
}

// write writes to the file. Where another folder has the path of the store by now, the line goes
// to the file that is open and to no new one: the files there are not this hub's. mu is held.
func (l *Log) write(b []byte) (int, error) {
	if l.folder != nil && l.crash != nil {
		if now, err := os.Stat(filepath.Dir(l.path)); err != nil || !os.SameFile(now, l.folder) {
			return l.crash.Write(b)
		}
	}
	return l.file.Write(b)
}

// Open begins the file with the held lines. From now on the runtime's report of
// a crash goes to the file too.
func (l *Log) Open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return
	}
	l.file = &lumberjack.Logger{Filename: l.path, MaxSize: logMaxMegabytes, MaxBackups: logKept}
	// An unwritable log must not stop the hub; the store reports a failing disk
	// itself.
	_, _ = l.file.Write(l.held)
	l.held = nil
	if f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err == nil {
		l.crash = f
		l.folder, _ = os.Stat(filepath.Dir(l.path))
		_ = debug.SetCrashOutput(f, debug.CrashOptions{})
	}
}

// Fail leaves the last sentence of a daemon in its log. It is escaped for a terminal.
func (l *Log) Fail(sentence string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_, _ = l.write([]byte("hubcli: " + peertext.TerminalLine(sentence) + "\n"))
	}
}

// Close closes the file.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.crash != nil {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = l.crash.Close()
	}
	if l.file != nil {
		_ = l.file.Close()
	}
}
