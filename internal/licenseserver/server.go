package licenseserver

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Names of the account and the product.
const (
	Account = "acme"
	Product = "5b3fbd24-7c1e-4b2a-9d1c-2f0a4f6b7e10"
)

// License is what the server knows of one license.
type License struct {
	ID      string
	Key     string
	Max     int        // machines
	Expiry  *time.Time // nil: never
	Product string     // empty: Product
	// Status is SUSPENDED, BANNED or empty.
	Status string
}

type machine struct{ id, license, fingerprint, platform string }

// Server is a running license server.
type Server struct {
	URL string
	Now func() time.Time // nil: time.Now

	http     *httptest.Server
	private  ed25519.PrivateKey
	mu       sync.Mutex
	licenses []*License
	machines []machine
	made     int // machines ever made
	noted    []string
	calls    []string
	lies     map[string]string // part of a path: how it lies there
	before   func(*http.Request)
}

// Start starts a server. Close ends it.
func Start() *Server {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	s := &Server{private: private, lies: map[string]string{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// Close ends the server and the calls that it answers.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// PublicKey is the key that its signatures are verified with, in hexadecimal digits.
func (s *Server) PublicKey() string {
	return hex.EncodeToString(s.private.Public().(ed25519.PublicKey))
}

// Config is the configuration that names the server.
func (s *Server) Config() string {
	return fmt.Sprintf(`{"server":%q,"account":%q,"product":%q,"public_key":%q}`, s.URL, Account, Product, s.PublicKey())
}

// Add adds a license, or replaces the one with the same key. Its id follows from its key.
func (s *Server) Add(l License) *License {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.ID == "" {
		l.ID = fmt.Sprintf("license-%x", l.Key)[:min(40, 8+2*len(l.Key))]
	}
	if l.Product == "" {
		l.Product = Product
	}
	s.licenses = slices.DeleteFunc(s.licenses, func(old *License) bool { return old.Key == l.Key })
	s.licenses = append(s.licenses, &l)
	return &l
}

// Revoke deletes a license with its machines.
func (s *Server) Revoke(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.licenses {
		if l.Key == key {
			s.machines = slices.DeleteFunc(s.machines, func(m machine) bool { return m.license == l.ID })
		}
	}
	s.licenses = slices.DeleteFunc(s.licenses, func(l *License) bool { return l.Key == key })
}

// Occupy takes places of a license for other machines.
func (s *Server) Occupy(key string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.made++
		s.machines = append(s.machines, machine{id: fmt.Sprintf("other-%d", s.made), license: s.byKey(key).ID, fingerprint: fmt.Sprintf("other-%d", s.made)})
	}
}

// Machines returns the fingerprints that have a place on a license.
func (s *Server) Machines(key string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, m := range s.machines {
		if l := s.byKey(key); l != nil && m.license == l.ID {
			list = append(list, m.fingerprint)
		}
	}
	return list
}

// Complaints are the requests that were not as the protocol describes.
func (s *Server) Complaints() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.noted)
}

// Calls are the requests that came, as method and path.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Before has something done before each answer, such as a kill of the caller.
func (s *Server) Before(do func(*http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = do
}

// SignedKey makes a signed key out of a text.
func (s *Server) SignedKey(data string) string {
	signed := "key/" + base64.URLEncoding.EncodeToString([]byte(data))
	return signed + "." + base64.URLEncoding.EncodeToString(ed25519.Sign(s.private, []byte(signed)))
}

func (s *Server) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s *Server) byKey(key string) *License {
	for _, l := range s.licenses {
		if l.Key == key {
			return l
		}
	}
	return nil
}

// answer is what the server says before it is signed.
type answer struct {
	status int
	body   []byte
}

func document(status int, doc any) answer {
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return answer{status, b}
}

func refuse(status int, code, title string) answer {
	return document(status, map[string]any{"errors": []any{map[string]any{"title": title, "detail": title, "code": code, "source": map[string]any{"pointer": "/data"}}}})
}

// complain refuses a request that is not as the protocol describes.
func (s *Server) complain(r *http.Request, format string, args ...any) answer {
	s.noted = append(s.noted, r.Method+" "+r.URL.Path+": "+fmt.Sprintf(format, args...))
	return refuse(http.StatusBadRequest, "PARAMETER_INVALID", fmt.Sprintf(format, args...))
}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	before, lie := s.before, s.lieFor(r)
	s.mu.Unlock()
	if before != nil {
		before(r)
	}
	if s.lieInstead(w, r, lie) {
		return
	}
	s.mu.Lock()
	a := s.answerTo(r)
	if lie == "other-license" {
		a.body = s.aboutAnother(a.body)
	}
	s.mu.Unlock()
	s.send(w, r, a, lie)
}

// answerTo finds the call that a request makes.
func (s *Server) answerTo(r *http.Request) answer {
	for name, want := range map[string]string{"Accept": mediaType, "Keygen-Version": "1.8"} {
		if r.Header.Get(name) != want {
			return s.complain(r, "the header %s is %q, want %q", name, r.Header.Get(name), want)
		}
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/v1/accounts/"+Account+"/")
	if !ok {
		return s.complain(r, "the path names another account")
	}
	parts := strings.Split(rest, "/")
	switch {
	case r.Method == "POST" && rest == "licenses/actions/validate-key":
		return s.validate(r)
	case r.Method == "POST" && rest == "machines":
		return s.asLicense(r, s.addMachine)
	case r.Method == "GET" && len(parts) == 2 && parts[0] == "machines":
		return s.asLicense(r, func(r *http.Request, l *License) answer { return s.showMachine(l, parts[1]) })
	case r.Method == "DELETE" && len(parts) == 2 && parts[0] == "machines":
		return s.asLicense(r, func(r *http.Request, l *License) answer { return s.removeMachine(r, l, parts[1]) })
	case r.Method == "POST" && len(parts) == 4 && parts[0] == "machines" && parts[2] == "actions" && parts[3] == "check-out":
		return s.asLicense(r, func(r *http.Request, l *License) answer { return s.checkOut(r, l, parts[1]) })
	}
	return s.complain(r, "there is no such call")
}
