// Package setup has "hubcli init", which brings a repository and its harnesses to a hub. It shows what it would do, and
// does nothing without a yes.
package setup
