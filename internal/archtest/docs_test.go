package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"hubcli/internal/require"
)

// The two commands that a newcomer needs.
const (
	runCommand  = "go run ./cmd/hubcli"
	testCommand = "make test"
)

func TestReadmeCommandsExist(t *testing.T) {
	readme := string(readFile(t, "README.md"))
	for _, command := range []string{runCommand, testCommand} {
		if !strings.Contains(readme, command) {
			t.Errorf("README.md does not name %q", command)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "cmd", "hubcli", "main.go")); err != nil {
		t.Errorf("%q runs nothing: %v", runCommand, err)
	}
	if makefile := readFile(t, "Makefile"); !regexp.MustCompile(`(?m)^test:`).Match(makefile) {
		t.Errorf("%q runs nothing: the Makefile has no such target", testCommand)
	}
	if ci := readFile(t, ".ci/run"); !bytes.Contains(ci, []byte(strings.Replace(testCommand, "make ", "make --no-print-directory ", 1))) {
		t.Errorf(".ci/run does not call %q, so that what a newcomer runs is not what is proved", testCommand)
	}
}

var lineNumber = regexp.MustCompile(`\b[\w/.-]+\.(go|py|ts|js|yaml)(:\d+|#L\d+)`)

// A line number is wrong after the next change; a name is found by search.
func TestDocumentsNameNoLineNumbers(t *testing.T) {
	for _, name := range projectFiles(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for i, line := range strings.Split(string(readFile(t, name)), "\n") {
			if found := lineNumber.FindString(line); found != "" {
				t.Errorf("%s, line %d points at %s: name the function or the section", name, i+1, found)
			}
		}
	}
	for _, f := range goFiles(t) {
		for _, group := range f.syntax.Comments {
			if found := lineNumber.FindString(group.Text()); found != "" {
				t.Errorf("%s: a comment points at %s: name the function", f.path, found)
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

func TestDocumentsLinkToFilesThatExist(t *testing.T) {
	for _, name := range projectFiles(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, match := range link.FindAllSubmatch(readFile(t, name), -1) {
			target := string(match[1])
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, target)
			}
		}
	}
}

var (
	sectionLink = regexp.MustCompile(`\]\(([^)#\s]*)#([^)\s]+)\)`)
	heading     = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced      = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	noSlug      = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// sections returns the names by which a link finds the headings of a document.
func sections(t *testing.T, name string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, match := range heading.FindAllSubmatch(fenced.ReplaceAll(readFile(t, name), nil), -1) {
		found[strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(string(match[1])), ""), " ", "-")] = true
	}
	return found
}

func TestDocumentsLinkToSectionsThatExist(t *testing.T) {
	seen := 0
	for _, name := range projectFiles(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, match := range sectionLink.FindAllSubmatch(readFile(t, name), -1) {
			target := name
			if page := string(match[1]); strings.Contains(page, "://") {
				continue
			} else if page != "" {
				target = filepath.Join(filepath.Dir(name), page)
			}
			seen++
			if strings.HasSuffix(target, ".md") && !sections(t, target)[string(match[2])] {
				t.Errorf("%s links to %s#%s, and there is no such heading", name, target, match[2])
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d links to sections were found", seen)
	}
}

// A path of the machine on which a file was written means nothing elsewhere, and
// tells about its author.
func TestFilesNameNoPathOfThisMachine(t *testing.T) {
	abs, err := filepath.Abs(root)
	require.NoError(t, err)
	paths := []string{filepath.ToSlash(abs)}
	if home, err := os.UserHomeDir(); err == nil {
		paths = append(paths, filepath.ToSlash(home)+"/")
	}
	for _, name := range projectFiles(t) {
		b := readFile(t, name)
		if !utf8.Valid(b) {
			continue
		}
		for _, p := range paths {
			if strings.Count(p, "/") >= 2 && bytes.Contains(b, []byte(p)) {
				t.Errorf("%s names %s, a path of this machine", name, p)
			}
		}
	}
}
