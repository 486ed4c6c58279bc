package mcp

// syncFolder: a rename lasts here when it returns.
func syncFolder(string) error { return nil }
