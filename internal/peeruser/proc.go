package peeruser

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
)

// parseProc finds the socket of a connection in the text of /proc/net/tcp or /proc/net/tcp6
// and returns its uid. Error: ErrGone.
func parseProc(table []byte, p pair) (uid uint32, err error) {
	const local, remote, state, user, inode, fields = 1, 2, 3, 7, 9, 10
	for line := range bytes.Lines(table) {
		f := bytes.Fields(line)
		if len(f) < fields || !bytes.HasSuffix(f[0], []byte(":")) {
			continue
		}
		if at, ok := procEnd(f[local]); !ok || at != p.local {
			continue
		}
		if at, ok := procEnd(f[remote]); !ok || at != p.remote {
			continue
		}
		code, err := strconv.ParseUint(string(f[state]), 16, 8)
		if err != nil || !connected(byte(code)) || string(f[inode]) == "0" {
			continue
		}
		uid, err := strconv.ParseUint(string(f[user]), 10, 32)
		if err != nil {
			continue
		}
		return uint32(uid), nil
	}
	return 0, ErrGone
}

// procEnd parses an address and a port, such as 0100007F:1F90. An address is written as
// words of 32 bits in the byte order of the machine.
func procEnd(text []byte) (netip.AddrPort, bool) {
	address, port, ok := bytes.Cut(text, []byte(":"))
	var words [16]byte
	if !ok || len(address) != 8 && len(address) != 32 {
		return netip.AddrPort{}, false
	}
	n, err := hex.Decode(words[:], address)
	if err != nil {
		return netip.AddrPort{}, false
	}
	number, err := strconv.ParseUint(string(port), 16, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	for i := 0; i < n; i += 4 {
		word := binary.BigEndian.Uint32(words[i:])
		binary.NativeEndian.PutUint32(words[i:], word)
	}
	addr, ok := netip.AddrFromSlice(words[:n])
	return netip.AddrPortFrom(addr.Unmap(), uint16(number)), ok
}
