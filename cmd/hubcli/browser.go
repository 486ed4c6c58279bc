//go:build !hub_omit_browser

package main

import (
	"context"
	"os"

	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/browser/engine"
)

// pinsToUse are the pins of browser engines; nil: the embedded ones.
func pinsToUse() *engine.Pins {
	if browserPins == "" || os.Getenv(browserPins) == "" {
		return nil
	}
	data, err := os.ReadFile(os.Getenv(browserPins))
	if err != nil {
		return nil
	}
	pins, err := engine.ParsePins(data)
	if err != nil {
		return nil
	}
	return pins
}

// browsers are the engines of the machine of a daemon.
type browsers struct{ options engine.Options }

func newBrowsers(cfg *term.DaemonConfig) browsers {
	return browsers{engine.Options{DataRoot: cfg.DataRoot, Getenv: os.Getenv, Pins: pinsToUse(), AsNobody: os.Geteuid() == 0}}
}

func (b browsers) BrowserEngines(ctx context.Context) ([]hub.BrowserEngine, error) {
	return engine.Discover(ctx, b.options), nil
}
