package relay

import "os"

// syncFolder does nothing: the system has no such call, it journals names.
func syncFolder(*os.Root, string) error { return nil }
