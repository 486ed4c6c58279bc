package words

import (
	"flag"
	"path"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

var under = flag.String("under", "", "list the findings of this folder only: go test ./internal/words -args -under cli")

func TestTreeIsPlain(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads the tree")
	texts, err := Tree("../..")
	require.NoError(t, err)
	if len(texts) < 1000 {
		t.Fatalf("read %d texts; the tree has thousands", len(texts))
	}
	for _, text := range texts {
		if *under != "" && !within(path.Dir(text.File), *under) {
			continue
		}
		for _, f := range Check(text) {
			t.Errorf("%s:%d: %s\n\t… %s …", f.File, f.Line, f.Rule, f.Sample)
		}
	}
}

func within(dir, parent string) bool {
	return parent == "." || dir == parent || strings.HasPrefix(dir, parent+"/")
}

func TestHabitsAreFound(t *testing.T) {
	long := strings.Repeat("word ", MaxSentence+1) + "end."
	for _, prose := range []string{
		"the names of who asks are not free",
		"Who waits is told.",
		"It is free for whoever takes over.",
		"the agent, whom it is offered to, sees it; whom else",
		"the end of what is quoted",
		"the writer rings the bells of the scope",
		"It normalises the behaviour of colours.",
		"a change to what is so already counts as none",
		long,
	} {
		if len(Check(Text{Prose: prose})) == 0 {
			t.Errorf("nothing found in %q", prose)
		}
	}
}

func TestPlainTextPasses(t *testing.T) {
	for _, prose := range []string{
		"The agent who asked first gets the lock.",
		"Who may read a direct message?",
		"Agents who wait are woken.",
		"The list shows `who asks` as it stands in the code.",
		"It tells the caller what is missing.",
		"A sentence of usual length. " + strings.Repeat("Short. ", 100),
	} {
		if found := Check(Text{Prose: prose}); len(found) > 0 {
			t.Errorf("found %q (%q) in %q", found[0].Rule, found[0].Sample, prose)
		}
	}
}

func TestTextsAreReadFromEachLanguage(t *testing.T) {
	goFile, err := goTexts("x.go", []byte("// Package x says of who waits.\npackage x\n\nvar s = \"one for who waits here\"\n"))
	if err != nil || len(goFile) != 2 || !goFile[1].Literal {
		t.Errorf("Go: %v %+v", err, goFile)
	}
	python, _ := pythonTexts("x.py", []byte("x = 1\n# one of\n# who waits\ny = 2\n"))
	if len(python) != 1 || python[0].Prose != "one of who waits" || python[0].Line != 2 {
		t.Errorf("Python: %+v", python)
	}
	markdown, _ := markdownTexts("x.md", []byte("# title\none\ntwo\n\n```\ncode of who\n```\n| a | b |\n- item\n  goes on\n"))
	if len(markdown) != 4 || markdown[0].Prose != "one two" || markdown[3].Prose != "item goes on" {
		t.Errorf("Markdown: %+v", markdown)
	}
}
