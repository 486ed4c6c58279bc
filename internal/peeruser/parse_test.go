package peeruser

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"
)

var ends = func(local, remote string) pair {
	return pair{local: netip.MustParseAddrPort(local), remote: netip.MustParseAddrPort(remote)}
}

var (
	peer4 = ends("127.0.0.1:40000", "127.0.0.1:6969")
	peer6 = ends("[::1]:40000", "[::1]:6969")
)

const procHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

func TestProcTables(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("needs a machine whose lowest byte comes first: the tables are those of one")
	}
	line := func(local, remote, state, uid, inode string) string {
		return "   7: " + local + " " + remote + " " + state + " 00000000:00000000 00:00000000 00000000  " + uid + "        0 " + inode + " 1 0000000000000000 20 4 30 10 -1\n"
	}
	const peer, hub = "0100007F:9C40", "0100007F:1B39"
	const mappedPeer, mappedHub = "0000000000000000FFFF00000100007F:9C40", "0000000000000000FFFF00000100007F:1B39"
	const sixPeer, sixHub = "00000000000000000000000001000000:9C40", "00000000000000000000000001000000:1B39"
	for name, c := range map[string]struct {
		table string
		of    pair
		want  uint32
		gone  bool
	}{
		"a connection":                    {line(peer, hub, "01", "1001", "4711"), peer4, 1001, false},
		"that sends nothing more":         {line(peer, hub, "05", "1001", "4711"), peer4, 1001, false},
		"whose other end sends no more":   {line(peer, hub, "08", "1001", "4711"), peer4, 1001, false},
		"mapped addresses":                {line(mappedPeer, mappedHub, "01", "1001", "4711"), peer4, 1001, false},
		"IPv6":                            {line(sixPeer, sixHub, "01", "1001", "4711"), peer6, 1001, false},
		"behind our own end":              {line(hub, peer, "01", "0", "9") + line(peer, hub, "01", "1001", "4711"), peer4, 1001, false},
		"behind what it replaces":         {line(peer, hub, "06", "0", "0") + line(peer, hub, "01", "1001", "4711"), peer4, 1001, false},
		"only our own end":                {line(hub, peer, "01", "0", "9"), peer4, 0, true},
		"no program has it":               {line(peer, hub, "04", "0", "0"), peer4, 0, true},
		"it waits for its end":            {line(peer, hub, "06", "0", "0"), peer4, 0, true},
		"a connection that is being made": {line(peer, hub, "02", "1001", "4711"), peer4, 0, true},
		"a listener":                      {line(peer, "00000000:0000", "0A", "1001", "4711"), peer4, 0, true},
		"another port":                    {line("0100007F:9C41", hub, "01", "1001", "4711"), peer4, 0, true},
		"another address":                 {line("0200007F:9C40", hub, "01", "1001", "4711"), peer4, 0, true},
		"IPv6 for IPv4":                   {line(sixPeer, sixHub, "01", "1001", "4711"), peer4, 0, true},
		"a uid that is none":              {line(peer, hub, "01", "-1", "4711"), peer4, 0, true},
		"a short line":                    {"   7: " + peer + " " + hub + " 01\n", peer4, 0, true},
		"a broken address":                {line("0100007:9C40", hub, "01", "1001", "4711"), peer4, 0, true},
		"nothing":                         {"", peer4, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseProc([]byte(procHead+c.table), c.of)
			if got != c.want || c.gone != errors.Is(err, ErrGone) {
				t.Errorf("got %d, %v; want %d, gone %t", got, err, c.want, c.gone)
			}
		})
	}
}

// answer is what the kernel says of a socket.
func answer(p pair, family, state byte, uid, inode, seq uint32) []byte {
	b := binary.NativeEndian.AppendUint32(nil, answerLen)
	b = binary.NativeEndian.AppendUint16(b, byFamily)
	b = append(b, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = append(b, 0, 0, 0, 0, family, state, 0, 0)
	b = appendSocketID(b, p)
	b = append(b, make([]byte, 12)...)
	b = binary.NativeEndian.AppendUint32(b, uid)
	return binary.NativeEndian.AppendUint32(b, inode)
}

func diagError(code, seq uint32) []byte {
	b := binary.NativeEndian.AppendUint32(nil, headerLen+20)
	b = binary.NativeEndian.AppendUint16(b, isError)
	b = append(b, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = append(b, 0, 0, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, code)
	return append(b, make([]byte, 16)...)
}

func TestAnswersOverNetlink(t *testing.T) {
	mapped := pair{
		local:  netip.AddrPortFrom(netip.AddrFrom16(peer4.local.Addr().As16()), 40000),
		remote: netip.AddrPortFrom(netip.AddrFrom16(peer4.remote.Addr().As16()), 6969),
	}
	whole := answer(peer4, inet4, 1, 1001, 4711, 5)
	for name, c := range map[string]struct {
		data []byte
		of   pair
		want uint32
		err  error
	}{
		"a connection":              {whole, peer4, 1001, nil},
		"with more behind it":       {append(answer(peer4, inet4, 1, 1001, 4711, 5), 1, 2, 3, 4), peer4, 1001, nil},
		"mapped addresses":          {answer(mapped, inet6, 1, 1001, 4711, 5), peer4, 1001, nil},
		"IPv6":                      {answer(peer6, inet6, 1, 1001, 4711, 5), peer6, 1001, nil},
		"the superuser's":           {answer(peer4, inet4, 1, 0, 4711, 5), peer4, 0, nil},
		"no program has it":         {answer(peer4, inet4, 5, 0, 0, 5), peer4, 0, ErrGone},
		"it waits for its end":      {answer(peer4, inet4, 6, 0, 4711, 5), peer4, 0, ErrGone},
		"it is being made":          {answer(peer4, inet4, 2, 1001, 4711, 5), peer4, 0, ErrGone},
		"a listener in its place":   {answer(ends("0.0.0.0:40000", "0.0.0.0:0"), inet4, 10, 1001, 4711, 5), peer4, 0, ErrGone},
		"another one":               {answer(peer4.turned(), inet4, 1, 1001, 4711, 5), peer4, 0, ErrGone},
		"of another family":         {answer(peer4, 1, 1, 1001, 4711, 5), peer4, 0, ErrGone},
		"there is none":             {diagError(^uint32(1), 5), peer4, 0, ErrGone},
		"it is not allowed":         {diagError(^uint32(0), 5), peer4, 0, syscall.Errno(1)},
		"to another question":       {answer(peer4, inet4, 1, 1001, 4711, 4), peer4, 0, errDiag},
		"cut off":                   {whole[:answerLen-1], peer4, 0, errDiag},
		"shorter than it says":      {whole[:headerLen-1], peer4, 0, errDiag},
		"longer than what is there": {append([]byte{255, 255, 0, 0}, whole[4:]...), peer4, 0, errDiag},
		"with a length of nothing":  {append([]byte{0, 0, 0, 0}, whole[4:]...), peer4, 0, errDiag},
		"an error that is cut off":  {diagError(1, 5)[:headerLen+2], peer4, 0, errDiag},
		"nothing":                   {nil, peer4, 0, errDiag},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseDiag(c.data, 5, c.of); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %d, %v; want %d, %v", got, err, c.want, c.err)
			}
		})
	}
}

// pcb is a socket in the table of macOS.
func pcb(p pair, families byte, state uint16, uid, pid uint32) []byte {
	a := make([]byte, 104)
	binary.NativeEndian.PutUint32(a, 104)
	binary.NativeEndian.PutUint32(a[4:], pcbAddresses)
	binary.BigEndian.PutUint16(a[16:], p.remote.Port())
	binary.BigEndian.PutUint16(a[18:], p.local.Port())
	a[44] = families
	for at, addr := range map[int]netip.Addr{48: p.remote.Addr(), 64: p.local.Addr()} {
		if families&1 != 0 {
			copy(a[at+12:], addr.AsSlice())
		} else {
			long := addr.As16()
			copy(a[at:], long[:])
		}
	}
	s := make([]byte, 80)
	binary.NativeEndian.PutUint32(s, 76) // the next struct begins at a multiple of eight
	binary.NativeEndian.PutUint32(s[4:], pcbSocket)
	binary.NativeEndian.PutUint16(s[26:], state)
	binary.NativeEndian.PutUint32(s[64:], uid)
	binary.NativeEndian.PutUint32(s[68:], pid)
	other := make([]byte, 48)
	binary.NativeEndian.PutUint32(other, 44)
	binary.NativeEndian.PutUint32(other[4:], 2)
	return append(append(a, s...), other...)
}

func TestTableOfMacOS(t *testing.T) {
	head := make([]byte, 24)
	binary.NativeEndian.PutUint32(head, 24)
	table := func(sockets ...[]byte) []byte {
		all := append([]byte{}, head...)
		for _, s := range sockets {
			all = append(all, s...)
		}
		return append(all, head...)
	}
	const connected = 2 // SS_ISCONNECTED
	whole := table(pcb(peer4.turned(), 1, connected, 0, 7), pcb(peer4, 1, connected, 501, 8))
	broken := append([]byte{}, whole...)
	binary.NativeEndian.PutUint32(broken[24:], 3)
	for name, c := range map[string]struct {
		table []byte
		of    pair
		want  owner
		err   error
	}{
		"a connection":         {whole, peer4, owner{"501", 8}, nil},
		"our own end":          {whole, peer4.turned(), owner{"0", 7}, nil},
		"mapped addresses":     {table(pcb(peer4, 2, connected, 501, 8)), peer4, owner{"501", 8}, nil},
		"IPv6":                 {table(pcb(peer6, 2, connected, 501, 8)), peer6, owner{"501", 8}, nil},
		"no program has it":    {table(pcb(peer4, 1, pcbNoFile, 0, 8)), peer4, owner{}, ErrGone},
		"another one":          {table(pcb(peer6, 2, connected, 501, 8)), peer4, owner{}, ErrGone},
		"nothing":              {nil, peer4, owner{}, ErrGone},
		"cut off":              {whole[:24+232+104+20], peer4, owner{}, ErrGone},
		"a length of nothing":  {broken, peer4, owner{}, ErrGone},
		"addresses without it": {table(pcb(peer4, 1, connected, 501, 8)[:104]), peer4, owner{}, ErrGone},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parsePCBs(c.table, c.of); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %v, %v; want %v, %v", got, err, c.want, c.err)
			}
		})
	}
}

func tcp4Row(p pair, state, pid uint32) []byte {
	b := binary.NativeEndian.AppendUint32(nil, state)
	for _, end := range []netip.AddrPort{p.local, p.remote} {
		b = append(b, end.Addr().AsSlice()...)
		b = append(binary.BigEndian.AppendUint16(b, end.Port()), 0xAB, 0xCD) // the upper half says nothing
	}
	return binary.NativeEndian.AppendUint32(b, pid)
}

func tcp6Row(p pair, state, pid uint32) (b []byte) {
	for _, end := range []netip.AddrPort{p.local, p.remote} {
		address := end.Addr().As16()
		b = append(append(b, address[:]...), 0, 0, 0, 0)
		b = append(binary.BigEndian.AppendUint16(b, end.Port()), 0xAB, 0xCD)
	}
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(b, state), pid)
}

func TestTablesOfWindows(t *testing.T) {
	table := func(n uint32, rows ...[]byte) []byte {
		b := binary.NativeEndian.AppendUint32(nil, n)
		for _, r := range rows {
			b = append(b, r...)
		}
		return b
	}
	const established, closing, timeWait, synSent = 5, 9, 11, 3
	for name, c := range map[string]struct {
		table []byte
		six   bool
		of    pair
		want  uint32
	}{
		"a connection":         {table(2, tcp4Row(peer4.turned(), established, 7), tcp4Row(peer4, established, 8)), false, peer4, 8},
		"that ends":            {table(1, tcp4Row(peer4, closing, 8)), false, peer4, 8},
		"IPv6":                 {table(1, tcp6Row(peer6, established, 8)), true, peer6, 8},
		"mapped addresses":     {table(1, tcp6Row(peer4, established, 8)), true, peer4, 8},
		"it waits for its end": {table(1, tcp4Row(peer4, timeWait, 0)), false, peer4, 0},
		"no program has it":    {table(1, tcp4Row(peer4, established, 0)), false, peer4, 0},
		"it is being made":     {table(1, tcp4Row(peer4, synSent, 8)), false, peer4, 0},
		"another one":          {table(1, tcp4Row(peer4.turned(), established, 8)), false, peer4, 0},
		"behind the end":       {table(0, tcp4Row(peer4, established, 8)), false, peer4, 0},
		"fewer than it says":   {table(9, tcp4Row(peer4.turned(), established, 8)), false, peer4, 0},
		"cut off":              {table(1, tcp4Row(peer4, established, 8)[:20]), false, peer4, 0},
		"nothing":              {nil, false, peer4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := parseTCPTable(c.table, c.six, c.of); got != c.want || ok != (c.want != 0) {
				t.Errorf("got %d, %t; want %d", got, ok, c.want)
			}
		})
	}
}

func FuzzTables(f *testing.F) {
	f.Add([]byte(procHead), true)
	f.Add(answer(peer4, inet4, 1, 1001, 4711, 5), false)
	f.Add(pcb(peer4, 1, 2, 501, 8), false)
	f.Fuzz(func(t *testing.T, data []byte, six bool) {
		p := peer4
		if six {
			p = peer6
		}
		_, procErr := parseProc(data, p)
		_, _ = parseDiag(data, 5, p) // must not panic
		_, pcbErr := parsePCBs(data, p)
		_, _ = parseTCPTable(data, six, p)
		for _, err := range []error{procErr, pcbErr} {
			if err != nil && !errors.Is(err, ErrGone) {
				t.Errorf("%s: %v", strings.ToValidUTF8(string(data), "?"), err)
			}
		}
	})
}
