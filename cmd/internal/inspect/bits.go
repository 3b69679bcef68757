package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// BitsOptions are the settings of Bits. All but HTTP and JSON are of the simulated lobby.
type BitsOptions struct {
	HTTP          string        // host:port of a running server; empty to simulate a lobby
	Map, Codec    string        // as commands name a map; as schema.ParseCodec reads a codec
	Players, Kbps int           // number of players; byte budget of each client, kbit/s, 0 for none
	Duration      time.Duration // virtual time, 1 s to 10 min
	Seed          uint64        // of the match, the links and the players
	JSON          bool          // writes JSON as GET /v1/bandwidth
}

// Bits writes what the bytes of a lobby are for: sections exactly, components and fields from
// sampled datagrams. Of a simulated lobby every datagram is sampled.
func Bits(ctx context.Context, out io.Writer, o BitsOptions) error {
	var bits httpapi.Bandwidth
	if o.HTTP != "" {
		if err := serverapi.Get(ctx, o.HTTP, "/v1/bandwidth", "", &bits); err != nil {
			return err
		}
	} else {
		summary, err := o.play(ctx)
		if err != nil {
			return err
		}
		bits = httpapi.BandwidthOf(httpapi.LobbyName, &summary)
	}
	if o.JSON {
		return json.NewEncoder(out).Encode(bits)
	}
	return printBits(out, &bits)
}

// play plays a lobby in virtual time, at 25 ms one way and 5 ms of jitter, and returns its summary.
// Options out of range are errors of use.
func (o *BitsOptions) play(ctx context.Context) (l server.Summary, err error) {
	if o.Players < 1 || o.Players > 1000 || o.Duration < time.Second || o.Duration > 10*time.Minute {
		return l, usage.Errorf("--players %d, --duration %v: expected 1 to 1000, and 1s to 10m",
			o.Players, o.Duration)
	}
	cfg := server.Config{ArenaName: assets.MapName(o.Map), Players: o.Players, Kbps: o.Kbps, SampleEvery: 1,
		Rules: sim.Rules{Seed: o.Seed, Mix: true}}
	if cfg.Codec, err = schema.ParseCodec(o.Codec); err != nil {
		return l, usage.Error(err)
	}
	pack, err := assets.Content("")
	if err != nil {
		return l, err
	}
	if cfg.Arena, err = assets.MapOf(pack, o.Map); err != nil {
		return l, err
	}
	b, err := lobbysim.New(lobbysim.Config{
		Lobby: cfg, Clients: o.Players, Seed: o.Seed, Decode: client.DecodeOwn,
		Link: impair.Profile{Delay: 25 * time.Millisecond, Jitter: 5 * time.Millisecond},
	})
	if err != nil {
		return l, usage.Error(err)
	}
	for b.Now() < o.Duration {
		if err := ctx.Err(); err != nil {
			return l, err
		}
		if err := b.Step(); err != nil {
			return l, err
		}
	}
	b.Lobby.Publish()
	return b.Lobby.Summary(), nil
}

// printBits writes a byte account as tables: sections; cells, the largest first; players and
// objects by the reason why they were or were not sent. It returns an error if the cells do not add
// up to the sampled bytes, which is a bug of the account.
func printBits(out io.Writer, b *httpapi.Bandwidth) error {
	fmt.Fprintf(out,
		"%d datagrams sent, %d bytes in all; %d of them, %d bytes, accounted for to the bit\n\n",
		b.Datagrams, b.Bytes, b.Sampled, b.SampledBytes)
	// Sections are exact: every datagram is counted.
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "section\tbytes\tshare %\tbytes/datagram\t")
	for _, s := range b.Sections {
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t\n", s.Section, s.Bytes,
			share(s.Bytes, b.Bytes), float64(s.Bytes)/float64(max(1, b.Datagrams)))
	}
	fmt.Fprintf(w, "all\t%d\t%.2f\t%.2f\t\n\n", b.Bytes, share(b.Bytes, b.Bytes),
		float64(b.Bytes)/float64(max(1, b.Datagrams)))
	// Cells are of the sampled datagrams only.
	cells, sum := slices.Clone(b.Cells), uint64(0)
	slices.SortStableFunc(cells, func(x, y metrics.Cell) int { return cmp.Compare(y.Bits, x.Bits) })
	fmt.Fprintln(w, "component\tfield\treason\tbits\tshare %\tbits/datagram\t")
	for _, c := range cells {
		sum += c.Bits
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.2f\t%.2f\t\n", c.Component, c.Field, c.Reason, c.Bits,
			share(c.Bits, 8*b.SampledBytes), float64(c.Bits)/float64(max(1, b.Sampled)))
	}
	fmt.Fprintf(w, "all\t\t\t%d\t%.2f\t%.2f\t\n\n", sum, share(sum, 8*b.SampledBytes),
		float64(sum)/float64(max(1, b.Sampled)))
	all := uint64(0)
	for _, n := range b.Players {
		all += n.Count
	}
	fmt.Fprintf(w, "in %d snapshots\tplayers\tshare %%\t\n", b.Snapshots)
	for _, n := range b.Players {
		fmt.Fprintf(w, "%v\t%d\t%.2f\t\n", n.Reason, n.Count, share(n.Count, all))
	}
	// Shares of objects are of their class: a map may have a hundred barrels and one teleporter.
	byClass := map[string]uint64{}
	for _, n := range b.Objects {
		byClass[n.Class] += n.Count
	}
	if len(b.Objects) > 0 {
		fmt.Fprintf(w, "\nclass\treason\tobjects\tshare of class %%\t\n")
	}
	for _, n := range b.Objects {
		fmt.Fprintf(w, "%s\t%v\t%d\t%.2f\t\n", n.Class, n.Reason, n.Count, share(n.Count, byClass[n.Class]))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if sum != 8*b.SampledBytes {
		return fmt.Errorf("the cells have %d bits and the datagrams %d: please report this",
			sum, 8*b.SampledBytes)
	}
	return nil
}

// share returns n in percent of a total, 0 for a total of 0.
func share(n, of uint64) float64 { return 100 * float64(n) / float64(max(1, of)) }
