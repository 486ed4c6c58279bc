package hubfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hubcli/internal/osfile"
	"hubcli/internal/pause"
)

// DefaultPort is the port of a hub for which nothing names another.
const DefaultPort = 6969

const (
	portFile     = "port"      // in the data root
	portLock     = "port.lock" // in its folder run
	maxPortBytes = 64
)

// Of the ports that are tried for a user: they are below those that systems give to
// connections.
const (
	firstPort = 6970
	manyPorts = 1000
)

// Port is where programs of this user expect their hub if nothing names its address: the port
// that the data root remembers, or DefaultPort.
func Port(root string) int {
	port, _ := LookPort(root)
	return port
}

// BaseURL is the address at which programs of this user expect their hub.
func BaseURL(root string) string { return baseURL(Port(root)) }

func baseURL(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

// LookPort is Port, and says why a file that is there counts as none: it is not this user's,
// others may write it, or it names no port.
func LookPort(root string) (port int, unusable error) {
	if root == "" {
		return DefaultPort, nil
	}
	file := filepath.Join(root, portFile)
	port, err := readPort(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && port == DefaultPort {
		return DefaultPort, nil
	}
	if err != nil {
		return DefaultPort, err
	}
	return port, nil
}

func readPort(file string) (int, error) {
	refused := func(why string) (int, error) {
		return 0, &fs.PathError{Op: "read", Path: file, Err: errors.New(why)}
	}
	info, err := os.Lstat(file)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return refused("it is no regular file")
	}
	if why := osfile.ForeignFile(info); why != "" {
		return refused("it " + why)
	}
	if osfile.Permissions(info)&0o022 != 0 { // the Python client knows no private groups
		return refused("it may be written by a group")
	}
	b, err := osfile.ReadSmall(file, maxPortBytes)
	if err != nil {
		return 0, err
	}
	text := strings.TrimSpace(string(b))
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 || strconv.Itoa(port) != text {
		return refused("it names no port")
	}
	return port, nil
}

// RememberPort makes port the one at which programs of this user expect their hub, in the
// place of whatever file is there. Errors are those of the system.
func RememberPort(ctx context.Context, root string, port int) error {
	lock, err := lockPort(ctx, root)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // which gives the lock back
	return writePort(root, port)
}

// ChoosePort remembers a free port of its own for this user's hub, because taken is another
// user's, and returns it. Of many callers at once one chooses, and all get its choice. Errors
// are those of the system and of the context.
func ChoosePort(ctx context.Context, root string, taken int) (int, error) {
	lock, err := lockPort(ctx, root)
	if err != nil {
		return 0, err
	}
	defer func() { _ = lock.Close() }() // which gives the lock back
	if port := Port(root); port != taken && port != DefaultPort {
		return port, nil // another caller has chosen
	}
	port, err := freePort(taken)
	if err != nil {
		return 0, err
	}
	return port, writePort(root, port)
}

func writePort(root string, port int) error {
	return osfile.Replace(osfile.Disk{}, filepath.Join(root, portFile), osfile.Content{
		Write: osfile.Bytes([]byte(strconv.Itoa(port) + "\n")), Temp: "." + portFile + ".new", Mode: 0o600, Exactly: true,
	})
}

// lockPort lets one process at a time change what a data root remembers. It refuses the data
// root of another user, as the superuser may meet one: that user's programs would lose their hub.
func lockPort(ctx context.Context, root string) (*os.File, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !osfile.Own(root, info) {
		return nil, &fs.PathError{Op: "write", Path: root, Err: errors.New("the folder belongs to another user")}
	}
	dir := filepath.Join(root, "run")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, portLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		got, err := osfile.TryLock(f)
		if err == nil && !got && pause.For(ctx, 10*time.Millisecond) {
			continue
		}
		if got && err == nil {
			return f, nil
		}
		return nil, errors.Join(err, context.Cause(ctx), f.Close())
	}
}

// freePort returns a port on which nothing of this machine listens. Each user begins at another
// one, so that hubs that do not run just now seldom lose theirs.
func freePort(taken int) (int, error) {
	begin := max(os.Getuid(), 0)
	var last error
	for i := range manyPorts {
		port := firstPort + (begin+i)%manyPorts
		if port == taken {
			continue
		}
		l, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("none of the ports %d to %d is free: %w", firstPort, firstPort+manyPorts-1, last)
}
