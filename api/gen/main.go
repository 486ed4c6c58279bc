// Command gen makes what other files say of the table of operations from the table itself: from
// the rows of package api, the structs and bounds of package hub, and the comments of both.
//
// It runs in the folder of package api, by go generate. It is a program for people who change the
// hub: nothing of it is delivered. TestFresh fails if it would write something else than there is.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
)

// root is the way from the folder of package api to that of the module.
const root = ".."

func main() {
	made, err := all(root)
	for name, text := range made {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), text, 0o644)
		}
	}
	if err == nil {
		err = pack(filepath.Join(root, described), made[described])
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// described is the description of the wire.
const described = "api/openapi.yaml"

// all makes the files, by their paths from the root of the module.
func all(root string) (map[string][]byte, error) {
	src, err := read(root)
	if err != nil {
		return nil, err
	}
	description, err := describe(src)
	if err != nil {
		return nil, err
	}
	made := map[string][]byte{described: description}
	for name, make := range map[string]func(*source) ([]byte, error){
		"api/bounds_gen.go":                  checks,
		"api/client/methods_gen.go":          func(src *source) ([]byte, error) { return client(src, root) },
		"docs/calls.md":                      callsPage,
		"python/src/hubclient/operations.py": pythonTable,
		"mcp/limits_gen.go":                  func(src *source) ([]byte, error) { return toolLimits(src, root) },
	} {
		if made[name], err = make(src); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return made, nil
}

// pack writes the packed form of a file beside it.
func pack(name string, text []byte) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name+".gz", packed.Bytes(), 0o644)
}
