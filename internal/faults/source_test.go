package faults

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"hubcli/internal/require"
)

// root is the folder of the module, seen from this package.
const root = "../.."

// source is one file of the module that is not a test.
type source struct {
	path   string // absolute
	text   string
	syntax *ast.File
	file   *token.File
}

// offset returns where a node begins in the text.
func (s *source) offset(p token.Pos) int { return s.file.Offset(p) }

// of returns the text of a node.
func (s *source) of(n ast.Node) string { return s.text[s.offset(n.Pos()):s.offset(n.End())] }

// cut is a part of a text and what to put in its place.
type cut struct {
	from, to int
	by       string
}

// edit finds its places within a function.
type edit func(s *source, fn ast.Node) []cut

// swap replaces a text by another.
func swap(old, by string) edit {
	return func(s *source, fn ast.Node) (cuts []cut) {
		begin := s.offset(fn.Pos())
		body := s.of(fn)
		for at := 0; ; {
			i := strings.Index(body[at:], old)
			if i < 0 {
				return cuts
			}
			at += i + len(old)
			cuts = append(cuts, cut{begin + at - len(old), begin + at, by})
		}
	}
}

// drop removes the statement that holds a text, unless it holds another such
// statement. An if goes with its branches where the text is in its first line.
func drop(text string) edit {
	return func(s *source, fn ast.Node) (cuts []cut) {
		ast.Inspect(fn, func(n ast.Node) bool {
			head := n
			switch n := n.(type) {
			case *ast.IfStmt:
				head = n.Cond
				if n.Init != nil {
					head = n.Init
				}
			case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.ReturnStmt:
			default:
				return true
			}
			if !strings.Contains(s.of(head), text) {
				return true
			}
			cuts = append(cuts, cut{s.offset(n.Pos()), s.offset(n.End()), ""})
			return false
		})
		return cuts
	}
}

// never makes the condition false that holds a text: of an if, of a loop or of a
// case without a tag.
func never(text string) edit { return condition(text, "false && ") }

// always makes such a condition true.
func always(text string) edit { return condition(text, "true || ") }

func condition(text, prefix string) edit {
	return func(s *source, fn ast.Node) (cuts []cut) {
		add := func(cond ast.Expr) {
			if cond != nil && strings.Contains(s.of(cond), text) {
				cuts = append(cuts, cut{s.offset(cond.Pos()), s.offset(cond.End()), prefix + "(" + s.of(cond) + ")"})
			}
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt:
				add(n.Cond)
			case *ast.ForStmt:
				add(n.Cond)
			case *ast.SwitchStmt:
				if n.Tag != nil {
					break
				}
				for _, clause := range n.Body.List {
					for _, cond := range clause.(*ast.CaseClause).List {
						add(cond)
					}
				}
			}
			return true
		})
		return cuts
	}
}

// module is what is read of the tree, once.
type module struct {
	functions map[string][]function // by name, without receivers
	tests     map[string][]string   // folders, from the root, by name of the test
}

// function is one declaration and where it stands.
type function struct {
	in   *source
	decl ast.Node
}

var (
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	tree     = sync.OnceValues(readTree)
)

func readTree() (*module, error) {
	m := &module{functions: map[string][]function{}, tests: map[string][]string{}}
	base, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != base && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "node_modules", "tools"}, name)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		return m.read(base, path)
	})
	return m, err
}

func (m *module) read(base, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, "_test.go") {
		dir, err := filepath.Rel(base, filepath.Dir(path))
		for _, match := range testFunc.FindAllSubmatch(text, -1) {
			m.tests[string(match[1])] = append(m.tests[string(match[1])], filepath.ToSlash(dir))
		}
		return err
	}
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s := &source{path: path, text: string(text), syntax: syntax, file: set.File(syntax.FileStart)}
	for _, decl := range syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			m.functions[decl.Name.Name] = append(m.functions[decl.Name.Name], function{s, decl})
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					m.functions[v.Names[0].Name] = append(m.functions[v.Names[0].Name], function{s, v})
				}
			}
		}
	}
	return nil
}

// plant returns the file with the mistake in it. The place must be one: the edit
// says which of several functions of the name is meant.
func (f *fault) plant(m *module) (path, text string, err error) {
	var found *source
	var at []cut
	for _, fn := range m.functions[f.in] {
		if cuts := f.edit(fn.in, fn.decl); len(cuts) > 0 {
			found, at = fn.in, append(at, cuts...)
		}
	}
	switch {
	case len(m.functions[f.in]) == 0:
		return "", "", fmt.Errorf("the module has no function %s; fit the fault to the code", f.in)
	case len(at) != 1:
		return "", "", fmt.Errorf("functions named %s have %d places for the mistake, want one; fit the fault to the code", f.in, len(at))
	}
	return found.path, found.text[:at[0].from] + at[0].by + found.text[at[0].to:], nil
}

// The edits themselves: each finds its place and leaves the rest.
func TestEdits(t *testing.T) {
	const text = "package p\n\nfunc f(a int) error {\n\tif a > 1 {\n\t\tg(a)\n\t}\n\tif err := h(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n"
	path := filepath.Join(t.TempDir(), "p.go")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	m := &module{functions: map[string][]function{}, tests: map[string][]string{}}
	require.NoError(t, m.read(filepath.Dir(path), path))
	for _, c := range []struct {
		name      string
		edit      edit
		old, want string
	}{
		{"swap", swap("a > 1", "a > 2"), "a > 1", "a > 2"},
		{"drop", drop("g("), "g(a)", ""},
		{"drop if", drop("h("), "if err := h(); err != nil {\n\t\treturn err\n\t}", ""},
		{"never", never("> 1"), "a > 1", "false && (a > 1)"},
		{"always", always("err"), "err != nil", "true || (err != nil)"},
	} {
		f := fault{in: "f", edit: c.edit}
		_, got, err := f.plant(m)
		if want := strings.Replace(text, c.old, c.want, 1); err != nil || got != want {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
	for _, f := range []fault{{in: "f", edit: swap("a", "b")}, {in: "f", edit: drop("nothing")}, {in: "g", edit: swap("a", "b")}} {
		if _, _, err := f.plant(m); err == nil {
			t.Errorf("a fault in %s was planted without one place for it", f.in)
		}
	}
}
