// Package engine knows the browser engines of a machine: which are there, in
// which order the hub prefers them and why one is not usable; and it installs the
// engine whose version and checksums are pinned in this package.
//
// Everything is safe for concurrent use. Installs into one data root wait for each
// other, also those of other processes. Nothing runs on after a call has
// returned.
//
// The package starts engines only to ask for their version. It never opens a
// page, never downloads anything unless it is told to install, and never runs a
// file whose checksum is not the pinned one if it is to be the managed engine.
package engine
