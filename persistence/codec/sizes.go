package codec

// Sizes of what Badger writes in the background. They stand alone in this file:
// `stress kill --small-tables` builds a hub with smaller ones in its place,
// which writes and merges tables all the time. There is no setting for them.
const (
	MemTableSize = 4 << 20 // with 8 MiB the process has twice the memory after a million posts, and is no faster
	// BaseTableSize: Badger's builders of tables take twice that, several at a
	// time, and keep it for seconds; the default of 2 MiB costs 30 MB more.
	BaseTableSize = 1 << 20
)

// ValueThreshold is the size in bytes from which Badger keeps a value in its value log.
const ValueThreshold = 1 << 10

// ValueLogFileSize is the size in bytes of a file of the value log.
const ValueLogFileSize = 64 << 20

// MaxValue is the largest value that Badger takes.
const MaxValue = ValueLogFileSize
