package peeruser

import (
	"errors"
	"net"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

var ways = []way{{"GetExtendedTcpTable", openTable}}

var getTable = windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")

func openTable() (func(pair) (owner, error), func() error, error) {
	return ownerOf, func() error { return nil }, getTable.Find()
}

// ownerOf returns the user of the process that has the socket. The process has it before and
// after it was looked at, so that its number cannot have passed to another one meanwhile.
func ownerOf(p pair) (owner, error) {
	id, err := processOf(p)
	if err != nil {
		return owner{}, err
	}
	sid, err := userOf(id)
	if err != nil {
		return owner{}, err
	}
	if again, err := processOf(p); err != nil || again != id {
		return owner{}, ErrGone
	}
	return owner{user: User(sid), pid: int(id)}, nil
}

// processOf returns the process that has the socket with these ends. A socket of IPv6 with
// mapped addresses may be in the table of IPv6.
func processOf(p pair) (uint32, error) {
	for _, family := range []uint32{windows.AF_INET, windows.AF_INET6} {
		table, err := tcpTable(family)
		if err != nil {
			return 0, err
		}
		if id, ok := parseTCPTable(table, family == windows.AF_INET6, p); ok {
			return id, nil
		}
	}
	return 0, ErrGone
}

// tcpTable reads the connections of a family with their processes.
func tcpTable(family uint32) ([]byte, error) {
	const connections = 4 // TCP_TABLE_OWNER_PID_CONNECTIONS
	size := uint32(16 << 10)
	for range 8 { // the table may grow meanwhile
		b := make([]byte, size)
		code, _, _ := getTable.Call(uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&size)), 0, uintptr(family), connections, 0)
		switch windows.Errno(code) {
		case windows.ERROR_SUCCESS:
			return b, nil
		case windows.ERROR_INSUFFICIENT_BUFFER:
			size += 4 << 10
		default:
			return nil, windows.Errno(code)
		}
	}
	return nil, windows.ERROR_INSUFFICIENT_BUFFER
}

// userOf returns the SID of a process's user. A process of another user is mostly closed to
// this one; so is one of the same user that has the rights of an administrator.
func userOf(id uint32) (string, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, id)
	if err != nil {
		return "", denied(err)
	}
	defer func() { _ = windows.CloseHandle(h) }() // nothing was written
	var token windows.Token
	if err := windows.OpenProcessToken(h, windows.TOKEN_QUERY, &token); err != nil {
		return "", denied(err)
	}
	defer func() { _ = token.Close() }() // nothing was written
	account, err := token.GetTokenUser()
	if err != nil {
		return "", err
	}
	return account.User.Sid.String(), nil
}

func denied(err error) error {
	switch {
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return ErrDenied
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER): // there is no such process any more
		return ErrGone
	}
	return err
}

// stands reports whether our own end of a connection is still in the table.
func (l *Looker) stands(_ net.Conn, p pair) bool {
	id, err := processOf(p.turned())
	return err == nil && id == windows.GetCurrentProcessId()
}

// Superuser reports whether a user may do everything on this machine anyway.
func (u User) Superuser() bool { return u == "S-1-5-18" } // LocalSystem

func self() (User, error) {
	account, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", err
	}
	return User(account.User.Sid.String()), nil
}

func pid() int { return os.Getpid() }

func isNumber(name string) bool {
	if !strings.HasPrefix(name, "S-1-") {
		return false
	}
	sid, err := windows.StringToSid(name)
	return err == nil && sid.String() == name
}
