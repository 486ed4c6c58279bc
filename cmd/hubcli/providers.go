package main

import (
	"os"

	"hubcli/actors"
	"hubcli/integrations/credstore"
	"hubcli/integrations/provider"
)

// credentials keeps the secrets that the hub holds for its operator.
func credentials() credstore.Keeper { return credstore.Keeper{Store: secretStore()} }

// secretStore is the credential store of this machine, or the encrypted file that the
// environment names.
func secretStore() *credstore.Store { return &credstore.Store{File: credstore.FileOf(os.Getenv)} }

var (
	_ actors.Directory   = (*provider.Client)(nil)
	_ actors.Credentials = credstore.Keeper{}
)
