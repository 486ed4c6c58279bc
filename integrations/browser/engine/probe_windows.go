package engine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// sayVersion reads the version of the file. Browsers of Windows open a window when
// they are asked.
func sayVersion(_ context.Context, path string) (string, error) {
	size, err := windows.GetFileVersionInfoSize(path, nil)
	if err != nil {
		return "", errors.New("the file tells no version")
	}
	if size > 1<<20 {
		return "", errors.New("the file's version is too large")
	}
	info := make([]byte, size)
	if err := windows.GetFileVersionInfo(path, 0, size, unsafe.Pointer(&info[0])); err != nil {
		return "", fmt.Errorf("the file's version cannot be read: %w", err)
	}
	var fixed *windows.VS_FIXEDFILEINFO
	length := uint32(unsafe.Sizeof(*fixed))
	if err := windows.VerQueryValue(unsafe.Pointer(&info[0]), `\`, unsafe.Pointer(&fixed), &length); err != nil {
		return "", fmt.Errorf("the file's version cannot be read: %w", err)
	}
	return fmt.Sprintf("%d.%d.%d.%d", fixed.FileVersionMS>>16, fixed.FileVersionMS&0xffff, fixed.FileVersionLS>>16, fixed.FileVersionLS&0xffff), nil
}

func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}
