// Package testcli has what tests of commands share: an environment without a machine, and a hub that answers what it
// is told. It is for tests only.
package testcli
