package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hubcli/internal/peertext"
)

// The log of hooks in the data root has one line for each run. One older file
// is kept.
const (
	logName     = "hook.log"
	maxLogBytes = 256 << 10
)

// log adds a line to the log if there is a data root. Of text that a peer or a
// harness wrote, it logs names only.
func log(root string, now time.Time, format string, args ...any) {
	if root == "" {
		return
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return
	}
	name := filepath.Join(root, logName)
	if info, err := os.Stat(name); err == nil && info.Size() > maxLogBytes {
		_ = os.Rename(name, name+".1")
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	line := peertext.Plain(fmt.Sprintf(format, args...))
	_, _ = f.WriteString(now.UTC().Format(time.RFC3339) + " " + shorten(line, 500) + "\n")
}
