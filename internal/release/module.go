package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// modulePath is what a module that go install can fetch may be called: the name of a
// host, then folders.
var modulePath = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+$`)

// renameModule gives the module below root another path. go.mod alone decides what the
// path is; this command carries it to the places that have to repeat it: the imports,
// the module of the tools, and the rules of the linter. Names of the program, which
// begin alike, stay as they are.
func renameModule(ctx context.Context, root, to string) error {
	if !modulePath.MatchString(to) {
		return fmt.Errorf("%q cannot be fetched as a module; name one such as example.org/team/hub", to)
	}
	from, err := moduleOf(root)
	if err != nil {
		return err
	}
	names, err := projectFiles(ctx, root)
	if err != nil {
		return err
	}
	changed := 0
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		renamed, err := renameIn(name, old, from, to)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if bytes.Equal(old, renamed) {
			continue
		}
		if err := os.WriteFile(path, renamed, 0o644); err != nil {
			return err
		}
		changed++
	}
	fmt.Printf("%s is %s now: %d files changed; run make format, for imports are sorted by path\n", from, to, changed)
	return nil
}

var moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)

// moduleOf reads the module's path from go.mod.
func moduleOf(root string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	match := moduleLine.FindSubmatch(mod)
	if match == nil {
		return "", errors.New("go.mod names no module")
	}
	return string(match[1]), nil
}

// projectFiles lists what git tracks or would track; without a repository, everything
// that is not hidden.
func projectFiles(ctx context.Context, root string) ([]string, error) {
	if out, err := git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"); err == nil && out != "" {
		names := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
		return slices.DeleteFunc(names, func(name string) bool {
			info, err := os.Lstat(filepath.Join(root, name))
			return err != nil || !info.Mode().IsRegular()
		}), nil
	}
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	return names, err
}

// renameIn returns a file's text with the module's path changed.
func renameIn(name string, text []byte, from, to string) ([]byte, error) {
	switch {
	case strings.HasSuffix(name, ".go") && !strings.Contains(name, "testdata/"):
		return renameImports(name, text, from, to)
	case name == "go.mod" || strings.HasSuffix(name, "/go.mod"):
		return moduleLine.ReplaceAllFunc(text, func(line []byte) []byte {
			old := strings.TrimPrefix(string(line), "module ")
			return []byte("module " + renamed(old, from, to))
		}), nil
	case name == ".golangci.yml":
		// Packages stand there behind a blank, a bracket or a star.
		packages := regexp.MustCompile(`([\s(\[*])` + regexp.QuoteMeta(from) + `/`)
		return packages.ReplaceAll(text, []byte("${1}"+to+"/")), nil
	}
	return text, nil
}

// renamed is a path of a package with the module's path changed.
func renamed(path, from, to string) string {
	if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || rest[0] == '/') {
		return to + rest
	}
	return path
}

// renameImports changes the imports of a Go file, and nothing else in it.
func renameImports(name string, text []byte, from, to string) ([]byte, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(text)
	for _, spec := range slices.Backward(parsed.Imports) { // from the end, so that places stay right
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		begin := fset.Position(spec.Path.Pos()).Offset
		out = slices.Replace(out, begin, begin+len(spec.Path.Value), []byte(strconv.Quote(renamed(path, from, to)))...)
	}
	return out, nil
}
