// Package osfile holds what the operating system knows about files and the
// standard library leaves to its callers: advisory locks, replacing a file as a
// whole, making the entries of a folder durable, reading a small file that could
// be anything, asking who owns a file, and how much room a disk has.
//
// It exists because three widely used libraries fall short here. gofrs/flock
// locks a path and not an open file, so a file that was opened below an os.Root
// or that was compared with what was looked at before cannot be locked.
// google/renameio and natefinch/atomic never sync the folder, so a rename may be
// lost with the power; neither can check the content before the rename.
//
// Everything is safe for concurrent use, as far as the operating system makes it
// so. The package keeps no state, starts no goroutine and never retries: waiting
// is the caller's. It knows nothing of the project.
package osfile
