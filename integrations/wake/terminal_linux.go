package wake

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Of the kernel's list of sockets, see sock_diag(7) and linux/unix_diag.h.
const (
	sockDiag       = 4  // NETLINK_SOCK_DIAG
	sockByFamily   = 20 // SOCK_DIAG_BY_FAMILY
	diagName       = 1  // UDIAG_SHOW_NAME, and the bit of UDIAG_SHOW_PEER is 1<<2
	diagPeer       = 1 << 2
	attrName       = 0 // UNIX_DIAG_NAME
	attrPeer       = 2 // UNIX_DIAG_PEER
	established    = 1 // TCP_ESTABLISHED, which Unix sockets use as well
	diagRequest    = 24
	diagMessage    = 16 // before the attributes
	diagInode      = 4  // where the number of the socket begins in a message
	diagTime       = time.Second
	mostDiagFrames = 10_000 // of 32 KiB: no system has so many sockets
)

// peers returns the processes of this user that are connected with a named Unix socket of a
// process. ok is false if the process has no such socket or the system does not tell.
func peers(pid int) (list []peer, ok bool) {
	own, ok := sockets(pid)
	if !ok || len(own) == 0 {
		return nil, false
	}
	all, ok := unixSockets()
	if !ok {
		return nil, false
	}
	others := map[uint32]bool{} // at the other end of its named connections
	named := false
	for _, s := range all {
		if !own[s.inode] || !s.named {
			continue
		}
		named = true
		if s.state == established && s.peer != 0 {
			others[s.peer] = true
		}
	}
	if !named {
		return nil, false
	}
	if len(others) == 0 {
		return nil, true
	}
	return owners(pid, others), true
}

// sockets returns the numbers of the sockets that a process has open.
func sockets(pid int) (inodes map[uint32]bool, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	inodes = map[uint32]bool{}
	for _, name := range names {
		link, err := os.Readlink(dir + "/" + name)
		digits, socket := strings.CutPrefix(link, "socket:[")
		if err != nil || !socket {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSuffix(digits, "]"), 10, 32); err == nil {
			inodes[uint32(n)] = true
		}
	}
	return inodes, true
}

// owners returns the processes, without pid itself, that have one of the sockets open. Those
// of other users are left out: the system shows none of their files.
func owners(pid int, sought map[uint32]bool) (list []peer) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // those that were read are looked at
	for _, name := range names {
		other, err := strconv.Atoi(name)
		if err != nil || other == pid {
			continue
		}
		has, _ := sockets(other)
		for inode := range has {
			if sought[inode] {
				list = append(list, peerOf(other))
				break
			}
		}
	}
	return list
}

// peerOf describes a process. What has ended meanwhile is empty, and follows nothing that matters: the next look does
// not find it.
func peerOf(pid int) (p peer) {
	p.exe, _ = os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	p.exe = strings.TrimSuffix(p.exe, " (deleted)")
	p.args, p.dir, _ = commandLine(pid)
	p.terminal = onTerminal(pid)
	return p
}

// onTerminal reports whether a process has a controlling terminal.
func onTerminal(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	// pid (name) state parent group session terminal …: the name may hold anything.
	const terminal = 4
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return len(fields) > terminal && fields[terminal] != "0"
}

// unixSocket is a row of the kernel's list.
type unixSocket struct {
	inode, peer uint32 // peer 0: unknown
	state       uint8
	named       bool // it was bound to a name, as the socket of a server and its connections are
}

// unixSockets asks the kernel for its Unix sockets; false if it does not tell.
func unixSockets() (list []unixSocket, ok bool) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, sockDiag)
	if err != nil {
		return nil, false
	}
	defer syscall.Close(fd)
	limit := syscall.NsecToTimeval(diagTime.Nanoseconds())
	_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit)
	if err := syscall.Sendto(fd, diagAll(), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return nil, false
	}
	buf := make([]byte, 32<<10)
	for range mostDiagFrames {
		n, _, err := syscall.Recvfrom(fd, buf, 0)
		if err != nil {
			return nil, false
		}
		frames, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return nil, false
		}
		for _, f := range frames {
			switch {
			case f.Header.Type == syscall.NLMSG_DONE:
				return list, true
			case f.Header.Type == syscall.NLMSG_ERROR:
				return nil, false
			case f.Header.Type == sockByFamily && len(f.Data) >= diagMessage:
				list = append(list, parseUnixSocket(f.Data))
			}
		}
	}
	return nil, false
}

// diagAll is the request for all Unix sockets, with their names and other ends.
func diagAll() []byte {
	b := make([]byte, syscall.SizeofNlMsghdr+diagRequest)
	binary.NativeEndian.PutUint32(b[0:], uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], sockByFamily)
	binary.NativeEndian.PutUint16(b[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	body := b[syscall.SizeofNlMsghdr:]
	body[0] = syscall.AF_UNIX
	binary.NativeEndian.PutUint32(body[4:], ^uint32(0)) // in all states
	binary.NativeEndian.PutUint32(body[12:], diagName|diagPeer)
	return b
}

// parseUnixSocket reads one row. Attributes that are cut short are left out.
func parseUnixSocket(data []byte) unixSocket {
	s := unixSocket{state: data[2], inode: binary.NativeEndian.Uint32(data[diagInode:])}
	for rest := data[diagMessage:]; len(rest) >= syscall.SizeofRtAttr; {
		length, kind := int(binary.NativeEndian.Uint16(rest)), binary.NativeEndian.Uint16(rest[2:])
		if length < syscall.SizeofRtAttr || length > len(rest) {
			break
		}
		value := rest[syscall.SizeofRtAttr:length]
		switch {
		case kind == attrName && len(value) > 0:
			s.named = true
		case kind == attrPeer && len(value) >= 4:
			s.peer = binary.NativeEndian.Uint32(value)
		}
		rest = rest[min((length+3)&^3, len(rest)):]
	}
	return s
}
