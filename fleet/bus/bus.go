// Package bus connects the processes of a fleet by NATS.
//
// In goes the address of a NATS server, or nothing: then the server runs inside this process. Out
// comes a connection for messages and its JetStream for state that outlives a process. Package
// fleet and its subpackages use it; a lobby never does.
package bus

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// startTimeout is how long an embedded server may take until it answers.
const startTimeout = 10 * time.Second

// Config describes a Bus. Zero fields mean the defaults named.
type Config struct {
	Name string // of this process, as NATS lists it
	URL  string // of an outside server, such as nats://host:4222; "" = an embedded one
	// host:port where the embedded server listens for other processes, port 0 for any that is
	// free; "" = it serves this process alone
	Listen string
	Dir    string // of the embedded server's JetStream; "" = a temporary folder, removed by Close
	// Token that the embedded server asks of every client, and that an outside one is told unless
	// URL has a user; "" = none
	Token string
}

// Bus is a connection to NATS, and the server if it is embedded. Its methods and its connection may
// be used by several goroutines at once.
type Bus struct {
	Conn *nats.Conn
	// State that several processes share and that outlives each of them.
	Stream jetstream.JetStream

	server *server.Server // nil: an outside one
	remove string         // temporary folder of the embedded server
}

// Open connects to the server that cfg names or embeds one. An outside server must answer now;
// later the connection is made anew whenever it breaks, for as long as the Bus is open.
func Open(cfg Config) (_ *Bus, err error) {
	open := new(Bus)
	defer func() {
		if err != nil {
			open.Close()
		}
	}()
	options := []nats.Option{nats.Name(cfg.Name), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond)}
	if cfg.Token != "" {
		options = append(options, nats.Token(cfg.Token))
	}
	url := cfg.URL
	if url == "" {
		if err := open.embed(cfg); err != nil {
			return nil, err
		}
		options, url = append(options, nats.InProcessServer(open.server)), nats.DefaultURL
	}
	if open.Conn, err = nats.Connect(url, options...); err != nil {
		return nil, fmt.Errorf("NATS server %s: %w", Redacted(url), err)
	}
	if open.Stream, err = jetstream.New(open.Conn); err != nil {
		return nil, err
	}
	return open, nil
}

// embed starts a server in this process.
func (b *Bus) embed(cfg Config) error {
	o := &server.Options{ServerName: cfg.Name, JetStream: true, StoreDir: cfg.Dir, NoSigs: true, NoLog: true,
		DontListen: cfg.Listen == "", Authorization: cfg.Token}
	if cfg.Listen != "" {
		host, port, err := net.SplitHostPort(cfg.Listen)
		if err != nil {
			return fmt.Errorf("address of the embedded NATS server: %w", err)
		}
		o.Host = host
		if o.Port, err = strconv.Atoi(port); err != nil || o.Port < 0 || o.Port > 65535 {
			return fmt.Errorf("port %q of the embedded NATS server: expected 0 to 65535", port)
		}
		if o.Port == 0 {
			o.Port = server.RANDOM_PORT
		}
	}
	if cfg.Dir == "" {
		dir, err := os.MkdirTemp("", "tickrate-nats-")
		if err != nil {
			return err
		}
		o.StoreDir, b.remove = dir, dir
	}
	var err error
	if b.server, err = server.NewServer(o); err != nil {
		return fmt.Errorf("embedded NATS server: %w", err)
	}
	b.server.Start()
	if !b.server.ReadyForConnections(startTimeout) {
		return fmt.Errorf("embedded NATS server at %q: not ready after %v; is the port in use?", cfg.Listen, startTimeout)
	}
	return nil
}

// userInfo is what a URL has before its host.
var userInfo = regexp.MustCompile(`//[^/@,]*@`)

// Redacted returns the URLs of servers without their users, passwords and tokens, for messages.
func Redacted(urls string) string { return userInfo.ReplaceAllString(urls, "//***@") }

// URL is where other processes reach the embedded server; "" if it serves this process alone, or is
// an outside one.
func (b *Bus) URL() string {
	if b.server == nil || b.server.Addr() == nil {
		return ""
	}
	return b.server.ClientURL()
}

// Close ends the connection and the embedded server, and removes its temporary folder. What was
// published but not yet sent is sent first, if that takes no longer than a second.
func (b *Bus) Close() {
	if b.Conn != nil {
		_ = b.Conn.FlushTimeout(time.Second) // a server that is gone has lost it anyway
		b.Conn.Close()
	}
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
	if b.remove != "" {
		_ = os.RemoveAll(b.remove)
	}
}
