package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/replay"
)

// ErrKillcam is wrapped by what is wrong with a killcam that a server sent.
var ErrKillcam = errors.New("client: not a usable killcam")

// Killcam is the last seconds before our death, played again in a world of its own: what the server knew, not what we saw. The match that
// is played meanwhile goes on and knows nothing of it. It belongs to the goroutine of its client, or to any other.
type Killcam struct {
	From, To tick.Tick // played first and last

	player *replay.Player
	chunks []*replay.Chunk
}

// Match is the world that is shown, as it stands after the tick that was played last; nil before the first. For looking.
func (k *Killcam) Match() *sim.Match { return k.player.Match }

// Step plays the next tick. io.EOF: there are no more. Another error says where it ends early: a *replay.Divergence if our game is not the
// server's, or what is wrong with the recording.
func (k *Killcam) Step() error {
	for k.player.Done() {
		if len(k.chunks) == 0 {
			return io.EOF
		}
		if err := k.player.Load(k.chunks[0]); err != nil {
			k.chunks = nil
			return fmt.Errorf("%w: %w", ErrKillcam, err)
		}
		k.chunks = k.chunks[1:]
	}
	if err := k.player.Step(); err != nil {
		k.chunks = nil
		return fmt.Errorf("%w: %w", ErrKillcam, err)
	}
	return nil
}

// Compared is how many fingerprints of the server's match were found right so far.
func (k *Killcam) Compared() int { return k.player.Compared }

// film asks for killcams, if we want them: once we are in.
func (c *Client) film() {
	if !c.cfg.Killcam {
		return
	}
	var event [protocol.FetchSize]byte
	f := protocol.Fetch{Content: protocol.ContentKillcam}
	c.queueHere(f.Append(event[:0]))
	c.peer.AcceptTransfers(packet.MaxTransferSize)
}

// reel keeps a killcam that came, in place of one that nobody asked for.
func (c *Client) reel(p *protocol.ContentTransfer) error {
	if !c.cfg.Killcam || p.Compression != 0 || int(p.Size) != len(p.Compressed) {
		return packet.DropFragment
	}
	c.reels = append(c.reels[:0], p.Compressed...)
	c.stats.Killcams++
	return nil
}

// Killcam returns the newest killcam that the server sent, once; nil while there is none. It unpacks it and makes a world of the match's
// size: some milliseconds, and the memory of a match. Errors wrap ErrKillcam: then what was sent is no killcam of this match.
func (c *Client) Killcam() (*Killcam, error) {
	if len(c.reels) == 0 {
		return nil, nil
	}
	k, err := newKillcam(c.reels, c.cfg.Rules.Game, c.predict.arena, int(c.welcome.MaxPlayers))
	c.reels = c.reels[:0]
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKillcam, err)
	}
	return k, nil
}

// maxCamChunks and maxCamBytes bound what a killcam may hold: chunks, and bytes unpacked of all of them.
const (
	maxCamChunks = 16
	maxCamBytes  = 16 << 20
)

func newKillcam(reel []byte, game *sim.Game, ground *arena.Arena, slots int) (*Killcam, error) {
	r, err := replay.NewReader(bytes.NewReader(reel))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Head.Slots != slots {
		return nil, fmt.Errorf("of %d players, the match is of %d", r.Head.Slots, slots)
	}
	k := &Killcam{}
	if k.player, err = replay.NewPlayer(&r.Head, game, ground); err != nil {
		return nil, err
	}
	r.Limit = maxCamBytes
	for {
		chunk, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if len(k.chunks) == maxCamChunks {
			return nil, fmt.Errorf("more than %d chunks", maxCamChunks)
		}
		k.chunks = append(k.chunks, chunk)
		k.To = chunk.Last()
	}
	if len(k.chunks) == 0 {
		return nil, errors.New("nothing in it")
	}
	k.From = k.chunks[0].First
	return k, nil
}
