package persistence

import "os"

// renameLocked says whether a folder can be renamed while a file in it is open.
// Windows refuses this.
const renameLocked = false

// deleted reports whether a folder that is open has no name any more. Windows deletes no
// folder that is open.
func deleted(*os.File) bool { return false }
