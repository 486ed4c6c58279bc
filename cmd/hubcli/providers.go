//go:build !hub_omit_provider

package main

import (
	"hubcli/actors"
	"hubcli/integrations/credstore"
	"hubcli/integrations/provider"
)

// directory knows the hosted providers.
func directory() actors.Directory { return &provider.Client{} }

// credentials keeps the secrets that the hub holds for its operator.
func credentials() actors.Credentials { return credstore.Keeper{Store: secretStore()} }
