//go:build unix

package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// says is the body of a script that answers --version.
func says(version string) string { return "echo '" + version + "'" }

// TestDiscoverPrefersInOrder: one engine of each kind of place, in the order in which they
// are preferred.
func TestDiscoverPrefersInOrder(t *testing.T) {
	top := t.TempDir()
	at := func(path string) string { return filepath.Join(top, path) }
	program(t, at("own/mine"), says("Chromium 150.0.1.2"))
	program(t, at("own/named"), says("Google Chrome 151.0.1.2"))
	program(t, at("bin/chromium"), says("Chromium 152.0.1.2 built on Debian"))
	program(t, at("bin/headless_shell"), says("HeadlessChrome 153.0.1.2"))
	program(t, at("opt/google/chrome/chrome"), says("Google Chrome 155.0.1.2"))
	program(t, at("opt/google/chrome-beta/chrome"), says("Google Chrome 156.0.1.2 beta"))
	program(t, at("bin/microsoft-edge"), says("Microsoft Edge 155.0.1.2"))
	program(t, at("bin/brave-browser"), says("Brave Browser 155.1.60.1"))
	program(t, at("home/.cache/ms-playwright/chromium-9/chrome-linux/chrome"), says("Chromium 140.0.1.2"))
	program(t, at("home/.cache/ms-playwright/chromium-10/chrome-linux/chrome"), says("Chromium 141.0.1.2"))
	program(t, at("home/.cache/puppeteer/chrome/linux-139.0.1.2/chrome-linux64/chrome"), says("Google Chrome for Testing 139.0.1.2"))

	engines := Discover(t.Context(), Options{
		GOOS: "linux", GOARCH: "amd64", top: top, wait: patience,
		Getenv: variablesOf(map[string]string{
			"HUBCLI_BROWSER": at("own/mine"), "CHROME_BIN": "named",
			"PATH": at("bin") + ":" + at("own"), "HOME": "/home",
		}),
	})
	var got []string
	for i, e := range engines {
		if e.Preference != i+1 || !e.Usable {
			t.Errorf("engine %d of %s: preference %d, %s", i+1, e.Path, e.Preference, e.Reason)
		}
		got = append(got, strings.Join([]string{e.Source, string(e.Kind), e.Version, strings.TrimPrefix(e.Path, top)}, " "))
	}
	equal(t, got, []string{
		"HUBCLI_BROWSER chromium 150.0.1.2 /own/mine",
		"CHROME_BIN chrome 151.0.1.2 /own/named",
		"system headless-shell 153.0.1.2 /bin/headless_shell",
		"system chrome 155.0.1.2 /opt/google/chrome/chrome",
		"system chromium 152.0.1.2 /bin/chromium",
		"system edge 155.0.1.2 /bin/microsoft-edge",
		"system brave 155.1.60.1 /bin/brave-browser",
		"prerelease chrome 156.0.1.2 /opt/google/chrome-beta/chrome",
		"playwright chromium 141.0.1.2 /home/.cache/ms-playwright/chromium-10/chrome-linux/chrome",
		"playwright chromium 140.0.1.2 /home/.cache/ms-playwright/chromium-9/chrome-linux/chrome",
		"puppeteer chrome 139.0.1.2 /home/.cache/puppeteer/chrome/linux-139.0.1.2/chrome-linux64/chrome",
	})
}

// TestDiscoverFindsOneEngineOnce: an engine that several names lead to is listed at its best
// place; the programs of snaps are all links to one starter and stay apart.
func TestDiscoverFindsOneEngineOnce(t *testing.T) {
	top := t.TempDir()
	at := func(path string) string { return filepath.Join(top, path) }
	program(t, at("opt/google/chrome/chrome"), says("Google Chrome 155.0.1.2"))
	program(t, at("usr/bin/snap"), says("Chromium 155.0.3.4 snap"))
	require.NoError(t, os.MkdirAll(at("bin"), 0o755))
	require.NoError(t, os.MkdirAll(at("snap/bin"), 0o755))
	require.NoError(t, os.Symlink(at("opt/google/chrome/chrome"), at("bin/google-chrome")))
	require.NoError(t, os.Symlink(at("opt/google/chrome/google-chrome"), at("bin/google-chrome-stable")))
	program(t, at("bin/chrome"), at("opt/google/chrome/chrome")+` "$@"`)
	program(t, at("opt/google/chrome/google-chrome"), says("Google Chrome 155.0.1.2"))
	require.NoError(t, os.WriteFile(at("opt/google/chrome/chrome"), []byte("the engine"), 0o755))
	for _, link := range []string{"snap/bin/chromium", "snap/bin/brave"} {
		require.NoError(t, os.Symlink(at("usr/bin/snap"), at(link)))
	}
	engines := Discover(t.Context(), Options{
		GOOS: "linux", GOARCH: "amd64", top: top, wait: patience,
		Getenv: variablesOf(map[string]string{"PATH": at("bin"), "CHROME_PATH": at("bin/google-chrome")}),
	})
	var got []string
	for _, e := range engines {
		snap := ""
		if e.Snap {
			snap = " snap: " + e.Reason
		}
		got = append(got, e.Source+" "+strings.TrimPrefix(e.Path, top)+snap)
	}
	equal(t, got, []string{"CHROME_PATH /bin/google-chrome", "system /snap/bin/chromium snap: " + noSnap, "system /snap/bin/brave snap: " + noSnap})
}

const noSnap = "it is a snap, which sees neither the machine's folder for temporary files nor hidden folders of the home folder"

// TestDiscoverPrefersTheEngineToItsScript: the script of Debian's package takes flags from
// files in /etc, and is not listed beside the engine that it starts.
func TestDiscoverPrefersTheEngineToItsScript(t *testing.T) {
	top := t.TempDir()
	at := func(path string) string { return filepath.Join(top, path) }
	program(t, at("usr/lib/chromium/chromium"), says("Chromium 156.0.1.2"))
	program(t, at("usr/bin/chromium"), "# "+strings.Repeat("long ", 1000)+`
APPNAME=chromium
LIBDIR=`+at("usr/lib")+`/$APPNAME
for file in /etc/chromium.d/*; do . $file; done
exec $LIBDIR/$APPNAME $CHROMIUM_FLAGS "$@"`)
	program(t, at("usr/bin/chromium-browser"), says("Chromium 157.0.1.2"))
	var got []string
	for _, e := range Discover(t.Context(), Options{
		GOOS: "linux", GOARCH: "amd64", top: top, wait: patience, Getenv: variablesOf(map[string]string{"PATH": at("usr/bin")}),
	}) {
		got = append(got, strings.TrimPrefix(e.Path, top))
	}
	equal(t, got, []string{"/usr/lib/chromium/chromium", "/usr/bin/chromium-browser"})
}

// TestDiscoverForNobody: a hub of root starts engines as nobody, who may not enter every folder.
func TestDiscoverForNobody(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	closed := filepath.Join(top, "closed")
	path := program(t, filepath.Join(closed, "chromium"), says("Chromium 156.0.1.2"))
	for at := closed; at != filepath.Dir(at) && strings.Contains(at, filepath.Base(t.Name())); at = filepath.Dir(at) {
		require.NoError(t, os.Chmod(at, 0o755))
	}
	found := func(asNobody bool) Engine {
		all := Discover(t.Context(), Options{
			GOOS: "linux", GOARCH: "amd64", top: filepath.Join(top, "nothing"), wait: patience, AsNobody: asNobody,
			Getenv: variablesOf(map[string]string{EnvBrowser: path}),
		})
		if len(all) != 1 {
			t.Fatalf("found are %+v", all)
		}
		return all[0]
	}
	if e := found(true); !e.Usable {
		t.Errorf("an engine that everybody may start: %s", e.Reason)
	}
	require.NoError(t, os.Chmod(closed, 0o700))
	if e := found(true); e.Usable || !strings.Contains(e.Reason, "as nobody, who may not enter "+closed) {
		t.Errorf("an engine in a closed folder is usable: %v, %q", e.Usable, e.Reason)
	}
	if e := found(false); !e.Usable {
		t.Errorf("an engine of one's own: %s", e.Reason)
	}
}

// TestDiscoverSaysWhyAnEngineIsNotUsable: each engine that cannot be used has its reason.
func TestDiscoverSaysWhyAnEngineIsNotUsable(t *testing.T) {
	dir := t.TempDir()
	file := func(name, body string) string { return program(t, filepath.Join(dir, name), body) }
	open := file("open", says("Chromium 155.0.1.2"))
	require.NoError(t, os.Chmod(open, 0o777))
	plain := file("plain", says("Chromium 155.0.1.2"))
	require.NoError(t, os.Chmod(plain, 0o644))
	for _, tt := range []struct{ name, value, want string }{
		{"missing", filepath.Join(dir, "none"), "there is no such file"},
		{"relative", "./chromium", "the path is not absolute"},
		{"not in PATH", "chromium", "no folder of PATH has it"},
		{"a folder", dir, "it is a folder; name the program in it"},
		{"not executable", plain, "it is not executable"},
		{"open to everybody", open, "everybody may change the file"},
		{"a library is missing", file("lib", "echo 'error while loading shared libraries: libnss3.so' >&2; exit 127"), "it does not start: error while loading shared libraries: libnss3.so"},
		{"killed", file("killed", "kill -9 $$"), "it does not start: signal: killed"},
		{"no version", file("mute", "echo hello"), "it tells no version: hello"},
		{"nothing", file("empty", ""), "it tells no version: it says nothing"},
		{"old", file("old", says("Chromium 99.0.4844.51")), "it is too old: the hub needs version 112 or later"},
		{"slow", file("slow", "sleep 100 & wait"), "it did not tell its version within 500ms"},
		{"endless", file("endless", "yes"), "it did not tell its version within 500ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wait := patience
			if strings.Contains(tt.want, "within") {
				wait = 500 * time.Millisecond
			}
			engines := Discover(t.Context(), Options{
				GOOS: "linux", GOARCH: "amd64", top: filepath.Join(dir, "nothing"),
				Getenv: variablesOf(map[string]string{"HUBCLI_BROWSER": tt.value, "PATH": filepath.Join(dir, "nothing")}),
				wait:   wait,
			})
			if len(engines) != 1 || engines[0].Usable || engines[0].Reason != tt.want {
				t.Fatalf("got %+v, want one engine that cannot be used: %s", engines, tt.want)
			}
			_, err := Choose(engines)
			if !errors.Is(err, hub.NewError(hub.CodeBrowserMissing, "")) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Choose fails with %v", err)
			}
		})
	}
}

func TestDiscoverEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	engines := Discover(ctx, Options{
		GOOS: "linux", top: dir,
		Getenv: variablesOf(map[string]string{"HUBCLI_BROWSER": program(t, filepath.Join(dir, "slow"), "sleep 100")}),
	})
	if len(engines) != 1 || engines[0].Usable {
		t.Errorf("got %+v", engines)
	}
}

func TestChoose(t *testing.T) {
	bad := Engine{Path: "/a", Reason: "it is broken", Source: SourceSystem}
	good := Engine{Path: "/b", Usable: true, Source: SourceSystem}
	named := Engine{Path: "/c", Reason: "it is broken", Source: EnvBrowser}
	got, err := Choose([]Engine{bad, good})
	require.NoError(t, err)
	if got != good {
		t.Errorf("chose %+v", got)
	}
	for _, tt := range []struct {
		engines []Engine
		want    string
	}{
		{[]Engine{named, good}, "HUBCLI_BROWSER"},
		{nil, "none was found"},
		{[]Engine{bad}, "the best one, /a, cannot be used: it is broken"},
	} {
		if _, err := Choose(tt.engines); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Choose(%+v) fails with %v, want %q", tt.engines, err, tt.want)
		}
	}
}

// TestPlacesOfOtherSystems: the engines of macOS and Windows are looked for where they are.
func TestPlacesOfOtherSystems(t *testing.T) {
	paths := func(goos string, vars map[string]string) []string {
		o := Options{GOOS: goos, GOARCH: "amd64", DataRoot: "/data", Getenv: variablesOf(vars)}
		o.settle()
		var all []string
		for _, p := range o.places() {
			all = append(all, strings.Join([]string{p.source, string(p.kind), p.variable + p.name + p.path + p.glob}, " "))
		}
		return all
	}
	mac := paths("darwin", map[string]string{"HOME": "/Users/a"})
	for _, want := range []string{
		"managed headless-shell /data/browsers/chrome-headless-shell/155.0.8059.39-mac-x64/chrome-headless-shell",
		"system chrome /Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"system brave /Users/a/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
		"prerelease edge /Applications/Microsoft Edge Canary.app/Contents/MacOS/Microsoft Edge Canary",
		"playwright headless-shell /Users/a/Library/Caches/ms-playwright/chromium_headless_shell-*/chrome-*/headless_shell",
	} {
		if !slices.Contains(mac, want) {
			t.Errorf("no %q in %q", want, mac)
		}
	}
	windows := paths("windows", map[string]string{"ProgramFiles": `C:\Program Files`, "LOCALAPPDATA": `C:\Users\a\AppData\Local`})
	for _, want := range []string{
		"managed headless-shell /data/browsers/chrome-headless-shell/155.0.8059.39-win64/chrome-headless-shell.exe",
		`system chrome C:\Program Files\Google\Chrome\Application\chrome.exe`,
		`system edge C:\Users\a\AppData\Local\Microsoft\Edge\Application\msedge.exe`,
		`prerelease chrome C:\Users\a\AppData\Local\Google\Chrome SxS\Application\chrome.exe`,
	} {
		if !slices.Contains(windows, want) {
			t.Errorf("no %q in %q", want, windows)
		}
	}
}

func TestCachesFollowTheirVariables(t *testing.T) {
	o := Options{GOOS: "linux", Getenv: variablesOf(map[string]string{
		"HOME": "/h", "PLAYWRIGHT_BROWSERS_PATH": "/opt/[pw]", "PUPPETEER_CACHE_DIR": "/opt/pp",
	})}
	for _, p := range o.caches() {
		if !strings.HasPrefix(p.glob, `/opt/\[pw]/`) && !strings.HasPrefix(p.glob, "/opt/pp/") {
			t.Errorf("looks at %s", p.glob)
		}
	}
}

// TestDiscoverHere runs what is on this machine.
func TestDiscoverHere(t *testing.T) {
	engines := Discover(t.Context(), Options{Getenv: os.Getenv})
	e, err := Choose(engines)
	if err != nil {
		t.Skip(testprogram.Missing(testprogram.Browser) + ": " + err.Error())
	}
	if !versionIn.MatchString(e.Version) {
		t.Errorf("%s has the version %q", e.Path, e.Version)
	}
}
