package client

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// match is the match that the Welcome names: its map, game, rules and models, and what of them the
// server still has to send. A Welcome goes in; everything that prediction and decoding need comes
// out.
type match struct {
	rate          tick.Rate
	cfg           Config
	welcome       protocol.Welcome
	arena         *arena.Arena
	kit           *sim.CompiledGame
	fetch         fetch
	rules         sim.Rules // as the caller gave them; cfg.Rules are the match's
	mismatch      bool      // the Welcome has other schemas or another model than ours
	serverSchemas []byte    // the server's description of them, as far as received
	changes       changeLimit
}

// Welcome is the server's first message: rates, slots, map and game.
func (m *match) Welcome() protocol.Welcome { return m.welcome }

// ID is the player's entity once joined. Its index is the player's slot.
func (m *match) ID() netid.ID { return netid.ID(m.welcome.NetID) }

// Arena is the map of the match, nil before the client has it.
func (m *match) Arena() *arena.Arena { return m.arena }

// Kit is the game that the client predicts by; nil before the Welcome. It is read-only.
func (m *match) Kit() *sim.CompiledGame { return m.kit }

// Game is the game of the match with the objects of its map; nil before the client has the map. It
// is read-only. Capture points that follow from the map are computed by each call: call it once.
func (m *match) Game() *sim.Game {
	if m.arena == nil || m.kit == nil {
		return nil
	}
	g := m.cfg.Rules.Game
	if on, err := g.OnArena(m.arena); err == nil {
		return on
	}
	return g
}

// join takes a Welcome and reports whether everything that it names is here. Otherwise it asks the
// server for what is missing, or denies.
func (m *match) join(now time.Duration, w protocol.Welcome, conn *conn) (complete bool) {
	m.welcome = w
	conn.sendSoon(now)
	hasModel := m.findModel(w.Model)
	if netstate.SchemaHash() != w.Schema || !hasModel && !m.cfg.Fetch {
		m.ready(conn)
		m.mismatch = true // the server answers such a Ready with its schemas and a Close
		return false
	}
	if why, err := m.setRules(); err != nil {
		conn.deny(now, why, err)
		return false
	}
	missing := m.findArena()
	if missing != nil && !m.cfg.Fetch {
		conn.deny(now, packet.ReasonArena, missing)
		return false
	}
	if hasModel && missing == nil {
		return true
	}
	m.queueSnapshotRate(conn) // transfers keep to it, too
	if !hasModel {
		m.requestContent(now, protocol.ContentModel, conn)
	}
	if missing != nil {
		m.requestContent(now, protocol.ContentArena, conn)
	}
	return false
}

// ready queues the Ready message.
func (m *match) ready(conn *conn) {
	var message [protocol.MaxReady]byte
	r := protocol.Ready{
		Version: protocol.Version, Name: m.cfg.Name,
		Schema: netstate.SchemaHash(), Model: m.cfg.Models.Hash(),
	}
	conn.queueForMap(r.Append(message[:0]))
}

// queueSnapshotRate queues a request for another snapshot rate or bandwidth than the server's.
func (m *match) queueSnapshotRate(conn *conn) {
	if m.cfg.SnapshotEvery > 1 || m.cfg.MaxKbps > 0 {
		var message [4]byte
		every, kbps := uint8(m.cfg.SnapshotEvery), uint16(m.cfg.MaxKbps)
		_ = conn.peer.QueueReliable(sim.AppendSnapshotRate(message[:0], every, kbps))
	}
}

// findModel sets Models to those of a hash and reports whether the client has them.
func (m *match) findModel(hash uint64) bool {
	for _, models := range []netstate.Models{m.cfg.Models, m.cfg.FindModels(hash)} {
		if models == (netstate.Models{}) {
			continue
		}
		if models = models.WithHash(hash); models.Hash() == hash { // whichever codec the lobby uses
			m.cfg.Models = models
			return true
		}
	}
	return false
}

// findArena sets the arena to that of the Welcome. The error says why there is none.
func (m *match) findArena() error {
	w := &m.welcome
	a, err := m.cfg.Arena(w.ArenaName, w.ArenaHash)
	if (err != nil || a == nil) && m.cfg.Content != nil { // the pack may have a map of this name
		if packed, ok, bad := m.cfg.Content.Ground(w.ArenaName); ok {
			a, err = packed, bad
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("client: load arena: %w", err)
	case a == nil:
		return fmt.Errorf("client: load arena: %w", ErrUnknownArena)
	case a.Hash() != w.ArenaHash:
		got := a.Hash()
		return fmt.Errorf("client: arena %s has hash %x, the server's has %x",
			w.ArenaName, got[:4], w.ArenaHash[:4])
	}
	m.arena = a
	return nil
}

// setRules sets rate, rules and kit to those of the Welcome. The error says what is not valid, or
// what game the client lacks.
func (m *match) setRules() (packet.Reason, error) {
	w := &m.welcome
	m.rate = tick.Rate(w.TickRate)
	slot := netid.ID(w.NetID).Index()
	switch {
	case !m.rate.Valid():
		return 0, fmt.Errorf("client: server runs at %d Hz: expected %d to %d",
			w.TickRate, tick.MinRate, tick.MaxRate)
	case slot >= int(w.MaxPlayers):
		return 0, fmt.Errorf("client: server gave slot %d of %d", slot, w.MaxPlayers)
	}
	game, err := m.findGame()
	if err != nil {
		return packet.ReasonContent, err
	}
	m.cfg.Rules.Rate, m.cfg.Rules.Game = m.rate, game
	kit, err := m.cfg.Rules.Compile()
	if err != nil {
		return 0, fmt.Errorf("client: %w", err)
	}
	m.kit = kit
	return 0, nil
}

// findGame is the game that the caller gave, or the one of the caller's content that the Welcome
// names. Its content must be the server's.
func (m *match) findGame() (*sim.Game, error) {
	w, game := &m.welcome, m.cfg.Rules.Game
	if game == nil && w.Mode == "" {
		return sim.DefaultGame(), nil
	}
	if game != nil {
		if game.Pack != w.Content || w.Mode != "" && game.Mode.Name != w.Mode {
			return nil, fmt.Errorf("client: server plays %s of content %x, the client has %s of content %x",
				w.Mode, w.Content[:4], game.Mode.Name, game.Pack[:4])
		}
		return game, nil
	}
	if m.cfg.Content == nil {
		m.cfg.Content = builtIn()
	}
	if ours := m.cfg.Content.Shared(); ours != w.Content {
		return nil, fmt.Errorf("client: server plays content %x, the client's pack %s is content %x",
			w.Content[:4], m.cfg.Content.Name, ours[:4])
	}
	game, err := sim.GameForArena(m.cfg.Content, w.ArenaName, w.Mode)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return game, nil
}

// reset forgets the map for another one.
func (m *match) reset() {
	outstanding := m.fetch.outstanding()
	m.mismatch, m.serverSchemas = false, nil
	m.fetch = fetch{late: outstanding}
	m.arena, m.kit, m.cfg.Rules = nil, nil, m.rules
}

// maxSchemas is the longest description of schemas that is kept, in bytes.
const maxSchemas = 8 << 10

// readSchemas takes a message between the Welcome and Ready.
func (m *match) readSchemas(raw []byte) error {
	if _, err := sim.ParseEvent(raw); err == nil && !m.mismatch {
		return nil // of the match that goes on
	}
	if raw[0] != protocol.MessageSchemas || len(m.serverSchemas)+len(raw) > maxSchemas {
		return packet.DropMessage
	}
	m.serverSchemas = append(m.serverSchemas, raw[1:]...)
	return nil
}

// mismatchError says how the server's schemas and model differ from the client's. Where the server
// has told them it wraps a *schema.MismatchError.
func (m *match) mismatchError(why packet.Reason) error {
	if why != packet.ReasonSchema && why != packet.ReasonModel {
		return fmt.Errorf("client: %v", why)
	}
	if err := m.cfg.Models.Match(m.serverSchemas); err != nil {
		return fmt.Errorf("client: %v: %w", why, err)
	}
	return fmt.Errorf("client: %v, though the server's text is the same", why)
}

// beforeMap reports whether a snapshot is of the map before the last change.
func (m *match) beforeMap(t tick.Tick, epoch uint8) bool {
	return epoch != 0 && t <= tick.Tick(m.welcome.Tick)
}
