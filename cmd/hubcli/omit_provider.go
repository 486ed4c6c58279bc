//go:build hub_omit_provider

package main

import "hubcli/actors"

func directory() actors.Directory { return nil }

func credentials() actors.Credentials { return nil }
