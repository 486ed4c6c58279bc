package term

import (
	"context"
	"io"
	"os"
)

// StdinName is the file name that means standard input.
const StdinName = "-"

// ReadInput reads a file of at most a number of bytes; over reports that it has more.
// The name "-" is standard input, which may be a terminal or a pipe that says nothing:
// the end of ctx ends the wait for it.
func ReadInput(ctx context.Context, env *Env, path string, most int64) (data []byte, over bool, err error) {
	const fix = "name a file that can be read"
	from := env.Stdin
	if path != StdinName {
		// A pipe or a device would block or never end, so it is not opened.
		info, err := os.Stat(path)
		if err != nil {
			return nil, false, Usage(fix, "%s", err)
		}
		if !info.Mode().IsRegular() {
			return nil, false, Usage("name a regular file, or use - and a pipe", "%s is not a regular file", path)
		}
		if info.Size() > most {
			return nil, true, nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, false, Usage(fix, "%s", err)
		}
		defer f.Close()
		from = f
	}
	data, err = readAll(ctx, io.LimitReader(from, most+1))
	switch {
	case ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case err != nil:
		return nil, false, Usage(fix, "%s cannot be read: %v", path, err)
	}
	return data, int64(len(data)) > most, nil
}

// readAll is io.ReadAll until ctx ends. A read that blocks then stays behind and ends
// with the process.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type answer struct {
		data []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		data, err := io.ReadAll(r)
		done <- answer{data, err}
	}()
	select {
	case a := <-done:
		return a.data, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
