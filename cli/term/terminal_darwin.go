package term

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

// HideTyping has a terminal hide the typing of a person until restore is called.
func HideTyping(fd uintptr) (restore func(), err error) {
	was, err := unix.IoctlGetTermios(int(fd), unix.TIOCGETA)
	if err != nil {
		return nil, err
	}
	hidden := *was
	hidden.Lflag = hidden.Lflag&^unix.ECHO | unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(int(fd), unix.TIOCSETA, &hidden); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(int(fd), unix.TIOCSETA, was) }, nil
}
