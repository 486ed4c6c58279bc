package engine

import (
	"runtime"
	"strings"
	"testing"
)

// TestEmbeddedPins: there is a pin for every platform that the hub is built for and that has
// engines, and it names its archive as its server does.
func TestEmbeddedPins(t *testing.T) {
	pins := Embedded()
	for _, platform := range []string{"linux64", "linux-arm64", "mac-x64", "mac-arm64", "win64", "win32"} {
		if len(pins.of(platform)) == 0 {
			t.Errorf("no pin for %s", platform)
		}
	}
	first := pins.of("linux64")[0]
	const want = "https://storage.googleapis.com/chrome-for-testing-public/155.0.8059.39/linux64/chrome-headless-shell-linux64.zip"
	if got := first.url(pins.BaseURL); got != want {
		t.Errorf("the archive is at %s, want %s", got, want)
	}
	if platformOf(runtime.GOOS, runtime.GOARCH) == "" && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		t.Error("this platform has no engine")
	}
	for i := 1; i < len(pins.Versions); i++ {
		if compareNumbers(pins.Versions[i-1].Version, pins.Versions[i].Version) <= 0 {
			t.Errorf("%s stands before %s", pins.Versions[i-1].Version, pins.Versions[i].Version)
		}
	}
}

func TestParsePinsRefuses(t *testing.T) {
	good := `{"base_url": "https://a.example", "versions": [{"version": "1.2.3.4", "archives": {"linux64": {"bytes": 1, "archive_sha256": "` + strings.Repeat("ab", 32) + `"}}}]}`
	if _, err := ParsePins([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`https:`, `http:`},
		{`"1.2.3.4"`, `"../1.2"`},
		{`"linux64"`, `"../x"`},
		{`"bytes": 1`, `"bytes": 0`},
		{`"bytes": 1`, `"bytes": 99999999999`},
		{`"ab`, `"zz`},
		{`"ab`, `"AB`},
		{`abab"`, `ab"`},
		{`"bytes"`, `"byte"`},
		{`"versions": [`, `"version": [`},
		{`{"bytes"`, `null, "x": {"bytes"`},
		{`a.example`, `a.example/?b=c`},
	} {
		if _, err := ParsePins([]byte(strings.Replace(good, change[0], change[1], 1))); err == nil {
			t.Errorf("takes pins with %s in place of %s", change[1], change[0])
		}
	}
}

func TestCompareNumbers(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"chromium-9/x", "chromium-10/x", -1}, {"155.0.8059.39", "155.0.8059.4", 1}, {"1.2", "1.2", 0}, {"a1", "b1", -1},
	} {
		if got := compareNumbers(tt.a, tt.b); got != tt.want {
			t.Errorf("compareNumbers(%q, %q) is %d", tt.a, tt.b, got)
		}
	}
}
