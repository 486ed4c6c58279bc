package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source is what the files of packages hub and api say beside their types.
type source struct {
	docs   map[string]string   // comments, by "Type" and "Type.Field"
	values map[string][]string // the constants of a type of strings, in their order, by its name
	limits map[string]string   // numbers of package hub, by the names of their constants
	rows   map[string]prose    // the comments of the rows of the table, by their ids
}

// read parses the files.
func read(root string) (*source, error) {
	src := &source{docs: map[string]string{}, values: map[string][]string{}, limits: map[string]string{}, rows: map[string]prose{}}
	fset := token.NewFileSet()
	for _, dir := range []string{"hub", "api"} {
		files, err := parse(fset, filepath.Join(root, dir))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if dir == "hub" || f.Scope.Lookup("Envelope") != nil {
				src.typeDocs(f)
			}
			if err := src.rowDocs(fset, f); err != nil {
				return nil, err
			}
		}
		if dir == "hub" {
			src.constants(fset, files)
		}
	}
	return src, nil
}

func parse(fset *token.FileSet, dir string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// typeDocs notes what comments say of types and of their fields.
func (s *source) typeDocs(f *ast.File) {
	for _, decl := range f.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			t := spec.(*ast.TypeSpec)
			doc := t.Doc
			if doc == nil {
				doc = group.Doc
			}
			s.docs[t.Name.Name] = paragraphOf(doc.Text(), "API")
			if fields, ok := t.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					for _, name := range field.Names {
						s.docs[t.Name.Name+"."+name.Name] = oneLine(field.Doc.Text() + " " + field.Comment.Text())
					}
				}
			}
		}
	}
}

// paragraphOf returns the paragraph of a text that begins with a label, or "".
func paragraphOf(text, label string) string {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if said, ok := strings.CutPrefix(paragraph, label+": "); ok {
			return oneLine(said)
		}
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// constants notes the constants of package hub. Those that depend on other packages are left out:
// no bound does.
func (s *source) constants(fset *token.FileSet, files []*ast.File) {
	config := types.Config{Importer: nobody{}, Error: func(error) {}}
	pkg, _ := config.Check("hub", fset, files, nil) // without imports there are errors
	var all []*types.Const
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() != constant.Unknown {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *types.Const) int { return int(a.Pos() - b.Pos()) })
	for _, c := range all {
		switch named, _ := c.Type().(*types.Named); {
		case c.Val().Kind() == constant.Int:
			s.limits[c.Name()] = c.Val().ExactString()
		case named != nil && c.Val().Kind() == constant.String:
			s.values[named.Obj().Name()] = append(s.values[named.Obj().Name()], constant.StringVal(c.Val()))
		}
	}
}

// nobody imports nothing.
type nobody struct{}

// Import implements types.Importer.
func (nobody) Import(path string) (*types.Package, error) { return nil, fmt.Errorf("no %s", path) }

// rowDocs notes the comments above the rows of the table.
func (s *source) rowDocs(fset *token.FileSet, f *ast.File) (err error) {
	ends := map[int]*ast.CommentGroup{} // comments by the lines where they end
	for _, group := range f.Comments {
		ends[fset.Position(group.End()).Line] = group
	}
	ast.Inspect(f, func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || row.Type != nil { // rows stand in a list that names their type
			return true
		}
		if id := rowID(row); id != "" {
			comment := ends[fset.Position(row.Pos()).Line-1]
			said, refused := parseProse(comment.Text())
			if refused != nil && err == nil {
				err = fmt.Errorf("%s: the comment of %s: %w", fset.Position(row.Pos()), id, refused)
			}
			s.rows[id] = said
		}
		return false
	})
	return err
}

// rowID returns the id of a row of the table, or "".
func rowID(row *ast.CompositeLit) string {
	for _, element := range row.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "ID" {
				if value, ok := pair.Value.(*ast.BasicLit); ok {
					id, _ := strconv.Unquote(value.Value)
					return id
				}
			}
		}
	}
	return ""
}
