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
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// checker tells whether a file with a mistake in it compiles. It has the types of the
// packages from what the go command has compiled already, and reads of the file's own
// package the declarations only, so that a file takes milliseconds. What a mistake breaks in
// other files it does not notice: mistakes are made inside of functions.
type checker struct {
	set      *token.FileSet
	config   types.Config
	packages map[string][]string             // by folder: the names of its files that are built here
	ignored  map[string][]string             // by folder: the names of its files for other systems
	parsed   map[string]map[string]*ast.File // by folder and name, without the bodies of functions
}

// newChecker compiles the module if that is not done yet.
func newChecker(t *testing.T) *checker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,IgnoredGoFiles,Module", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the executable is built
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	c := &checker{set: token.NewFileSet(), packages: map[string][]string{}, ignored: map[string][]string{}, parsed: map[string]map[string]*ast.File{}}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles, IgnoredGoFiles []string
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
			c.packages[p.Dir], c.ignored[p.Dir] = p.GoFiles, p.IgnoredGoFiles
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
// not built on this system is not checked; one that the go command does not know is an error.
func (c *checker) check(path, text string) error {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	switch {
	case slices.Contains(c.ignored[dir], name):
		return nil
	case !slices.Contains(c.packages[dir], name):
		return fmt.Errorf("the go command knows no file %s", path)
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
	for _, other := range c.packages[dir] {
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

// TestChecker: a file with a mistake must compile, and one that does not is told from it.
func TestChecker(t *testing.T) {
	c := newChecker(t)
	path, err := filepath.Abs(filepath.Join(root, "internal", "pause", "memory.go"))
	require.NoError(t, err)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, tt := range []struct {
		name, old, by string
		fails         string
	}{
		{"as it is", "", "", ""},
		{"another value", "return true", "return !quiet", ""},
		{"no such name", "b.last = allocated", "b.least = allocated", "b.least undefined"},
		{"another type", "return true", "return 1", "cannot use 1"},
		{"a variable without use", "return true", "unused := 1\n\treturn true", "declared and not used: unused"},
		{"an import without use", "debug.FreeOSMemory()", "", "imported and not used"},
		{"no program at all", "package pause", "package", "expected 'IDENT'"},
	} {
		err := c.check(path, strings.Replace(string(whole), tt.old, tt.by, 1))
		if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.fails)
		}
	}
	if err := c.check(filepath.Join(filepath.Dir(path), "none.go"), string(whole)); err == nil {
		t.Error("a file that does not exist compiles")
	}
}
