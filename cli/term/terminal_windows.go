package term

import "golang.org/x/sys/windows"

// IsTerminal reports whether the open file is a console.
func IsTerminal(fd uintptr) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(fd), &mode) == nil
}

// TerminalSize returns the columns and rows of a console; zero if they are unknown.
func TerminalSize(fd uintptr) (width, height int) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(fd), &info) != nil {
		return 0, 0
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
}

// HideTyping has a console hide the typing of a person until restore is called.
func HideTyping(fd uintptr) (restore func(), err error) {
	var was uint32
	if err := windows.GetConsoleMode(windows.Handle(fd), &was); err != nil {
		return nil, err
	}
	hidden := was&^windows.ENABLE_ECHO_INPUT | windows.ENABLE_LINE_INPUT | windows.ENABLE_PROCESSED_INPUT
	if err := windows.SetConsoleMode(windows.Handle(fd), hidden); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(windows.Handle(fd), was) }, nil
}
