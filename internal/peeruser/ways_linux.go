package peeruser

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

var ways = []way{{"sock_diag", openDiag}, {"/proc/net/tcp", openProc}}

// diag asks the kernel for one socket over netlink. The kernel answers within the call that
// asks, so that nothing here waits.
type diag struct {
	unmapped int64 // the number of users outside of this user namespace; -1: there are none

	mu  sync.Mutex
	fd  int // -1: closed
	seq uint32
}

func openDiag() (func(pair) (owner, error), func() error, error) {
	d := &diag{fd: -1, unmapped: unmapped()}
	if err := d.open(); err != nil {
		return nil, nil, err
	}
	return d.of, d.close, nil
}

func (d *diag) open() (err error) {
	const kind = unix.SOCK_RAW | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	if d.fd, err = unix.Socket(unix.AF_NETLINK, kind, unix.NETLINK_SOCK_DIAG); err != nil {
		d.fd = -1
	}
	return err
}

func (d *diag) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd < 0 {
		return nil
	}
	err := unix.Close(d.fd)
	d.fd = -1
	return err
}

func (d *diag) of(p pair) (owner, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, err := d.ask(p)
	if err == nil || errors.Is(err, ErrGone) || errors.Is(err, ErrUnmapped) {
		return o, err
	}
	// An answer to an earlier question may have been left over, or the socket has failed.
	_ = unix.Close(d.fd)
	if err := d.open(); err != nil {
		return owner{}, err
	}
	return d.ask(p)
}

func (d *diag) ask(p pair) (owner, error) {
	d.seq++
	if err := unix.Sendto(d.fd, diagRequest(p, d.seq), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return owner{}, err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(d.fd, answer, 0)
	if err != nil {
		return owner{}, err
	}
	return d.owner(parseDiag(answer[:n], d.seq, p))
}

func (d *diag) owner(uid uint32, err error) (owner, error) {
	return ownedBy(uid, d.unmapped, err)
}

func ownedBy(uid uint32, unmapped int64, err error) (owner, error) {
	switch {
	case err != nil:
		return owner{}, err
	case int64(uid) == unmapped:
		return owner{}, ErrUnmapped
	}
	return owner{user: User(strconv.FormatUint(uint64(uid), 10))}, nil
}

// openProc reads the tables of sockets whole for every look.
func openProc() (func(pair) (owner, error), func() error, error) {
	outside := unmapped()
	of := func(p pair) (owner, error) {
		for _, path := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			table, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				continue // of a system without IPv6
			}
			if err != nil {
				return owner{}, err
			}
			if uid, err := parseProc(table, p); !errors.Is(err, ErrGone) {
				return ownedBy(uid, outside, err)
			}
		}
		return owner{}, ErrGone
	}
	return of, func() error { return nil }, nil
}

// unmapped returns the number that the kernel gives to users who have none in the user
// namespace of this process; -1 if all have one.
func unmapped() int64 {
	ids, err := os.ReadFile("/proc/self/uid_map")
	if err == nil {
		f := bytes.Fields(ids)
		if len(f) == 3 && string(f[0]) == "0" && string(f[2]) == "4294967295" {
			return -1
		}
	}
	const usual = 65534
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return usual
	}
	uid, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return usual
	}
	return uid
}

func self() (User, error) {
	uid := os.Geteuid()
	if int64(uid) == unmapped() {
		return "", fmt.Errorf("peeruser: the own user has the number %d, as all have that are outside of this user namespace", uid)
	}
	return User(strconv.Itoa(uid)), nil
}
