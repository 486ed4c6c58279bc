// Package provider knows hosted providers of models: where they serve, how they take a key
// and how they list their models. The table is data (presets.json), with the source and the
// day of each row; the package asks a provider and says in words what is wrong.
//
// Presets and clients may be used by several goroutines at once. The client follows no
// redirect, sends a key to no other server than the target names and never in the clear to
// another machine, and bounds the bytes, pages and time of every answer. It keeps no key.
package provider
