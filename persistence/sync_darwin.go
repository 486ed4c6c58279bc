package persistence

// syncEveryCommit: msync does not flush the drive's cache on macOS; File.Sync of
// HEAD does, for everything on the drive.
const syncEveryCommit = true
