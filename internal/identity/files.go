package identity

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

const (
	maxFileBytes = 16 << 10
	maxSwept     = 4096 // files that one sweep looks at
	readAgain    = 10   // times that a file is read again which is replaced during the read
)

// makeFolder makes a folder of this package. One that others can write to is an
// error.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return Trust(dir, Written)
}

// replace puts a value as JSON under a name of a folder that it makes.
func replace(dir, path string, value any) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	return osfile.Replace(osfile.Disk{}, path, content(value))
}

// create is replace of what must not be there yet: fs.ErrExist if it is.
func create(dir, path string, value any) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	return osfile.Create(path, content(value))
}

func content(value any) osfile.Content {
	text, err := json.Marshal(value)
	if err != nil { // the values are structs of strings
		panic(err)
	}
	return osfile.Content{Write: osfile.Bytes(append(text, '\n'))}
}

// load reads a value that lies under a name of a folder, if nobody else can have
// written it and it names an agent.
func load(dir, path string, tell func(error), value any, agent *hub.AgentID) bool {
	return read(dir, path, tell, value) && hub.CheckSender("agent_id", *agent) == nil
}

// read reads a value that lies under a name of a folder, if nobody else can have written it.
func read(dir, path string, tell func(error), value any) bool {
	if !trusts(dir, tell) || !trusts(path, tell) {
		return false
	}
	b, err := osfile.ReadSmall(path, maxFileBytes)
	for again := 0; errors.Is(err, osfile.ErrExchanged) && again < readAgain; again++ {
		b, err = osfile.ReadSmall(path, maxFileBytes) // another process has just replaced it
	}
	return err == nil && json.Unmarshal(b, value) == nil
}

// sweep removes the regular files of a folder for which old says so. It looks at
// maxSwept files at most.
func sweep(dir string, old func(name string, info fs.FileInfo) bool) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	entries, err := d.ReadDir(maxSwept)
	if err = errors.Join(err, d.Close()); err != nil && len(entries) == 0 {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && old(e.Name(), info) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may have removed it
		}
	}
}

func age(info fs.FileInfo, now time.Time) time.Duration { return now.Sub(info.ModTime()) }
