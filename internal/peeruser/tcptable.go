package peeruser

import (
	"encoding/binary"
	"net/netip"
)

// parseTCPTable finds a connection in a MIB_TCPTABLE_OWNER_PID or MIB_TCP6TABLE_OWNER_PID of
// Windows and returns the number of its process. Rows have 24 bytes or 56; addresses and ports
// have the byte order of the network, the others that of the machine.
func parseTCPTable(table []byte, six bool, p pair) (pid uint32, ok bool) {
	const header = 4
	row := 24
	if six {
		row = 56
	}
	if len(table) < header {
		return 0, false
	}
	rest := table[header:]
	for range binary.NativeEndian.Uint32(table) {
		if len(rest) < row {
			return 0, false
		}
		at, state, id := tcpRow(rest[:row], six)
		if at == p && tcpConnected(state) && id != 0 {
			return id, true
		}
		rest = rest[row:]
	}
	return 0, false
}

func tcpRow(b []byte, six bool) (at pair, state, pid uint32) {
	end := func(address, port int) netip.AddrPort {
		length := 4
		if six {
			length = 16
		}
		addr, _ := netip.AddrFromSlice(b[address : address+length])
		return netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(b[port:]))
	}
	if six {
		return pair{local: end(0, 20), remote: end(24, 44)}, binary.NativeEndian.Uint32(b[48:]), binary.NativeEndian.Uint32(b[52:])
	}
	return pair{local: end(4, 8), remote: end(12, 16)}, binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint32(b[20:])
}

// tcpConnected reports whether a socket in this state of Windows has a program and a peer.
func tcpConnected(state uint32) bool {
	const established, finWait1, finWait2, closeWait, closing, lastAck = 5, 6, 7, 8, 9, 10
	switch state {
	case established, finWait1, finWait2, closeWait, closing, lastAck:
		return true
	}
	return false
}
