// Package testlog keeps what a program under test writes. It is for tests; it
// opens no file.
package testlog

import (
	"bytes"
	"sync"
)

// Buffer may be read while others write to it. The zero value is ready.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *Buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
