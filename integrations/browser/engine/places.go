package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hubcli/hub"
)

// place is somewhere to look for an engine. One of variable, name, path and glob
// is set.
type place struct {
	source string
	kind   hub.BrowserKind

	variable string // of the environment, which names the engine
	name     string // of a program in PATH
	path     string // absolute
	glob     string // absolute, with patterns: a cache with engines of several versions
	pin      *Pin   // of the managed engine at path
}

// variables name engines, the hub's own first.
var variables = []string{EnvBrowser, "CHROME_PATH", "CHROME_BIN", "PUPPETEER_EXECUTABLE_PATH"}

// places returns where to look, in the order of preference.
func (o *Options) places() []place {
	var all []place
	for _, name := range variables {
		all = append(all, place{source: name, kind: hub.BrowserUnknown, variable: name})
	}
	if o.DataRoot != "" {
		for _, pin := range o.Pins.of(platformOf(o.GOOS, o.GOARCH)) {
			all = append(all, place{source: SourceManaged, kind: hub.BrowserHeadlessShell, path: executable(o.DataRoot, pin), pin: pin})
		}
	}
	switch o.GOOS {
	case "windows":
		all = append(all, o.onWindows()...)
	case "darwin":
		all = append(all, o.onMac()...)
	default:
		all = append(all, onLinux()...)
	}
	return append(all, o.caches()...)
}

// files are places of one source and kind: a name without a separator is looked up in
// PATH.
func files(source string, kind hub.BrowserKind, paths ...string) []place {
	all := make([]place, 0, len(paths))
	for _, path := range paths {
		p := place{source: source, kind: kind, path: path}
		if !strings.ContainsAny(path, `/\`) {
			p.name, p.path = path, ""
		}
		all = append(all, p)
	}
	return all
}

// onLinux are the places of Linux and of other systems that are alike. Where a package
// has a script that starts the engine, the engine stands before it: a script adds what the
// machine's other users have set for their browsing, which may be a flag that turns the
// sandbox off.
func onLinux() []place {
	return slices.Concat(
		files(SourceSystem, hub.BrowserHeadlessShell, "/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chrome-headless-shell", "headless_shell", "headless-shell"),
		files(SourceSystem, hub.BrowserChrome, "/opt/google/chrome/chrome", "google-chrome", "google-chrome-stable", "/usr/local/bin/chrome", "chrome"),
		files(SourceSystem, hub.BrowserChromium, "/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser", "chromium", "chromium-browser", "/snap/bin/chromium", "/var/lib/snapd/snap/bin/chromium"),
		files(SourceSystem, hub.BrowserEdge, "/opt/microsoft/msedge/msedge", "microsoft-edge", "microsoft-edge-stable"),
		files(SourceSystem, hub.BrowserBrave, "/opt/brave.com/brave/brave", "brave-browser", "brave-browser-stable", "brave", "/snap/bin/brave"),
		files(SourcePrerelease, hub.BrowserChrome, "/opt/google/chrome-beta/chrome", "google-chrome-beta", "/opt/google/chrome-unstable/chrome", "google-chrome-unstable", "/opt/google/chrome-canary/chrome", "google-chrome-canary"),
		files(SourcePrerelease, hub.BrowserEdge, "/opt/microsoft/msedge-beta/msedge", "microsoft-edge-beta", "/opt/microsoft/msedge-dev/msedge", "microsoft-edge-dev"),
		files(SourcePrerelease, hub.BrowserBrave, "/opt/brave.com/brave-beta/brave", "brave-browser-beta", "/opt/brave.com/brave-nightly/brave", "brave-browser-nightly"),
	)
}

// onMac are the places of macOS: the applications of the machine and of the user.
func (o *Options) onMac() []place {
	apps := func(source string, kind hub.BrowserKind, names ...string) []place {
		var all []place
		for _, name := range names {
			inner := filepath.Join(name+".app", "Contents", "MacOS", name)
			all = append(all, files(source, kind, filepath.Join("/Applications", inner))...)
			if home := o.Getenv("HOME"); home != "" {
				all = append(all, files(source, kind, filepath.Join(home, "Applications", inner))...)
			}
		}
		return all
	}
	return slices.Concat(
		files(SourceSystem, hub.BrowserHeadlessShell, "chrome-headless-shell", "headless_shell"),
		apps(SourceSystem, hub.BrowserChrome, "Google Chrome"),
		apps(SourceSystem, hub.BrowserChromium, "Chromium"), files(SourceSystem, hub.BrowserChromium, "chromium"),
		apps(SourceSystem, hub.BrowserEdge, "Microsoft Edge"),
		apps(SourceSystem, hub.BrowserBrave, "Brave Browser"),
		apps(SourcePrerelease, hub.BrowserChrome, "Google Chrome Beta", "Google Chrome Dev", "Google Chrome Canary"),
		apps(SourcePrerelease, hub.BrowserEdge, "Microsoft Edge Beta", "Microsoft Edge Dev", "Microsoft Edge Canary"),
		apps(SourcePrerelease, hub.BrowserBrave, "Brave Browser Beta", "Brave Browser Nightly"),
	)
}

// onWindows are the places of Windows: every folder for programs, of the machine and
// of the user.
func (o *Options) onWindows() []place {
	var tops []string
	for _, name := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)", "LOCALAPPDATA"} {
		if dir := o.Getenv(name); dir != "" && !slices.Contains(tops, dir) {
			tops = append(tops, dir)
		}
	}
	programs := func(source string, kind hub.BrowserKind, inner ...string) []place {
		var all []place
		for _, in := range inner {
			for _, top := range tops {
				all = append(all, files(source, kind, top+`\`+in)...)
			}
		}
		return all
	}
	return slices.Concat(
		files(SourceSystem, hub.BrowserHeadlessShell, "chrome-headless-shell", "headless_shell"),
		programs(SourceSystem, hub.BrowserChrome, `Google\Chrome\Application\chrome.exe`), files(SourceSystem, hub.BrowserChrome, "chrome"),
		programs(SourceSystem, hub.BrowserChromium, `Chromium\Application\chrome.exe`),
		programs(SourceSystem, hub.BrowserEdge, `Microsoft\Edge\Application\msedge.exe`), files(SourceSystem, hub.BrowserEdge, "msedge"),
		programs(SourceSystem, hub.BrowserBrave, `BraveSoftware\Brave-Browser\Application\brave.exe`),
		programs(SourcePrerelease, hub.BrowserChrome, `Google\Chrome Beta\Application\chrome.exe`, `Google\Chrome Dev\Application\chrome.exe`, `Google\Chrome SxS\Application\chrome.exe`),
		programs(SourcePrerelease, hub.BrowserEdge, `Microsoft\Edge Beta\Application\msedge.exe`, `Microsoft\Edge Dev\Application\msedge.exe`, `Microsoft\Edge SxS\Application\msedge.exe`),
		programs(SourcePrerelease, hub.BrowserBrave, `BraveSoftware\Brave-Browser-Beta\Application\brave.exe`, `BraveSoftware\Brave-Browser-Nightly\Application\brave.exe`),
	)
}

// caches are the folders in which Playwright and Puppeteer keep engines.
func (o *Options) caches() []place {
	home := o.Getenv("HOME")
	playwright, puppeteer := "", ""
	switch o.GOOS {
	case "windows":
		if local := o.Getenv("LOCALAPPDATA"); local != "" {
			playwright = filepath.Join(local, "ms-playwright")
		}
		home = o.Getenv("USERPROFILE")
	case "darwin":
		if home != "" {
			playwright = filepath.Join(home, "Library", "Caches", "ms-playwright")
		}
	default:
		if cache := o.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(cache) {
			playwright = filepath.Join(cache, "ms-playwright")
		} else if home != "" {
			playwright = filepath.Join(home, ".cache", "ms-playwright")
		}
	}
	if home != "" {
		puppeteer = filepath.Join(home, ".cache", "puppeteer")
	}
	if dir := o.Getenv("PLAYWRIGHT_BROWSERS_PATH"); filepath.IsAbs(dir) {
		playwright = dir
	}
	if dir := o.Getenv("PUPPETEER_CACHE_DIR"); filepath.IsAbs(dir) {
		puppeteer = dir
	}
	exe := ""
	if o.GOOS == "windows" {
		exe = ".exe"
	}
	var all []place
	add := func(source string, kind hub.BrowserKind, top string, patterns ...string) {
		for _, pattern := range patterns {
			if top != "" {
				all = append(all, place{source: source, kind: kind, glob: filepath.Join(quoted(top), pattern)})
			}
		}
	}
	const app = "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing"
	add(SourcePlaywright, hub.BrowserHeadlessShell, playwright, "chromium_headless_shell-*/chrome-*/chrome-headless-shell"+exe, "chromium_headless_shell-*/chrome-*/headless_shell"+exe)
	add(SourcePuppeteer, hub.BrowserHeadlessShell, puppeteer, "chrome-headless-shell/*/chrome-headless-shell-*/chrome-headless-shell"+exe)
	add(SourcePlaywright, hub.BrowserChromium, playwright, "chromium-*/chrome-*/chrome"+exe, "chromium-*/chrome-*/"+app, "chromium-*/chrome-*/Chromium.app/Contents/MacOS/Chromium")
	add(SourcePuppeteer, hub.BrowserChrome, puppeteer, "chrome/*/chrome-*/chrome"+exe, "chrome/*/chrome-*/"+app)
	return all
}

// quoted makes a path match itself alone.
func quoted(path string) string {
	if filepath.Separator == '\\' {
		return path // no quoting there
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// mostCached bounds how many engines of one cache are examined.
const mostCached = 5

// cached returns the engines of a cache, the newest first.
func (o *Options) cached(p place) []found {
	pattern := p.glob
	if o.top != "" {
		pattern = filepath.Join(quoted(o.top), pattern)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil
	}
	slices.SortFunc(paths, func(a, b string) int { return compareNumbers(b, a) })
	var all []found
	for _, path := range paths[:min(len(paths), mostCached)] {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			all = append(all, found{place: p, path: path})
		}
	}
	return all
}
