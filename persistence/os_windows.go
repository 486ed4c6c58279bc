package persistence

// renameLocked says whether a folder can be renamed while a file in it is open.
// Windows refuses this.
const renameLocked = false
