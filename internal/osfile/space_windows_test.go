package osfile

import "golang.org/x/sys/windows"

func full() error { return windows.ERROR_DISK_FULL }
