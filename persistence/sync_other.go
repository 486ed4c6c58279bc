//go:build !darwin

package persistence

// syncEveryCommit: Badger's msync has made the commit durable; HEAD follows.
const syncEveryCommit = false
