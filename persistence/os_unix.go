//go:build unix

package persistence

// renameLocked says whether a folder can be renamed while a file in it is open.
const renameLocked = true
