package bus

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// open is Open for a test.
func open(t *testing.T, cfg Config) *Bus {
	t.Helper()
	b, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func TestTwoProcessesMeetAtAnEmbeddedServer(t *testing.T) {
	a := open(t, Config{Name: "a", Listen: "127.0.0.1:0"})
	b := open(t, Config{Name: "b", URL: a.URL()})
	if _, err := a.Conn.Subscribe("question", func(m *nats.Msg) { _ = m.Respond([]byte("answer")) }); err != nil {
		t.Fatal(err)
	}
	if err := a.Conn.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := b.Conn.Request("question", nil, 5*time.Second)
	if err != nil || string(got.Data) != "answer" {
		t.Fatalf("got %v, %v", got, err)
	}
	if b.URL() != "" {
		t.Errorf("the connection to an outside server has the URL %q", b.URL())
	}
}

// A lease has one holder: the second Create and an Update of an old revision are refused.
func TestLeaseHasOneHolder(t *testing.T) {
	b := open(t, Config{Name: "alone"})
	if b.URL() != "" {
		t.Errorf("a server without a listener has the URL %q", b.URL())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	kv, err := b.Stream.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "leases"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := kv.Create(ctx, "lobby.1", []byte("host-a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Create(ctx, "lobby.1", []byte("host-b")); err == nil {
		t.Error("two holders")
	}
	second, err := kv.Update(ctx, "lobby.1", []byte("host-b"), first)
	if err != nil || second <= first {
		t.Fatalf("revision %d after %d: %v", second, first, err)
	}
	if _, err := kv.Update(ctx, "lobby.1", []byte("host-a"), first); err == nil {
		t.Error("an old revision took the lease")
	}
}

// A server with a token refuses clients without it or with another one, names no secret in its error,
// and takes this process's own connection.
func TestServerAsksForItsToken(t *testing.T) {
	const secret = "a-secret-of-this-fleet"
	a := open(t, Config{Name: "a", Listen: "127.0.0.1:0", Token: secret})
	for _, token := range []string{"", "another"} {
		b, err := Open(Config{Name: "b", URL: a.URL(), Token: token})
		if err == nil {
			b.Close()
			t.Errorf("token %q was taken", token)
		} else if !errors.Is(err, nats.ErrAuthorization) || strings.Contains(err.Error(), secret) {
			t.Errorf("token %q: error %v, expected %v", token, err, nats.ErrAuthorization)
		}
	}
	b := open(t, Config{Name: "b", URL: a.URL(), Token: secret})
	if _, err := b.Stream.AccountInfo(t.Context()); err != nil {
		t.Error(err)
	}
	if strings.Contains(a.URL(), secret) {
		t.Errorf("the URL %s has the token", a.URL())
	}
}

func TestBadAddressesAreNamed(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Listen: "here"}, "address of the embedded NATS server"},
		{Config{Listen: "127.0.0.1:many"}, `port "many"`},
		{Config{Listen: "127.0.0.1:70000"}, `port "70000"`},
		{Config{URL: "nats://127.0.0.1:1"}, "NATS server nats://127.0.0.1:1"},
		{Config{URL: "nats://me:secret@127.0.0.1:1"}, "NATS server nats://***@127.0.0.1:1"},
	} {
		if _, err := Open(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, expected %q in it", c.cfg, err, c.want)
		}
	}
}

func TestCloseRemovesTheTemporaryFolder(t *testing.T) {
	b := open(t, Config{Name: "short"})
	dir := b.remove
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("folder %s: %v", dir, err)
	}
}
