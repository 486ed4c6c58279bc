package cli

import "golang.org/x/sys/unix"

// IsTerminal reports whether the open file is a terminal.
func IsTerminal(fd uintptr) bool {
	_, err := unix.IoctlGetTermios(int(fd), unix.TIOCGETA)
	return err == nil
}

// TerminalSize returns the columns and rows of a terminal; zero if they are unknown.
func TerminalSize(fd uintptr) (width, height int) {
	size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}
