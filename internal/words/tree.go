package words

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// skipped are folders with other people's text or with fixtures.
var skipped = map[string]bool{".git": true, ".cache": true, "testdata": true, "node_modules": true, "bin": true, "dist": true, "faults": true, "words": true, "third_party": true}

// Tree returns the texts of all Go, Python and Markdown files below root.
// An unreadable file or Go that does not parse is an error.
func Tree(root string) ([]Text, error) {
	var texts []Text
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped[d.Name()] {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		read := map[string]func(string, []byte) ([]Text, error){".go": goTexts, ".py": pythonTexts, ".md": markdownTexts}[path.Ext(rel)]
		if read == nil {
			return nil
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		more, err := read(rel, source)
		texts = append(texts, more...)
		return err
	})
	return texts, err
}

// goTexts returns the comments of a Go file, and its strings that look like
// sentences: four words or more.
func goTexts(file string, source []byte) ([]Text, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("reading Go: %w", err)
	}
	var texts []Text
	for _, group := range parsed.Comments {
		for _, p := range paragraphs(group.Text()) {
			texts = append(texts, Text{File: file, Line: fset.Position(group.Pos()).Line, Prose: p})
		}
	}
	if strings.HasSuffix(file, "_test.go") {
		return texts, nil
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(n.Value); err == nil && len(strings.Fields(s)) >= 4 {
				texts = append(texts, Text{File: file, Line: fset.Position(n.Pos()).Line, Prose: s, Literal: true})
			}
		}
		return true
	})
	return texts, nil
}

// paragraphs splits the text of a comment at empty lines and leaves out lines
// that are indented: these are code, tables or drawings.
func paragraphs(text string) []string {
	var all []string
	var now []string
	flush := func() {
		if len(now) > 0 {
			all = append(all, strings.Join(now, " "))
		}
		now = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "":
			flush()
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, " "), strings.HasPrefix(line, "- "):
			flush()
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
				now = append(now, rest)
				flush()
			}
		default:
			now = append(now, line)
		}
	}
	flush()
	return all
}

// pythonTexts returns runs of comment lines of a Python file.
func pythonTexts(file string, source []byte) ([]Text, error) {
	var texts []Text
	var now []string
	start, number := 0, 0
	flush := func() {
		if len(now) > 0 {
			texts = append(texts, Text{File: file, Line: start, Prose: strings.Join(now, " ")})
		}
		now = nil
	}
	for line := range strings.Lines(string(source)) {
		number++
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !ok {
			flush()
			continue
		}
		if len(now) == 0 {
			start = number
		}
		now = append(now, comment)
	}
	flush()
	return texts, nil
}

// markdownTexts returns paragraphs, items and table cells of a document without
// its code blocks.
func markdownTexts(file string, source []byte) ([]Text, error) {
	var texts []Text
	var now []string
	start, number, fenced := 0, 0, false
	flush := func() {
		if len(now) > 0 {
			texts = append(texts, Text{File: file, Line: start, Prose: strings.Join(now, " ")})
		}
		now = nil
	}
	for line := range strings.Lines(string(source)) {
		number++
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			fenced = !fenced
			flush()
			continue
		}
		switch {
		case fenced, trimmed == "", strings.HasPrefix(trimmed, "#"):
			flush()
		case strings.HasPrefix(trimmed, "|"):
			flush()
			for cell := range strings.SplitSeq(strings.Trim(trimmed, "|"), "|") {
				texts = append(texts, Text{File: file, Line: number, Prose: strings.TrimSpace(cell)})
			}
		default:
			if strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") || len(trimmed) > 2 && trimmed[1] == '.' && trimmed[0] >= '0' && trimmed[0] <= '9' {
				flush()
				_, trimmed, _ = strings.Cut(trimmed, " ")
			}
			if len(now) == 0 {
				start = number
			}
			now = append(now, trimmed)
		}
	}
	flush()
	return texts, nil
}
