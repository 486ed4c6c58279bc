//go:build !hub_omit_provider || !hub_omit_license

package main

import (
	"os"

	"hubcli/integrations/credstore"
)

// secretStore is the credential store of this machine, or the encrypted file that the
// environment names.
func secretStore() *credstore.Store { return &credstore.Store{File: credstore.FileOf(os.Getenv)} }
