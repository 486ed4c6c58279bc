package wake

import (
	"os"
	"strconv"
)

// executable returns the file that a process runs; false if it is gone.
func executable(pid int) (string, bool) {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return "", false
	}
	_, err = os.Stat(path)
	return path, err == nil
}
