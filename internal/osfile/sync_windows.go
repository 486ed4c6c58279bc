package osfile

import "os"

// SyncDir does nothing: NTFS journals the entries of a folder itself.
func SyncDir(string) error { return nil }

// SyncDirIn does nothing: NTFS journals the entries of a folder itself.
func SyncDirIn(*os.Root, string) error { return nil }
