package main

import (
	"hubcli/actors"
	"hubcli/integrations/credstore"
	"hubcli/integrations/provider"
)

// credentials keeps the secrets that the hub holds for its operator.
func credentials() credstore.Keeper { return credstore.Keeper{Store: &credstore.Store{}} }

var (
	_ actors.Directory   = (*provider.Client)(nil)
	_ actors.Credentials = credstore.Keeper{}
)
