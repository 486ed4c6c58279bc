package disks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// disk is a file system of its own.
type disk struct {
	path   string
	image  string // of a disk on a loop device; else it is in memory
	size   int64
	inodes int64
}

// inMemory mounts a file system in memory.
func inMemory(path string, size, inodes int64) (*disk, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	d := &disk{path: path, size: size, inodes: inodes}
	return d, unix.Mount("tmpfs", path, "tmpfs", 0, d.options())
}

func (d *disk) options() string { return fmt.Sprintf("size=%d,nr_inodes=%d", d.size, d.inodes) }

// grow gives the disk more room, as somebody does who frees space.
func (d *disk) grow(size, inodes int64) error {
	d.size += size
	d.inodes += inodes
	return unix.Mount("", d.path, "", unix.MS_REMOUNT, d.options())
}

// onLoop makes an ext4 file system in a file and mounts it.
func onLoop(ctx context.Context, path string, size int64) (*disk, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	d := &disk{path: path, image: path + ".image"}
	f, err := os.Create(d.image)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(size), f.Close(), command(ctx, "mkfs.ext4", "-q", "-F", d.image), d.mountImage(ctx)); err != nil {
		return nil, errors.Join(err, os.Remove(d.image))
	}
	return d, nil
}

func (d *disk) mountImage(ctx context.Context) error {
	return command(ctx, "mount", "-o", "loop", d.image, d.path)
}

// again unmounts a broken disk and mounts it anew, as a start of the machine does.
func (d *disk) again(ctx context.Context) error {
	if err := command(ctx, "umount", d.path); err != nil {
		return err
	}
	return d.mountImage(ctx)
}

// abort makes a disk on a loop device read-only, as the system does after an error of
// its file system.
func (d *disk) abort() error { return unix.Mount("", d.path, "", unix.MS_REMOUNT, "abort") }

// shutdown makes all that is done with a disk on a loop device fail with EIO, as when it
// is pulled out. What was not synced is lost.
func (d *disk) shutdown() error {
	const ext4Shutdown, withoutFlush = 0x8004587d, 2
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), ext4Shutdown, withoutFlush)
}

// close unmounts the disk, whoever still uses it.
func (d *disk) close() error {
	err := unix.Unmount(d.path, unix.MNT_DETACH)
	if d.image != "" {
		err = errors.Join(err, os.Remove(d.image))
	}
	return errors.Join(err, os.Remove(d.path))
}

// command runs a program of the system.
func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// free returns how many bytes and inodes of the disk are free.
func (d *disk) free() (bytes, inodes int64) {
	var st unix.Statfs_t
	if unix.Statfs(d.path, &st) != nil {
		return 0, 0
	}
	return int64(st.Bavail) * st.Bsize, int64(st.Ffree)
}

// fill writes at full speed until left bytes are free, and afterwards takes whatever
// becomes free beyond that, until the function that it returns gives all of it back.
// It returns when the disk is that full for the first time.
func (d *disk) fill(left int64) (giveBack func() error, err error) {
	f, err := os.Create(filepath.Join(d.path, "filler"))
	if err != nil {
		return nil, err
	}
	block := make([]byte, mib)
	return filler(func() (more bool) {
		if free, _ := d.free(); free <= left && left > 0 {
			return false
		}
		_, err := f.Write(block)
		return err == nil
	}, func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }), nil
}

// fillInodes is fill with files instead of bytes.
func (d *disk) fillInodes(left int64) (giveBack func() error, err error) {
	dir := filepath.Join(d.path, "filler")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	n := 0
	return filler(func() (more bool) {
		if _, free := d.free(); free <= left && left > 0 {
			return false
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(n)))
		if err != nil {
			return false
		}
		n++
		return f.Close() == nil
	}, func() error { return os.RemoveAll(dir) }), nil
}

// filler takes, again and again, until what it returns is called. take says whether there
// may be more.
func filler(take func() (more bool), remove func() error) (giveBack func() error) {
	stop, first := make(chan struct{}), make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		reached := sync.OnceFunc(func() { close(first) })
		for {
			select {
			case <-stop:
				return
			default:
				if !take() {
					reached()
				}
			}
		}
	})
	<-first
	return sync.OnceValue(func() error {
		close(stop)
		working.Wait()
		return remove()
	})
}
