package archtest

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

// Tests may be longer: a table is read line by line.
func TestFilesAndFunctionsStaySmall(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || ast.IsGenerated(f.syntax) {
			continue
		}
		if f.lines > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: it has more than one subject", f.path, f.lines, maxFileLines)
		}
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d: keep the branches, move the leaves out", f.path, fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	type pkg struct {
		name    string
		code    bool // has files that are not tests
		clauses []string
	}
	packages := map[string]*pkg{}
	files := goFiles(t)
	for _, f := range files {
		p := packages[f.dir]
		if p == nil {
			p = &pkg{}
			packages[f.dir] = p
		}
		if f.test {
			continue
		}
		p.name, p.code = f.syntax.Name.Name, true
		if f.syntax.Doc != nil {
			p.clauses = append(p.clauses, f.path)
			checkPackageComment(t, f)
		}
		for _, comment := range f.syntax.Comments {
			if comment != f.syntax.Doc && comment.End() < f.syntax.Package && beginsAsPackageComment(comment.Text()) {
				t.Errorf("%s: a blank line parts the package comment from the package clause, so that go doc does not show it", f.path)
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p := packages[dir]
		if !p.code {
			t.Errorf("%s holds tests alone; give it a doc.go that says what they prove", dir)
		} else if len(p.clauses) != 1 {
			t.Errorf("%s: package %s has %d package comments, wants exactly one: %s", dir, p.name, len(p.clauses), strings.Join(p.clauses, ", "))
		}
	}
}

func beginsAsPackageComment(text string) bool {
	return strings.HasPrefix(text, "Package ") || strings.HasPrefix(text, "Command ")
}

func checkPackageComment(t *testing.T, f *goFile) {
	t.Helper()
	want := "Package " + f.syntax.Name.Name + " "
	if f.syntax.Name.Name == "main" {
		want = "Command " + path.Base(f.dir) + " "
	}
	if text := f.syntax.Doc.Text(); !strings.HasPrefix(text, want) {
		line, _, _ := strings.Cut(text, "\n")
		t.Errorf("%s: the package comment begins %q, wants %q and what it is for", f.path, line, want+"...")
	}
}

// A folder is a noun of the domain or of a boundary; these say nothing about
// what is inside, so that anything ends up there.
func TestNoFolderForEverything(t *testing.T) {
	vague := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "pkg", "lib", "manager", "managers", "base"}
	for _, f := range goFiles(t) {
		for part := range strings.SplitSeq(f.dir, "/") {
			if slices.Contains(vague, part) {
				t.Errorf("%s: a folder named %s says nothing about what is in it", f.path, part)
			}
		}
		if slices.Contains(vague, f.syntax.Name.Name) {
			t.Errorf("%s: a package named %s says nothing about what is in it", f.path, f.syntax.Name.Name)
		}
	}
}

// Only main ends the process: everything else returns an error and can be
// tested.
func TestOnlyMainExits(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || f.syntax.Name.Name == "main" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && exits(pkg.Name, sel.Sel.Name) {
					t.Errorf("%s:%d calls %s.%s: only package main ends the process", f.path, f.line(n.Pos()), pkg.Name, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

func exits(pkg, name string) bool {
	return pkg == "os" && name == "Exit" || pkg == "log" && (strings.HasPrefix(name, "Fatal") || strings.HasPrefix(name, "Panic"))
}

// Work that is put off belongs in the tracker, not in the source.
func TestNothingIsPutOff(t *testing.T) {
	marks := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}
	for _, f := range goFiles(t) {
		for _, group := range f.syntax.Comments {
			for _, mark := range marks {
				if slices.Contains(strings.FieldsFunc(group.Text(), notLetter), mark) {
					t.Errorf("%s:%d: %s in a comment: finish it or leave it out", f.path, f.line(group.Pos()), mark)
				}
			}
		}
	}
}

func notLetter(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }

// implied are methods whose interface says what they do.
var implied = []string{"Error", "String", "Unwrap", "Is", "As", "Len", "Less", "Swap", "Push", "Pop", "Read", "Write", "Close", "ServeHTTP", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"}

// A comment belongs to every exported name, or to the group in which it stands.
func TestExportedNamesHaveComments(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || f.syntax.Name.Name == "main" || ast.IsGenerated(f.syntax) {
			continue
		}
		for _, decl := range f.syntax.Decls {
			for _, name := range uncommented(decl) {
				t.Errorf("%s:%d: %s has no comment", f.path, f.line(name.Pos()), name.Name)
			}
		}
	}
}

// uncommented returns the exported names of a declaration that have no comment.
func uncommented(decl ast.Decl) (names []*ast.Ident) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		ofType := decl.Recv == nil || ast.IsExported(receiver(decl.Recv.List[0].Type))
		if decl.Doc == nil && ofType && decl.Name.IsExported() && (decl.Recv == nil || !slices.Contains(implied, decl.Name.Name)) {
			names = append(names, decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if decl.Doc == nil && spec.Doc == nil && spec.Comment == nil && spec.Name.IsExported() {
					names = append(names, spec.Name)
				}
			case *ast.ValueSpec:
				if decl.Doc == nil && spec.Doc == nil && spec.Comment == nil && spec.Names[0].IsExported() {
					names = append(names, spec.Names[0])
				}
			}
		}
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
