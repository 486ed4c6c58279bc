//go:build !hub_omit_notify

package main

import (
	"os"

	"hubcli/actors"
	"hubcli/cli/term"
	"hubcli/integrations/notify"
)

// notifier tells the operator of questions. Its programs start in the data root, where
// only this user writes, or in the store's folder where there is no data root.
func notifier(cfg *term.DaemonConfig) actors.Notifier {
	n := &notify.Notifier{Dir: cfg.DataRoot}
	if cfg.DataRoot == "" || os.MkdirAll(cfg.DataRoot, 0o700) != nil {
		n.Dir = cfg.Storage
	}
	if r := runner(); r != nil {
		n.Runner = r
	}
	return n
}
