//go:build !unix

package adapter

import "io/fs"

func own(fs.FileInfo) bool { return true }

// trusted takes every executable: who may write where is inherited there.
func trusted(string) error { return nil }
