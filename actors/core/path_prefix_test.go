package core

import "testing"

func TestCanonicalPrefix(t *testing.T) {
	for given, want := range map[string]string{
		"": "", "a": "a", "src/": "src/", "src": "src", "src/ma": "src/ma", `src\ma`: "src/ma", "src//ma": "src/ma",
		"./src/": "src/", "./": "", "src/.": "src/.", "src/./x": "src/x", "src/../lib/x": "lib/x", "/": "/", "/a": "/a",
		"/a/": "/a/", "//a//b": "/a/b", "c:": "C:", `c:\x\`: "C:/x/", "c:/x": "C:/x", ".git": ".git", "../x": "../x",
	} {
		if got, err := CanonicalPrefix(given); got != want || err != nil {
			t.Errorf("CanonicalPrefix(%q) = %q, %v, want %q", given, got, err, want)
		}
	}
	if _, err := CanonicalPrefix("a\x00/b"); err == nil {
		t.Error("a control character was taken")
	}
}
