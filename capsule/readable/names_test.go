package readable

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	safeName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin|conout|com[0-9]|lpt[0-9]|agents|claude|gemini|skill)(\.|$)`)
)

// wrong says what is wrong with the name of a file; "" if nothing is.
func wrong(name string) string {
	switch {
	case !safeName.MatchString(name):
		return "it has characters that a name cannot have everywhere"
	case reserved.MatchString(name):
		return "it has a meaning of its own"
	case len(name) > 120:
		return "it is too long"
	case name != path.Base(name) || !filepath.IsLocal(name):
		return "it leads elsewhere"
	}
	return ""
}

func TestFileNames(t *testing.T) {
	for _, c := range []struct{ title, stem, ext string }{
		{"plan.md", "plan", ".md"},
		{"The plan", "The-plan", ".x"},
		{"src/a b.tar.gz", "src-a-b.tar", ".gz"},
		{"../../etc/passwd", "etc-passwd", ".x"},
		{`C:\Windows\win.ini`, "C-Windows-win", ".ini"},
		{".gitattributes", "gitattributes", ".x"},
		{".env.local", "env", ".local"},
		{"con.txt", "x-con", ".txt"},
		{"Aux", "x-Aux", ".x"},
		{"lpt1.a.b", "x-lpt1.a", ".b"},
		{"AGENTS.md", "x-AGENTS", ".md"},
		{"a. . .", "a", ".x"},
		{"...", "none", ".x"},
		{"", "none", ".x"},
		{"世界", "none", ".x"},
		{"a\u202egpj.exe", "a-gpj", ".exe"},
		{"long." + strings.Repeat("e", 30), "long." + strings.Repeat("e", 30), ".x"},
		{strings.Repeat("ab-", 100) + ".md", strings.Repeat("ab-", 26) + "ab", ".md"},
	} {
		if stem, ext := fileName(c.title, "none", ".x"); stem != c.stem || ext != c.ext {
			t.Errorf("%q: %q and %q, want %q and %q", c.title, stem, ext, c.stem, c.ext)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, seed := range []string{"plan.md", "CON", "../x", "a/b\\c", "AGENTS.md", "agents", "", "....", "x.COM1", "é\u202e.md", "com1.tar.gz"} {
		f.Add(seed, "b")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var names folder
		seen := map[string]bool{}
		for _, title := range []string{a, b, a, strings.ToUpper(a)} {
			stem, ext := fileName(title, "artifact", "")
			for _, name := range []string{names.free(stem, ext), names.free(slug(title, "room"), ".md"), names.free(stem+"-v2", ext)} {
				if why := wrong(name); why != "" {
					t.Fatalf("%q becomes %q: %s", title, name, why)
				}
				if seen[strings.ToLower(name)] {
					t.Fatalf("%q is given twice", name)
				}
				seen[strings.ToLower(name)] = true
			}
		}
	})
}

func TestNamesAreFreeWhateverTheCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var names folder
		seen := map[string]bool{}
		for _, title := range rapid.SliceOf(rapid.SampledFrom([]string{"Api", "api", "API-2", "api-2", "api.md", "a"})).Draw(t, "titles") {
			name := strings.ToLower(names.free(fileName(title, "none", "")))
			if seen[name] {
				t.Fatalf("%q is given twice", name)
			}
			seen[name] = true
		}
	})
}
