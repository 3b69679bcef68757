package ghost

import (
	_ "embed" // the trained models
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/tickrate/tickrate/ecs/schema"
)

// Models is what the two rows are coded with.
type Models struct{ Public, Owner *schema.Model }

// Hash names the pair; client and server must have the same. It is never 0.
func (m Models) Hash() uint64 { return max(1, m.Public.Hash()*0x9e3779b97f4a7c15^m.Owner.Hash()) }

// With returns the models for a codec of the public rows. The owner's row is coded alike in all.
func (m Models) With(c schema.Codec) Models { return Models{m.Public.With(c), m.Owner} }

// Follow returns the models for the codec with which they have a hash, or m if there is none: other models.
func (m Models) Follow(hash uint64) Models {
	for c := range schema.Codecs {
		if other := m.With(c); other.Hash() == hash {
			return other
		}
	}
	return m
}

// SchemaHash names both schemas; client and server must have the same. It is never 0.
func SchemaHash() uint64 { return max(1, Public.Hash()*0x9e3779b97f4a7c15^Owner.Hash()) }

// Rows first: the training run needs them. It is deterministic: made again, the file is the same until the game or the codec changes.
// Half of it are people, whose recordings lie beside the repository or not at all; then the file stays.
//
//go:generate go run ../../ecs/schema/gen/structgen
//go:generate go run ../../cmd/tickrate model train --players 48 --seconds 240 --people ../../../shared/traces/qw_duel_aerowalk_2p.csv.gz --people ../../../shared/traces/qw_duel_povdmm4_2p.csv.gz --out trained.tkm

//go:embed trained.tkm
var trained []byte

// Trained returns the models that come with this build: trained on recorded traffic of a lobby of bots
// (tickrate model train).
var Trained = sync.OnceValue(func() Models {
	m, err := ParseModels(trained)
	if err != nil {
		panic("ghost: the embedded models: " + err.Error()) // a test parses them
	}
	return m
})

// Untrained returns the models for a build or a schema without training.
func Untrained() Models { return Models{schema.DefaultModel(Public), schema.DefaultModel(Owner)} }

// ErrModels is returned for bytes that do not hold a pair of models.
var ErrModels = errors.New("not a pair of models")

// Append writes the pair as a file: 4 length of the public model · the public model · the owner model.
func (m Models) Append(dst []byte) []byte {
	pub := m.Public.Append(nil)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(pub)))
	return m.Owner.Append(append(dst, pub...))
}

// ParseModels reads a file of Append. Errors say which of the two is wrong and how.
func ParseModels(src []byte) (m Models, err error) {
	if len(src) < 4 {
		return m, fmt.Errorf("%w: %d bytes, expected at least 4", ErrModels, len(src))
	}
	n := uint64(binary.LittleEndian.Uint32(src))
	if n > uint64(len(src)-4) {
		return m, fmt.Errorf("%w: public model of %d bytes in a file of %d", ErrModels, n, len(src))
	}
	if m.Public, err = schema.ParseModel(src[4:4+n], Public); err != nil {
		return Models{}, fmt.Errorf("public rows: %w", err)
	}
	if m.Owner, err = schema.ParseModel(src[4+n:], Owner); err != nil {
		return Models{}, fmt.Errorf("owner rows: %w", err)
	}
	return m, nil
}

// Counts is what a lobby codes, symbol by symbol: what Train takes.
type Counts struct{ Public, Owner *schema.Counts }

// NewCounts returns counts of nothing.
func NewCounts() *Counts { return &Counts{schema.NewCounts(Public), schema.NewCounts(Owner)} }

// Train returns the models that code the counted traffic in the fewest bits.
func Train(c *Counts) Models {
	return Models{schema.Train(Public, c.Public), schema.Train(Owner, c.Owner)}
}
