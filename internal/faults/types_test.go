package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"hubcli/internal/require"
)

// checker tells whether a file with a mistake in it compiles. It has the types of the
// packages from what the go command has compiled already, and reads of the file's own
// package the declarations only, so that a file takes milliseconds.
type checker struct {
	set      *token.FileSet
	config   types.Config
	packages map[string][]string             // by folder: the names of its files that are built here
	parsed   map[string]map[string]*ast.File // by folder and name, without the bodies of functions
}

// newChecker compiles the module if that is not done yet.
func newChecker(t *testing.T) *checker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	c := &checker{set: token.NewFileSet(), packages: map[string][]string{}, parsed: map[string]map[string]*ast.File{}}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Module                  *struct {
				Main      bool
				GoVersion string
			}
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			c.packages[p.Dir] = p.GoFiles
			c.config.GoVersion = "go" + p.Module.GoVersion
		}
	}
	c.config.Importer = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("nothing is compiled of %s", path)
		}
		return os.Open(exports[path])
	})
	c.config.Sizes = types.SizesFor("gc", runtime.GOARCH)
	return c
}

// check returns what the compiler has against a file whose text is replaced. A file that is
// not built on this system is not checked.
func (c *checker) check(path, text string) error {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	if !slices.Contains(c.packages[dir], name) {
		return nil
	}
	if err := c.declarations(dir); err != nil {
		return err
	}
	spoiled, err := parser.ParseFile(c.set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	of := c.set.File(spoiled.FileStart)
	files := []*ast.File{spoiled}
	for _, other := range slices.Sorted(maps.Keys(c.parsed[dir])) {
		if other != name {
			files = append(files, c.parsed[dir][other])
		}
	}
	var found error
	config := c.config
	config.Error = func(err error) {
		// The other files lack their bodies, and so the uses of what they import.
		var wrong types.Error
		if errors.As(err, &wrong) && of == c.set.File(wrong.Pos) {
			found = errors.Join(found, err)
		}
	}
	_, _ = config.Check(dir, c.set, files, nil) // its error is one that Error had
	return found
}

// declarations reads the files of a folder, once, and forgets what their functions do.
func (c *checker) declarations(dir string) error {
	if c.parsed[dir] != nil {
		return nil
	}
	parsed := map[string]*ast.File{}
	for _, name := range c.packages[dir] {
		file, err := parser.ParseFile(c.set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				fn.Body = nil
			}
		}
		parsed[name] = file
	}
	c.parsed[dir] = parsed
	return nil
}
