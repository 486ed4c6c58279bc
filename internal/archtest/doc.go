// Package archtest holds the rules of the project's shape as tests: which
// package may import which and why, how large files and functions get, how
// packages are documented, and what documents promise.
//
// It has no code of its own. It reads the source as it stands, the files of all
// platforms included, and starts nothing but git to list them.
package archtest
