package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// authority signs certificates of a test.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate in PEM
}

func newAuthority(t *testing.T, name string) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert, a.key = a.sign(template, template, nil)
	a.file = a.write(name+".crt", "CERTIFICATE", a.cert.Raw)
	return a
}

// sign makes a key and its certificate; without a key of the parent it signs itself.
func (a *authority) sign(c, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	if by == nil {
		by = key
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
	if err != nil {
		a.t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return signed, key
}

func (a *authority) write(name, kind string, raw []byte) string {
	a.t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// issue makes a certificate of a server on loopback, or of a client, and returns its files.
func (a *authority) issue(name string) (cert, key string) {
	a.t.Helper()
	c, k := a.sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, a.cert, a.key)
	raw, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(name+".crt", "CERTIFICATE", c.Raw), a.write(name+".key", "EC PRIVATE KEY", raw)
}

// allocatorOf serves the allocator of Agones to clients that an authority has signed.
func allocatorOf(t *testing.T, a *authority) *httptest.Server {
	t.Helper()
	cert, key := a.issue("allocator")
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(a.cert)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/gameserverallocation" || r.TLS.PeerCertificates[0].Subject.CommonName != "director" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, `{"gameServerName":"gs-1","address":"127.0.0.1","ports":[{"name":"udp","port":7777}]}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail on purpose
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// The director and the allocator know each other by certificates: without one, with one of another
// authority, or at an allocator of another authority there is no match, and the answer says why.
func TestDirectorKnowsItsAllocator(t *testing.T) {
	if testing.Short() {
		t.Skip("processes and their sockets")
	}
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	allocator := allocatorOf(t, ours)
	cert, key := ours.issue("director")
	foreign, foreignKey := theirs.issue("director")
	fleetKey := filepath.Join(t.TempDir(), "fleet.key")
	if err := os.WriteFile(fleetKey, []byte(strings.Repeat("5a", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"good":              {[]string{"--allocator-cert", cert, "--allocator-key", key, "--allocator-ca", ours.file}, 200, "127.0.0.1:7777"},
		"no certificate":    {[]string{"--allocator-ca", ours.file}, 503, "the allocator does not answer"},
		"foreign director":  {[]string{"--allocator-cert", foreign, "--allocator-key", foreignKey, "--allocator-ca", ours.file}, 503, "the allocator does not answer"},
		"foreign allocator": {[]string{"--allocator-cert", cert, "--allocator-key", key, "--allocator-ca", theirs.file}, 503, "certificate signed by unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t, append([]string{"fleet", "director", "--fleet-key", fleetKey, "--nats-listen", "127.0.0.1:0",
				"--http", "127.0.0.1:0", "--allocator", allocator.URL}, c.args...)...)
			_, lines := started(t, cmd, regexp.MustCompile(`matches: POST \S+\n`))
			url := strings.Fields(lines[strings.Index(lines, "matches: POST"):])[2]
			resp, err := http.Post(url, "application/json",
				strings.NewReader(`{"request_id": "r", "players": 1, "map": "a", "mode": "m"}`))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != c.status || !strings.Contains(string(text), c.want) {
				t.Errorf("%d %s (%v), want %d and %q", resp.StatusCode, text, err, c.status, c.want)
			}
			_ = cmd.Process.Signal(os.Interrupt)
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	for args, want := range map[string]string{
		"--allocator-cert " + cert:                                    "--allocator-cert, --allocator-key",
		"--allocator-ca " + key:                                       "expected a certificate in PEM",
		"--allocator-cert " + cert + " --allocator-key " + foreignKey: "--allocator-cert, --allocator-key",
	} {
		code, _, errs := result(t, append([]string{"fleet", "director", "--fleet-key", fleetKey, "--allocator",
			allocator.URL}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, %s", args, code, errs)
		}
	}
}
