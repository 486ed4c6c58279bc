// Command typecheck checks the types of packages for other platforms, without cgo.
//
//	typecheck OS/ARCH... PATTERN...
//
// It reads the source of the packages and of all that they import, leaves out the
// bodies of functions of other modules, and compiles nothing.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	root, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
	var platforms, patterns []string
	for _, arg := range os.Args[1:] {
		if os, arch, ok := strings.Cut(arg, "/"); ok && os != "." && arch != "..." {
			platforms = append(platforms, arg)
		} else {
			patterns = append(patterns, arg)
		}
	}
	failed := false
	for _, platform := range platforms {
		errs, err := check(root, platform, patterns)
		if err != nil {
			errs = append(errs, err.Error())
		}
		for _, e := range errs {
			fmt.Fprintf(os.Stderr, "%s: %s\n", platform, e)
		}
		failed = failed || len(errs) > 0
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the errors in the module's own packages.
func check(root, platform string, patterns []string) (errs []string, err error) {
	system, arch, _ := strings.Cut(platform, "/")
	own := func(file string) bool { return strings.HasPrefix(file, root+string(filepath.Separator)) }
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesSizes | packages.NeedModule,
		Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
		ParseFile: func(set *token.FileSet, name string, src []byte) (*ast.File, error) {
			f, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
			if f != nil && !own(name) {
				for _, decl := range f.Decls {
					if fn, ok := decl.(*ast.FuncDecl); ok {
						fn.Body = nil
					}
				}
			}
			return f, err
		},
	}, patterns...)
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return []string{"no package"}, nil
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if !slices.ContainsFunc(p.GoFiles, own) {
			return // without bodies, imports of others seem unused
		}
		for _, e := range p.Errors {
			errs = append(errs, e.Error())
		}
	})
	return errs, nil
}
