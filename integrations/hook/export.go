package hook

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"hubcli/internal/peertext"
)

const maxEnvFile = 1 << 20

// export adds a line to the file of variables that a harness hands to its later
// commands, unless the file has it already.
func export(path, name, value string) error {
	if !filepath.IsAbs(path) {
		return errors.New("the path is not absolute")
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is not a regular file") // opening a pipe would wait
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEnvFile))
	if err != nil {
		return err
	}
	line := []byte("export " + name + "=" + peertext.Shell(value))
	for have := range bytes.Lines(b) {
		if bytes.Equal(bytes.TrimRight(have, "\r\n"), line) {
			return nil
		}
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		line = append([]byte("\n"), line...)
	}
	_, err = f.Write(append(line, '\n'))
	return err
}
