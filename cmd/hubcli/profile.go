//go:build profile

package main

import (
	"net/http"
	_ "net/http/pprof"
	"os"
)

// A build with -tags profile serves net/http/pprof on the address in HUB_PPROF,
// for measurements. A released hub never does.
func init() {
	if addr := os.Getenv("HUB_PPROF"); addr != "" {
		go func() { _ = http.ListenAndServe(addr, nil) }()
	}
}
