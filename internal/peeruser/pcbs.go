package peeruser

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// The table of net.inet.tcp.pcblist_n: a header, then for each socket some structs one after
// the other, each with its length and its kind, at a multiple of eight bytes. Numbers have the
// byte order of the machine, ports and addresses that of the network.
const (
	pcbAddresses = 0x010 // struct xinpcb_n
	pcbSocket    = 0x001 // struct xsocket_n
	pcbTCP       = 0x020 // struct xtcpcb_n, the last of a socket

	pcbRemotePort, pcbLocalPort = 16, 18
	pcbFamilies                 = 44 // 1: IPv4, 2: IPv6
	pcbRemote, pcbLocal         = 48, 64
	pcbAddressesLen             = 80

	pcbState     = 26 // of struct xsocket_n
	pcbUID       = 64
	pcbLastPID   = 68
	pcbSocketLen = 72
	pcbNoFile    = 1 // SS_NOFDREF: no program has the socket any more
)

// parsePCBs finds the socket of a connection in the table and returns its owner. Error:
// ErrGone.
func parsePCBs(table []byte, p pair) (owner, error) {
	if len(table) < 8 {
		return owner{}, ErrGone
	}
	var matches bool
	var found *owner
	rest := table[min(aligned(binary.NativeEndian.Uint32(table)), len(table)):]
	for len(rest) >= 8 {
		length, kind := binary.NativeEndian.Uint32(rest), binary.NativeEndian.Uint32(rest[4:])
		if length < 8 || uint64(length) > uint64(len(rest)) {
			break
		}
		part := rest[:length]
		switch kind {
		case pcbAddresses:
			matches, found = len(part) >= pcbAddressesLen && pcbEnds(part) == p, nil
		case pcbSocket:
			if matches && len(part) >= pcbSocketLen {
				found = pcbOwner(part)
			}
		}
		if matches && found != nil {
			return *found, nil
		}
		rest = rest[min(aligned(length), len(rest)):]
	}
	return owner{}, ErrGone
}

func aligned(n uint32) int { return int((uint64(n) + 7) &^ 7) }

func pcbEnds(part []byte) pair {
	address := func(at int) netip.Addr {
		if part[pcbFamilies]&1 != 0 {
			return netip.AddrFrom4([4]byte(part[at+12 : at+16]))
		}
		return netip.AddrFrom16([16]byte(part[at : at+16])).Unmap()
	}
	return pair{
		local:  netip.AddrPortFrom(address(pcbLocal), binary.BigEndian.Uint16(part[pcbLocalPort:])),
		remote: netip.AddrPortFrom(address(pcbRemote), binary.BigEndian.Uint16(part[pcbRemotePort:])),
	}
}

// pcbOwner returns the owner of a socket; nil if no program has it.
func pcbOwner(part []byte) *owner {
	if binary.NativeEndian.Uint16(part[pcbState:])&pcbNoFile != 0 {
		return nil
	}
	return &owner{
		user: User(strconv.FormatUint(uint64(binary.NativeEndian.Uint32(part[pcbUID:])), 10)),
		pid:  int(int32(binary.NativeEndian.Uint32(part[pcbLastPID:]))),
	}
}
