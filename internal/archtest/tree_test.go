package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hubcli/internal/require"
)

// root is the module's root as seen from this package.
var root = filepath.Join("..", "..")

// module is the path of the module, which go.mod alone decides.
var module = func() string {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		panic(err)
	}
	line, _, _ := strings.Cut(string(mod), "\n")
	return strings.TrimPrefix(line, "module ")
}()

// goFile is one parsed source file of the module.
type goFile struct {
	path    string // slashes, from the root
	dir     string // folder from the root, "." for the root
	test    bool
	fset    *token.FileSet
	syntax  *ast.File
	imports []string
	lines   int
}

// line is the line number of a node.
func (f *goFile) line(p token.Pos) int { return f.fset.Position(p).Line }

// project lists the project's files from the root: what git tracks or would
// track, or in a source archive everything that is not hidden.
var project = sync.OnceValues(func() ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		var files []string
		for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
				files = append(files, name)
			}
		}
		return files, nil
	}
	var files []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() && rel != "." && rel != ".ci" && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	return files, err
})

func projectFiles(t *testing.T) []string {
	t.Helper()
	files, err := project()
	require.NoError(t, err)
	return files
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return b
}

// goFiles returns the module's Go files, whatever platform they are for. Nested
// modules and test data are not part of the module. Tests share the files and do
// not change them.
func goFiles(t *testing.T) []*goFile {
	t.Helper()
	files, err := parsed()
	require.NoError(t, err)
	if len(files) == 0 {
		t.Fatal("no Go file found: the test looks in the wrong folder")
	}
	return files
}

// parsed holds the files of goFiles, each parsed once.
var parsed = sync.OnceValues(func() ([]*goFile, error) {
	names, err := project()
	if err != nil {
		return nil, err
	}
	var files []*goFile
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "internal/tools/") || strings.HasPrefix(name, "third_party/") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		f := &goFile{
			path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			fset: fset, syntax: syntax, lines: bytes.Count(src, []byte("\n")),
		}
		for _, spec := range syntax.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			f.imports = append(f.imports, p)
		}
		files = append(files, f)
	}
	return files, nil
})
