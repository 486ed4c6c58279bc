//go:build hub_omit_license

package main

import (
	"context"
	"log/slog"

	"hubcli/hub"
)

func newLicenses(string, *slog.Logger) hub.Licenses { return nil }

// showLicense is for the command license, which this build leaves out.
var showLicense func(ctx context.Context, dataRoot string) (hub.License, error)
