package provider

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"hubcli/internal/require"
)

// world is the network as a client of the tests sees it: every name leads to one server on
// loopback, which has a trusted certificate for every name.
type world struct {
	server *httptest.Server
	client Client

	mu    sync.Mutex
	asked []*http.Request
}

// authority signs the certificates of the tests.
var authority = sync.OnceValues(func() (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
})

// certificateFor makes a certificate for a name, good until then.
func certificateFor(name string, until time.Time) (*tls.Certificate, error) {
	ca, err := authority()
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca.Leaf, key.Public(), ca.PrivateKey)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// newWorld serves all names with one handler.
func newWorld(t *testing.T, handler http.HandlerFunc) *world {
	t.Helper()
	return newWorldWith(t, handler, func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return certificateFor(hello.ServerName, time.Now().Add(time.Hour))
	})
}

func newWorldWith(t *testing.T, handler http.HandlerFunc, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *world {
	t.Helper()
	w := &world{}
	w.server = httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r)
		w.mu.Unlock()
		handler(out, r)
	}))
	w.server.Config.ErrorLog = quiet
	w.server.TLS = &tls.Config{GetCertificate: certificate}
	w.server.StartTLS()
	t.Cleanup(w.server.Close)
	ca, err := authority()
	require.NoError(t, err)
	w.client.Roots = x509.NewCertPool()
	w.client.Roots.AddCert(ca.Leaf)
	address := w.server.Listener.Addr().String()
	w.client.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	t.Setenv("HTTPS_PROXY", "")
	t.Setenv("HTTP_PROXY", "")
	return w
}

// requests returns what the world was asked.
func (w *world) requests() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}
