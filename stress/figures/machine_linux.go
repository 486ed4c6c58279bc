package figures

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Magic numbers of statfs(2), of the file systems on which stores usually are.
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "XFS", unix.BTRFS_SUPER_MAGIC: "Btrfs", unix.TMPFS_MAGIC: "tmpfs (memory)",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.F2FS_SUPER_MAGIC: "F2FS", 0x2fc12fc1: "ZFS", unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "FUSE",
}

func (m *Machine) look(dir string) {
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.Processor = strings.TrimSpace(value)
				break
			}
		}
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		m.MemoryMiB = int64(info.Totalram) * int64(info.Unit) >> 20
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		release, _, _ := strings.Cut(unix.ByteSliceToString(name.Release[:]), "-")
		m.System = "Linux " + release
	}
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) == nil {
		m.Disk = fileSystems[int64(fs.Type)]
	}
}
