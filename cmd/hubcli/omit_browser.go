//go:build hub_omit_browser

package main

import (
	"log/slog"

	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/supervisor"
)

func pinsToUse() *struct{} { return nil }

func newBrowsers(*term.DaemonConfig) hub.Browsers { return nil }

func newBrowser(*term.DaemonConfig, *slog.Logger) supervisor.Browser { return nil }
