//go:build unix && !linux

package main

import (
	"fmt"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"hubcli/internal/testport"
)

// condition knows [mount]: the test may mount disks of its own, which it can on
// Linux alone; and [interface]: this machine has an address beside loopback, which is
// $ADDRESS; and [root]: the tests run as root.
func condition(name string) (bool, error) {
	if name == "interface" {
		return testport.Interface() != "", nil
	}
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	if name == "mount" {
		return false, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

func cmdSmallDisk(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("needs [mount]") }
func cmdReadOnly(ts *testscript.TestScript, _ bool, _ []string)  { ts.Fatalf("needs [mount]") }

func cmdTerminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("this test knows the pseudo-terminals of Linux alone")
}
