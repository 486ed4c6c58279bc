package wake

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// inputFlag names, on the command line of Qwen Code, the file from which it takes what
// another program says: a line of JSON for each text. A busy session takes it after its turn.
const inputFlag = "--input-file"

// Qwen returns a function that gives a text to a session of Qwen Code; nil if the session
// was not begun with an input file. parent is the process of the session. The function
// writes to no other file, and makes none.
func Qwen(parent int) func(ctx context.Context, text string) error {
	args, dir, ok := commandLine(parent)
	if !ok {
		return nil
	}
	file := inputFile(args, dir)
	if file == "" {
		return nil
	}
	return func(_ context.Context, text string) error { return submit(file, text) }
}

// inputFile returns the absolute path of the input file that a command line names; empty if
// it names none. A relative path is one from dir.
func inputFile(args []string, dir string) (file string) {
	for i, arg := range args {
		value, joined := strings.CutPrefix(arg, inputFlag+"=")
		switch {
		case arg == "--":
			return ""
		case joined:
			file = value
		case arg == inputFlag && i+1 < len(args):
			file = args[i+1]
		default:
			continue
		}
		break
	}
	switch {
	case file == "", filepath.IsAbs(file):
		return file
	case dir == "":
		return ""
	}
	return filepath.Join(dir, file)
}

// submit appends a line to the file. One write keeps it whole beside the lines of others.
func submit(file, text string) error {
	line, err := json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"submit", text})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|nonblock, 0)
	if err != nil {
		return bare(err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(bare(err), f.Close())
}

// bare removes the path from an error, which may be private.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return errors.New("the input file of Qwen Code: " + p.Err.Error())
	}
	return err
}
