package persistence

// Sizes of what Badger writes in the background. They stand alone in this file:
// `stress kill --small-tables` builds a hub with smaller ones in its place,
// which writes and merges tables all the time. There is no setting for them.
const (
	memTableSize = 4 << 20 // with 8 MiB the process has twice the memory after a million posts, and is no faster
	// baseTableSize: Badger's builders of tables take twice that, several at a
	// time, and keep it for seconds; the default of 2 MiB costs 30 MB more.
	baseTableSize = 1 << 20
)
