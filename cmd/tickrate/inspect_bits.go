package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/tickrate/tickrate/client"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// bitsFlags are the flags of inspect bits.
type bitsFlags struct {
	http, token, arena, codec string
	players, kbps             int
	duration                  time.Duration
	seed                      uint64
	json                      bool
}

func newInspectBits() *cobra.Command {
	f := bitsFlags{}
	c := &cobra.Command{
		Use:   "bits",
		Short: "Tell what every bit that a lobby sends is for",
		Long: `bits prints the ledger of what a lobby has sent: bytes by section, exact, and bits by component, field and reason.

With --http it asks a running server, which accounts for a sample of its datagrams to the bit. Without, it plays a lobby of --players for
--duration in virtual time, of which every datagram is accounted for.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return inspectBits(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.http, "http", "", "`host:port` of a running server's HTTP port; default none: a lobby is played here")
	fl.IntVar(&f.players, "players", 16, "`players` of the lobby that is played, 1 to 1000")
	fl.DurationVar(&f.duration, "duration", 10*time.Second, "virtual `time` that is played, 1s to 10m")
	fl.IntVar(&f.kbps, "kbps", 0, "most `kilobits` a second to one of its clients, 16 or more; 0 for no limit")
	fl.StringVar(&f.arena, "map", "arena-64", "`map` that is played: a name, a file, or gen:PLAYERS:SEED")
	fl.StringVar(&f.codec, "codec", schema.Huffman.String(), "`codec` of its snapshots: huffman, range or stored")
	fl.Uint64Var(&f.seed, "seed", 1, "`seed` of the match, the links and the players")
	fl.BoolVar(&f.json, "json", false, "print JSON, as GET /v1/bits gives it")
	return c
}

func inspectBits(c *cobra.Command, f bitsFlags) error {
	var bits server.Bits
	if f.http != "" {
		if err := get(c.Context(), f.http, "/v1/bits", "", &bits); err != nil {
			return err
		}
	} else {
		l, err := f.play(c.Context())
		if err != nil {
			return err
		}
		bits = l.Bits()
	}
	if f.json {
		return json.NewEncoder(c.OutOrStdout()).Encode(bits)
	}
	return printBits(c.OutOrStdout(), &bits)
}

// play plays a lobby in virtual time and returns its ledger.
func (f *bitsFlags) play(ctx context.Context) (l server.Summary, err error) {
	if f.players < 1 || f.players > 1000 || f.duration < time.Second || f.duration > 10*time.Minute {
		return l, badUse(fmt.Errorf("--players %d, --duration %v: expected 1 to 1000, and 1s to 10m", f.players, f.duration))
	}
	cfg := server.Config{ArenaName: arenaName(f.arena), Players: f.players, Kbps: f.kbps, SampleEvery: 1, Rules: sim.Rules{Seed: f.seed, Mix: true}}
	if cfg.Codec, err = schema.ParseCodec(f.codec); err != nil {
		return l, badUse(err)
	}
	pack, err := openContent("")
	if err != nil {
		return l, err
	}
	if cfg.Arena, err = openGround(pack, f.arena); err != nil {
		return l, err
	}
	b, err := lobbysim.New(lobbysim.Config{Lobby: cfg, Clients: f.players, Seed: f.seed, Decode: client.DecodeOwn,
		Link: impair.Profile{Delay: 25 * time.Millisecond, Jitter: 5 * time.Millisecond}})
	if err != nil {
		return l, badUse(err)
	}
	for b.Now() < f.duration {
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

// printBits prints a ledger as tables: sections, then cells, the largest first, then who was told.
func printBits(out io.Writer, b *server.Bits) error {
	fmt.Fprintf(out, "%d datagrams sent, %d bytes in all; %d of them, %d bytes, accounted for to the bit\n\n", b.Datagrams, b.Bytes, b.Sampled, b.SampledBytes)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "section\tbytes\tshare %\tbytes/datagram\t")
	for _, s := range b.Sections {
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t\n", s.Section, s.Bytes, share(s.Bytes, b.Bytes), float64(s.Bytes)/float64(max(1, b.Datagrams)))
	}
	fmt.Fprintf(w, "all\t%d\t%.2f\t%.2f\t\n\n", b.Bytes, share(b.Bytes, b.Bytes), float64(b.Bytes)/float64(max(1, b.Datagrams)))
	cells, sum := slices.Clone(b.Cells), uint64(0)
	slices.SortStableFunc(cells, func(x, y metrics.Cell) int { return cmp.Compare(y.Bits, x.Bits) })
	fmt.Fprintln(w, "component\tfield\treason\tbits\tshare %\tbits/datagram\t")
	for _, c := range cells {
		sum += c.Bits
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.2f\t%.2f\t\n", c.Component, c.Field, c.Reason, c.Bits, share(c.Bits, 8*b.SampledBytes), float64(c.Bits)/float64(max(1, b.Sampled)))
	}
	fmt.Fprintf(w, "all\t\t\t%d\t%.2f\t%.2f\t\n\n", sum, share(sum, 8*b.SampledBytes), float64(sum)/float64(max(1, b.Sampled)))
	all := uint64(0)
	for _, n := range b.Entities {
		all += n.Count
	}
	fmt.Fprintf(w, "in %d snapshots\tplayers\tshare %%\t\n", b.Snapshots)
	for _, n := range b.Entities {
		fmt.Fprintf(w, "%v\t%d\t%.2f\t\n", n.Why, n.Count, share(n.Count, all))
	}
	byClass := map[string]uint64{}
	for _, n := range b.Things {
		byClass[n.Class] += n.Count
	}
	if len(b.Things) > 0 {
		fmt.Fprintf(w, "\nclass\twhy\tthings\tshare of class %%\t\n")
	}
	for _, n := range b.Things {
		fmt.Fprintf(w, "%s\t%v\t%d\t%.2f\t\n", n.Class, n.Why, n.Count, share(n.Count, byClass[n.Class]))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if sum != 8*b.SampledBytes {
		return fmt.Errorf("the cells have %d bits, and the datagrams %d: please report this", sum, 8*b.SampledBytes)
	}
	return nil
}

func share(n, of uint64) float64 { return 100 * float64(n) / float64(max(1, of)) }

func newInspectWhy() *cobra.Command {
	f := bitsFlags{}
	c := &cobra.Command{
		Use:   "why CLIENT [ENTITY]",
		Short: "Tell why a client of a running server is not told of an entity",
		Long: `why asks a running server what became of an entity in the newest snapshot to a client: told, or why not. Players are named by their
net ids, as inspect shots and replay print them (8.1) or as the console's list does (2049); things by class and number: projectile:ID, grenade:ID, barrel:3, cube:0, teleporter:0, zone:0.
Without ENTITY it prints a table about all players and things, which has their names:

  curl --data list http://127.0.0.1:7914/v1/console
  tickrate inspect why 2049
  tickrate inspect why 8.1 3.1`,
		Args: func(c *cobra.Command, args []string) error { return badUse(cobra.RangeArgs(1, 2)(c, args)) },
		RunE: func(c *cobra.Command, ids []string) error { return inspectWhy(c, f, ids) },
	}
	fl := c.Flags()
	fl.StringVar(&f.http, "http", "127.0.0.1:7914", "`host:port` of the server's HTTP port")
	fl.StringVar(&f.token, "http-token", "", "`secret` of the server, if it has one; also "+tokenVariable)
	fl.BoolVar(&f.json, "json", false, "print JSON, as GET /v1/why gives it")
	return c
}

func inspectWhy(c *cobra.Command, f bitsFlags, ids []string) error {
	for i, id := range ids {
		if i == 1 && strings.Contains(id, ":") {
			if _, err := server.ParseObjectRef(id); err != nil {
				return badUse(err)
			}
			continue
		}
		n, err := netid.Parse(id)
		if err != nil {
			return badUse(fmt.Errorf("%q: %w", id, err))
		}
		ids[i] = strconv.FormatUint(uint64(n), 10) // as servers of older builds read it, too
	}
	q := url.Values{"client": {ids[0]}}
	if len(ids) == 2 {
		q.Set("entity", ids[1])
	}
	var answer json.RawMessage
	if err := get(c.Context(), f.http, "/v1/why?"+q.Encode(), cmp.Or(f.token, os.Getenv(tokenVariable)), &answer); err != nil {
		return err
	}
	if f.json {
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s\n", answer)
		return err
	}
	if len(ids) == 1 {
		var all []server.Explanation
		if err := json.Unmarshal(answer, &all); err != nil || len(all) == 0 {
			return errors.Join(errOtherVersion, err)
		}
		return printWhys(c.OutOrStdout(), all)
	}
	var v server.Explanation
	if err := json.Unmarshal(answer, &v); err != nil {
		return errors.Join(errOtherVersion, err)
	}
	fmt.Fprintln(c.OutOrStdout(), v.Sentence())
	return nil
}

// printWhys prints verdicts as a table: who was not told first, and of these the nearest.
func printWhys(out io.Writer, all []server.Explanation) error {
	if all[0].Tick == 0 { // there is no snapshot to speak of
		fmt.Fprintln(out, all[0].Sentence())
		return nil
	}
	told := func(v server.Explanation) int {
		if v.Reason == server.ReasonSent {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(x, y server.Explanation) int {
		return cmp.Or(cmp.Compare(told(x), told(y)), cmp.Compare(x.Metres, y.Metres))
	})
	fmt.Fprintf(out, "client %d, by the snapshot of tick %d, %d ticks ago\n\n", all[0].Client, all[0].Tick, all[0].Age)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "entity\tmetres\twhy")
	for i := range all {
		v := &all[i]
		fmt.Fprintf(w, "%s\t%d\t%v: %s\n", v.Name(), v.Metres, v.Reason, v.Text)
	}
	return w.Flush()
}

// errOtherVersion is what get says of an answer that it cannot read.
var errOtherVersion = errors.New("the server's answer is not of this version")

// answerBytes is the longest answer of a server that is read.
const answerBytes = 1 << 20

// get asks a server for JSON.
func get(ctx context.Context, at, path, secret string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+path, nil)
	if err != nil {
		return badUse(fmt.Errorf("--http %q: expected host:port: %w", at, err))
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerBytes))
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server says %s: %s", resp.Status, trimmed(body))
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return errors.Join(errOtherVersion, err)
	}
	return nil
}

// trimmed is the beginning of a text.
func trimmed(body []byte) string { return string(body[:min(len(body), 200)]) }
