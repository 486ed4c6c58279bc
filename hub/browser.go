package hub

import (
	"context"
	"time"
)

// MaxBrowserLook is the longest time in which a hub looks for browser engines.
const MaxBrowserLook = 30 * time.Second

// Browsers tells of the browser engines of the hub's machine.
type Browsers interface {
	// BrowserEngines returns the engines in the order in which the hub prefers them.
	BrowserEngines(ctx context.Context) ([]BrowserEngine, error)
}

// BrowserKind names a family of browser engines.
type BrowserKind string

// The kinds. Every one of them speaks the DevTools protocol.
const (
	BrowserHeadlessShell BrowserKind = "headless-shell" // an engine without windows: the smallest and most silent
	BrowserChrome        BrowserKind = "chrome"
	BrowserChromium      BrowserKind = "chromium"
	BrowserEdge          BrowserKind = "edge"
	BrowserBrave         BrowserKind = "brave"
	BrowserUnknown       BrowserKind = "unknown" // it does not say what it is
)

// BrowserEngine is one browser engine of a machine.
type BrowserEngine struct {
	Preference int         `json:"preference"` // 1 for the engine that is tried first.
	Kind       BrowserKind `json:"kind"`
	Path       string      `json:"path"`
	Version    string      `json:"version"` // Empty if it is not known.
	// The name of a variable of the environment, managed, system, prerelease, playwright or puppeteer.
	Source string `json:"source"`
	Usable bool   `json:"usable"`
	Reason string `json:"reason"` // Why it is not usable, or what to know of it.
	Snap   bool   `json:"snap"`   // It is confined.
}
