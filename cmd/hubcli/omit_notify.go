//go:build hub_omit_notify

package main

import (
	"hubcli/actors"
	"hubcli/cli/term"
)

func notifier(*term.DaemonConfig) actors.Notifier { return nil }
