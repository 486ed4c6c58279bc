// Command lint holds the analyzers that find mistakes with consequences here. The
// go command runs it, as "go vet -vettool", package by package, and keeps its
// answers in the build cache, so that only changed packages are analyzed again.
// The analyzers are other people's; what is decided here is which findings count.
//
// A comment at the end of a line excuses it: "//nolint:NAME // why".
package main

import (
	"go/token"
	"regexp"
	"slices"
	"strings"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/golangci/misspell"
	"github.com/golangci/unconvert"
	"github.com/gordonklaus/ineffassign/pkg/ineffassign"
	"github.com/kisielk/errcheck/errcheck"
	"github.com/ldez/usetesting"
	"github.com/nishanths/exhaustive"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

// rule is an analyzer and the findings of it that do not count.
type rule struct {
	*analysis.Analyzer
	files    *regexp.Regexp               // findings in files with such a path
	harmless func(file, line string) bool // findings on such lines
}

var (
	tests = regexp.MustCompile(`_test\.go$`)

	// What a number's type is depends on the platform there.
	platforms = regexp.MustCompile(`_(unix|linux|darwin|windows)\.go$`)
)

var rules = []rule{
	{Analyzer: bodyclose.Analyzer, files: tests},
	{Analyzer: errcheck.Analyzer, files: tests, harmless: unheard},
	{Analyzer: errorlint.NewAnalyzer()},
	{Analyzer: exhaustive.Analyzer},
	{Analyzer: ineffassign.Analyzer},
	{Analyzer: spelling, files: tests}, // tests misspell on purpose
	{Analyzer: conversions, files: platforms},
	{Analyzer: usetesting.NewAnalyzer()},
}

var (
	printing = regexp.MustCompile(`\bfmt\.Fprint(f|ln)?\(|\.With\(|^\s*defer [\w.]+\.Close\(`)
	closing  = regexp.MustCompile(`^\s*(defer |.*\{ )?[\w.]+\.(Close|SetDeadline|SetReadDeadline|SetWriteDeadline)\(`)
)

// unheard reports whether nobody could act on the error of a line. Printing goes to
// a terminal or to memory, With returns its receiver, and Close after reading or of
// a connection loses nothing. The store closes files that it has written: there
// the error counts.
func unheard(file, line string) bool {
	return printing.MatchString(line) || closing.MatchString(line) && !strings.Contains(file, "/persistence/")
}

var conversions = &analysis.Analyzer{
	Name: "unconvert",
	Doc:  "finds conversions to the type that a value has",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, at := range unconvert.Run(pass) {
			pass.Report(analysis.Diagnostic{Pos: pos(pass, at), Message: "unnecessary conversion"})
		}
		return nil, nil
	},
}

// pos finds the place that a position of the pass names.
func pos(pass *analysis.Pass, at token.Position) token.Pos {
	found := token.NoPos
	pass.Fset.Iterate(func(f *token.File) bool {
		if f.Name() == at.Filename {
			found = f.Pos(at.Offset)
		}
		return found == token.NoPos
	})
	return found
}

var spelling = &analysis.Analyzer{
	Name: "misspell",
	Doc:  "finds frequent misspellings of English words in comments",
	Run: func(pass *analysis.Pass) (any, error) {
		words := misspell.New()
		words.Compile()
		for _, f := range pass.Files {
			for _, group := range f.Comments {
				for _, comment := range group.List {
					if _, wrong := words.Replace(comment.Text); len(wrong) > 0 {
						pass.Reportf(comment.Pos(), "%q is a misspelling of %q", wrong[0].Original, wrong[0].Corrected)
					}
				}
			}
		}
		return nil, nil
	},
}

// excuse is a comment that excuses its line.
var excuse = regexp.MustCompile(`//nolint:([\w,]+) // \S`)

// analyzer returns the rule's analyzer that reports only what counts.
func (r rule) analyzer() *analysis.Analyzer {
	a := *r.Analyzer
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		counted := *pass
		counted.Report = func(d analysis.Diagnostic) {
			if at := pass.Fset.Position(d.Pos); !r.excused(at.Filename, line(pass, at)) {
				pass.Report(d)
			}
		}
		return run(&counted)
	}
	return &a
}

func (r rule) excused(file, line string) bool {
	if r.files != nil && r.files.MatchString(file) || r.harmless != nil && r.harmless(file, line) {
		return true
	}
	found := excuse.FindStringSubmatch(line)
	return found != nil && slices.Contains(strings.Split(found[1], ","), r.Name)
}

// line returns the text of the line of a finding.
func line(pass *analysis.Pass, at token.Position) string {
	text, err := pass.ReadFile(at.Filename)
	if err != nil || at.Line < 1 {
		return ""
	}
	lines := strings.SplitN(string(text), "\n", at.Line+1)
	return lines[min(at.Line, len(lines))-1]
}

func main() {
	for name, value := range map[string]string{
		"d":          "true", // a default is a decision too
		"typeignore": `^reflect\.Kind$|^net/http\.ConnState$`,
	} {
		if err := exhaustive.Analyzer.Flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	var all []*analysis.Analyzer
	for _, r := range rules {
		all = append(all, r.analyzer())
	}
	unitchecker.Main(all...)
}
