package peeruser

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
)

// errDiag says that an answer of the kernel is not as its interface says, or is that to another question.
var errDiag = errors.New("peeruser: the answer over netlink is not the one to the question")

// The layout of a question and its answer: struct nlmsghdr, then struct inet_diag_req_v2 or
// struct inet_diag_msg. Numbers have the byte order of the machine, ports and addresses that
// of the network.
const (
	headerLen   = 16
	requestLen  = headerLen + 56
	answerLen   = headerLen + 72
	byFamily    = 20 // SOCK_DIAG_BY_FAMILY
	isRequest   = 1  // NLM_F_REQUEST
	isError     = 2  // NLMSG_ERROR
	inet4       = 2  // AF_INET
	inet6       = 10 // AF_INET6
	tcp         = 6  // IPPROTO_TCP
	noEntry     = 2  // ENOENT
	answerUID   = headerLen + 64
	answerInode = headerLen + 68
	anyCookie   = ^uint64(0) // INET_DIAG_NOCOOKIE
	answerState = headerLen + 1
	answerID    = headerLen + 4 // struct inet_diag_sockid
)

func diagRequest(p pair, seq uint32) []byte {
	b := make([]byte, 0, requestLen)
	b = binary.NativeEndian.AppendUint32(b, requestLen)
	b = binary.NativeEndian.AppendUint16(b, byFamily)
	b = binary.NativeEndian.AppendUint16(b, isRequest)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = binary.NativeEndian.AppendUint32(b, 0)
	family := byte(inet6)
	if p.local.Addr().Is4() { // the kernel finds an IPv6 socket with mapped addresses by these too
		family = inet4
	}
	b = append(b, family, tcp, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, ^uint32(0)) // every state
	return appendSocketID(b, p)
}

// appendSocketID appends struct inet_diag_sockid.
func appendSocketID(b []byte, p pair) []byte {
	b = binary.BigEndian.AppendUint16(b, p.local.Port())
	b = binary.BigEndian.AppendUint16(b, p.remote.Port())
	for _, a := range []netip.Addr{p.local.Addr(), p.remote.Addr()} {
		address := a.AsSlice()
		b = append(b, address...)
		b = append(b, make([]byte, 16-len(address))...)
	}
	b = binary.NativeEndian.AppendUint32(b, 0) // any interface
	return binary.NativeEndian.AppendUint64(b, anyCookie)
}

// parseDiag returns the uid of the socket that was asked for. The kernel answers with a
// listening socket if no connection has these ends.
func parseDiag(b []byte, seq uint32, p pair) (uid uint32, err error) {
	if len(b) < headerLen || int(binary.NativeEndian.Uint32(b)) > len(b) {
		return 0, errDiag
	}
	b = b[:binary.NativeEndian.Uint32(b)]
	if len(b) < headerLen || binary.NativeEndian.Uint32(b[8:]) != seq {
		return 0, errDiag
	}
	switch kind := binary.NativeEndian.Uint16(b[4:]); {
	case kind == isError && len(b) >= headerLen+4:
		code := syscall.Errno(-int32(binary.NativeEndian.Uint32(b[headerLen:])))
		if code == noEntry {
			return 0, ErrGone
		}
		return 0, code
	case kind != byFamily || len(b) < answerLen:
		return 0, errDiag
	}
	if found, ok := socketID(b); !ok || found != p || !connected(b[answerState]) || binary.NativeEndian.Uint32(b[answerInode:]) == 0 {
		return 0, ErrGone
	}
	return binary.NativeEndian.Uint32(b[answerUID:]), nil
}

// socketID returns the ends of the socket that an answer is about.
func socketID(b []byte) (pair, bool) {
	length := 16
	switch b[headerLen] {
	case inet4:
		length = 4
	case inet6:
	default:
		return pair{}, false
	}
	id := b[answerID:]
	local, _ := netip.AddrFromSlice(id[4 : 4+length])
	remote, _ := netip.AddrFromSlice(id[20 : 20+length])
	return pair{
		local:  netip.AddrPortFrom(local.Unmap(), binary.BigEndian.Uint16(id)),
		remote: netip.AddrPortFrom(remote.Unmap(), binary.BigEndian.Uint16(id[2:])),
	}, true
}

// connected reports whether a socket in this state of the kernel has a program and a peer. A
// connection that is being made may take the place of one that has ended; one that waits for
// the end of its time has no program.
func connected(state byte) bool {
	const established, finWait1, finWait2, closeWait, lastAck, closing = 1, 4, 5, 8, 9, 11
	switch state {
	case established, finWait1, finWait2, closeWait, lastAck, closing:
		return true
	}
	return false
}
