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
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/replay"
)

// ErrKillcam is wrapped by errors of a killcam that a server sent.
var ErrKillcam = errors.New("client: not a usable killcam")

// Killcam replays the last seconds before the player's death in a match of its own: what the server
// knew, not what the player saw. It shares nothing with its client. One goroutine may call it.
type Killcam struct {
	From, To tick.Tick // played first and last

	// Effects are what a picture and sound present of the last Step's tick: of all players, with
	// their damage. The first tick has none. They are valid until the next Step.
	Effects []effect.Effect

	player  *replay.Player
	chunks  []*replay.Chunk
	tracker *effect.MatchTracker // nil before the first tick
}

// Match is the replayed match after the last Step, nil before the first. It is read-only.
func (k *Killcam) Match() *sim.Match { return k.player.Match }

// Step plays the next tick. It returns io.EOF after the last. Other errors end the replay early: a
// *replay.Divergence if the client's game differs from the server's, or an invalid recording.
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
	k.Effects = k.Effects[:0]
	if err := k.player.Step(); err != nil {
		k.chunks = nil
		return fmt.Errorf("%w: %w", ErrKillcam, err)
	}
	return nil
}

// trackEffects finds the effects of the tick that was just played.
func (k *Killcam) trackEffects() {
	if k.tracker == nil {
		k.tracker = effect.NewMatchTracker(k.Match())
		return
	}
	k.Effects = k.tracker.Append(k.Effects, k.Match())
}

// Compared is how many checksums of the server's match were equal so far.
func (k *Killcam) Compared() int { return k.player.Compared }

// killcam keeps the newest killcam until the caller asks for it.
type killcam struct {
	recording []byte // empty: none
	count     uint64 // received whole
	wanted    bool   // requested from the server
}

// requestKillcams asks the server for killcams.
func (c *conn) requestKillcams() {
	var message [protocol.FetchSize]byte
	f := protocol.Fetch{Content: protocol.ContentKillcam}
	c.queueForMap(f.Append(message[:0]))
	c.peer.AcceptTransfers(packet.MaxTransferSize)
}

// take keeps a killcam in place of the one before.
func (k *killcam) take(p *protocol.ContentTransfer) error {
	if !k.wanted || p.Compression != 0 || int(p.Size) != len(p.Compressed) {
		return packet.DropFragment
	}
	k.recording = append(k.recording[:0], p.Compressed...)
	k.count++
	return nil
}

// Killcam returns the newest killcam that the server sent, once; nil if there is none. It unpacks
// the recording and allocates a match of its size, which takes some milliseconds. Errors wrap
// ErrKillcam: what the server sent is not a killcam of this match.
func (c *Client) Killcam() (*Killcam, error) {
	if len(c.killcam.recording) == 0 {
		return nil, nil
	}
	k, err := newKillcam(c.killcam.recording, c.cfg.Rules.Game, c.arena, int(c.welcome.MaxPlayers))
	c.killcam.recording = c.killcam.recording[:0]
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKillcam, err)
	}
	return k, nil
}

// maxCamChunks and maxCamBytes bound the chunks of a killcam and their unpacked bytes.
const (
	maxCamChunks = 16
	maxCamBytes  = 16 << 20
)

func newKillcam(recording []byte, game *sim.Game, a *arena.Arena, slots int) (*Killcam, error) {
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Head.Slots != slots {
		return nil, fmt.Errorf("killcam of %d players, the match has %d", r.Head.Slots, slots)
	}
	k := &Killcam{}
	if k.player, err = replay.NewPlayer(&r.Head, game, a); err != nil {
		return nil, err
	}
	k.player.AfterTick = k.trackEffects
	r.Limit = maxCamBytes
	for {
		chunk, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if len(k.chunks) == maxCamChunks {
			return nil, fmt.Errorf("killcam has more than %d chunks", maxCamChunks)
		}
		k.chunks = append(k.chunks, chunk)
		k.To = chunk.Last()
	}
	if len(k.chunks) == 0 {
		return nil, errors.New("killcam has no chunks")
	}
	k.From = k.chunks[0].First
	return k, nil
}
