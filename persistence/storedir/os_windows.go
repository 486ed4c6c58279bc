package storedir

import "os"

// RenameLocked says whether a folder can be renamed while a file in it is open.
// Windows refuses this.
const RenameLocked = false

// Deleted reports whether a folder that is open has no name any more. Windows deletes no
// folder that is open.
func Deleted(*os.File) bool { return false }
