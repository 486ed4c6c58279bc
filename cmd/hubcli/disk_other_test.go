//go:build unix && !linux

package main

import (
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"
)

// condition knows [mount]: the test may mount disks of its own, which it can on
// Linux alone.
func condition(name string) (bool, error) {
	if name == "mount" {
		return false, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

func cmdSmallDisk(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("needs [mount]") }
func cmdReadOnly(ts *testscript.TestScript, _ bool, _ []string)  { ts.Fatalf("needs [mount]") }
