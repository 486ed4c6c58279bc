package capsule

import "hubcli/hub"

// Limits bound what a Reader accepts. A Writer holds itself to DefaultLimits, so that
// every hub can read what one has written.
type Limits struct {
	FileBytes     int64 // of the archive; below 4 GiB, so that no archive needs zip64
	ExpandedBytes int64 // of all entries, as their own sizes say
	EntryBytes    int64 // of one entry; below 4 GiB
	ManifestBytes int64 // of manifest.json
	Entries       int   // at most 65,534
	// Ratio is how many bytes one byte of the archive may expand to, beyond RatioFrom bytes.
	Ratio     int64
	RatioFrom int64
	Messages  int64 // messages and tasks together
	Things    int64 // lines of each other kind
	Waits     int   // pairs of tasks of which one waits for the other
	// Texts has the limits of bodies and attachments that the operator can set.
	Texts hub.Limits
}

// DefaultLimits returns the limits of every capsule that a hub writes.
func DefaultLimits() Limits {
	return Limits{
		FileBytes:     4<<30 - 1,
		ExpandedBytes: 32 << 30,
		EntryBytes:    4<<30 - 1,
		ManifestBytes: 32 << 20,
		Entries:       65_000,
		Ratio:         500,
		RatioFrom:     64 << 20,
		Messages:      20_000_000,
		Things:        250_000,
		Waits:         2_000_000,
		Texts:         hub.DefaultLimits(),
	}
}

// lineBytes is how long a line may be: a message at all limits of the hub. A character of
// a body may be escaped as six bytes; attachments count their escapes as characters.
func (l *Limits) lineBytes() int {
	const escaped, character, rest = 6, 4, 2 << 20
	return escaped*l.Texts.MaxBodyChars + character*l.Texts.MaxAttachments*l.Texts.MaxAttachmentChars + rest
}

// checkSizes refuses an archive that is too large, or that expands too much. All sizes are
// in bytes.
func (l *Limits) checkSizes(file, expanded int64, entries int) error {
	switch {
	case file > l.FileBytes:
		return tooLarge("the capsule is larger than a capsule may be", l.FileBytes, file)
	case entries > l.Entries:
		return tooLarge("the capsule has too many entries", int64(l.Entries), int64(entries))
	case expanded > l.ExpandedBytes:
		return tooLarge("the capsule expands to more than a capsule may hold", l.ExpandedBytes, expanded)
	case expanded > l.RatioFrom && expanded/l.Ratio > file:
		return tooLarge("the capsule expands to far more than its size", l.Ratio*file, expanded)
	}
	return nil
}
