package process

// Arguments returns the command line of a process. Here nobody looks for it.
func Arguments(int) ([]string, bool) { return nil, false }
