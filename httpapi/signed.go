package httpapi

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"

	"hubcli/api"
	"hubcli/hub"
)

// signatures proves the calls of pages, which sign them instead of sending their passes.
type signatures struct {
	run string // of the process: another one has other keys

	mu    sync.Mutex
	pages map[hub.PassID][]*pageCalls // whose calls were proved; the latest to call comes last
}

// pageCalls are the counters of one page that were used.
type pageCalls struct {
	page    string
	highest uint64
	seen    [window / 64]uint64 // a bit for each of the last counters, at its number modulo window
}

const (
	window   = 1024 // how far a counter may be behind the highest one; a browser sends few calls at a time
	maxPages = 64   // of one pass that are remembered; each signed with the key before it took a place
)

func newSignatures() *signatures {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails: it ends the program instead
	return &signatures{run: hex.EncodeToString(b[:]), pages: map[hub.PassID][]*pageCalls{}}
}

// use takes the counter of a call whose signature holds; false: it was used before.
func (g *signatures) use(s *api.SignedCall) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := g.pages[s.Pass]
	var p *pageCalls
	for i, one := range all {
		if one.page == s.Page {
			p = one
			all = append(all[:i], all[i+1:]...)
			break
		}
	}
	if p == nil {
		p = &pageCalls{page: s.Page}
		if len(all) >= maxPages {
			all = all[1:]
		}
	}
	g.pages[s.Pass] = append(all, p)
	return p.use(s.Counter)
}

func (p *pageCalls) use(n uint64) bool {
	if n+window <= p.highest {
		return false
	}
	for ; p.highest < n && n-p.highest <= window; p.highest++ {
		p.set(p.highest+1, false)
	}
	if p.highest < n { // by more than the window
		p.highest, p.seen = n, [window / 64]uint64{}
	}
	if p.seen[n%window/64]&(1<<(n%64)) != 0 {
		return false
	}
	p.set(n, true)
	return true
}

func (p *pageCalls) set(n uint64, used bool) {
	bit := uint64(1) << (n % 64)
	if at := &p.seen[n%window/64]; used {
		*at |= bit
	} else {
		*at &^= bit
	}
}

// forget drops what is known of a pass that has ended.
func (g *signatures) forget(id hub.PassID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pages, id)
}

// proveSigned returns the pass with which a call was signed. The body is compared when it is
// read. Errors: pass_signature, operator_required.
func (c *call) proveSigned(header string) (hub.PassID, error) {
	s, mac, ok := api.ParseSigned(header, c.r.Method, c.r.RequestURI)
	g, sessions := c.server.signatures, c.server.config.Sessions
	if !ok || !s.Holds(api.PassKey(sessions.PassToken(s.Pass), g.run), mac) {
		return "", hub.NewError(hub.CodePassSignature, "the signature of the call is not that of a pass in this run of the hub")
	}
	if err := sessions.PassHolds(s.Pass); err != nil {
		g.forget(s.Pass)
		return "", err
	}
	if !g.use(&s) {
		return "", hub.NewError(hub.CodePassSignature, "the signature of the call was used before")
	}
	c.signed, c.hashes = &s.Body, true
	return s.Pass, nil
}

// signedBody refuses a body that is not the signed one.
func (c *call) signedBody(hash [sha256.Size]byte) error {
	if c.signed != nil && *c.signed != hash {
		return hub.NewError(hub.CodePassSignature, "the body of the call is not the one that was signed")
	}
	return nil
}

// provePass proves to a page that this is the hub that issued its pass. The proof is of no use
// to any other caller; a page that has signed the call gets its pass too.
func provePass(c *call) (reply, error) {
	q := c.query()
	nonce := q.Text("nonce")
	q.Keep(api.CheckNonce("nonce", nonce))
	id := hub.PassID(c.param)
	q.Keep(api.CheckPassID(id))
	if err := q.Err(); err != nil {
		return reply{}, err
	}
	run, token := c.server.signatures.run, c.server.config.Sessions.PassToken(id)
	key, ended := api.PassKey(token, run), c.server.config.Sessions.PassHolds(id) != nil
	p := hub.PassProof{Run: run, Ended: ended, Proof: api.ProvePass(key, nonce, ownAddress(c.r), run, ended)}
	if c.signed != nil && c.caller.Pass == id {
		p.Sealed = api.SealPass(key, token)
	}
	return reply{result: p}, nil
}

// ownAddress is where the connection of a request leads to, as host:port.
func ownAddress(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return ""
	}
	at, _ := netip.AddrFromSlice(local.IP)
	return net.JoinHostPort(at.Unmap().WithZone("").String(), strconv.Itoa(local.Port))
}
