package netstate

import (
	_ "embed" // the trained models
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/tickrate/tickrate/ecs/schema"
)

// Models is the entropy models of the three rows.
type Models struct{ Public, Owner, Objects *schema.Model }

// Hash identifies the three models; client and server must have the same. It is never 0.
func (m Models) Hash() uint64 { return mixHashes(m.Public.Hash(), m.Owner.Hash(), m.Objects.Hash()) }

// mixHashes combines three hashes.
func mixHashes(public, owner, objects uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	return max(1, (public*odd^owner)*odd^objects)
}

// WithCodec returns the models for a codec of the public rows. Objects have that codec, but Huffman
// for schema.Stored; owner rows always have Huffman.
func (m Models) WithCodec(c schema.Codec) Models {
	m.Public = m.Public.With(c)
	if c == schema.Stored {
		c = schema.Huffman
	}
	if m.Objects.Codec() != c {
		m.Objects = m.Objects.With(c)
	}
	return m
}

// WithHash returns the models for the codec that has a hash, or m if there is none, which means
// other models.
func (m Models) WithHash(hash uint64) Models {
	for c := range schema.Codecs {
		if other := m.WithCodec(c); other.Hash() == hash {
			return other
		}
	}
	return m
}

// SchemaHash identifies the three schemas; client and server must have the same. It is never 0.
func SchemaHash() uint64 { return mixHashes(Public.Hash(), Owner.Hash(), Objects.Hash()) }

// Rows first, as the training run needs them. Training is deterministic: the file stays the same
// until the game or the codec changes. Half of the traffic is recorded from people; without those
// recordings beside the repository the file is kept.
//
//go:generate go run ../../ecs/schema/gen/structgen
//go:generate go run ../../cmd/tickrate codec train --players 48 --duration 4m --people ../../../shared/traces/qw_duel_aerowalk_2p.csv.gz --people ../../../shared/traces/qw_duel_povdmm4_2p.csv.gz --out trained.tkm
//go:generate go run ../../cmd/tickrate codec dict --rows --players 48 --duration 2m --out trained.zdict

//go:embed trained.tkm
var trained []byte

// Trained returns the models of this build, trained on recorded traffic of a lobby of bots
// (tickrate codec train).
var Trained = sync.OnceValue(func() Models {
	m, err := ParseModels(trained)
	if err != nil {
		panic("netstate: the embedded models: " + err.Error()) // a test parses them
	}
	return m
})

// Untrained returns models for a build or a schema without training.
func Untrained() Models {
	return Models{schema.DefaultModel(Public), schema.DefaultModel(Owner), schema.DefaultModel(Objects)}
}

// ErrModels is returned for bytes that do not hold the three models.
var ErrModels = errors.New("not a file of models")

// Append writes the models as a file:
//
//	   dictionaries, if the codec packs by zstd: as Dictionaries.Append
//	4  length of the model of public rows
//	n  model of public rows
//	4  length of the model of owner rows
//	n  model of owner rows
//	n  model of objects, to the end
func (m Models) Append(dst []byte) []byte {
	if m.Public.Codec().Packs() {
		dst = Dictionaries{m.Public.Dictionaries(), m.Objects.Dictionaries()}.Append(dst)
	}
	for _, part := range []*schema.Model{m.Public, m.Owner} {
		file := part.Append(nil)
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(file))), file...)
	}
	return m.Objects.Append(dst)
}

// ParseModels reads a file of Append. Models without dictionaries have those of this build. Errors
// say which of the three is wrong and how.
func ParseModels(src []byte) (m Models, err error) {
	d := TrainedDictionaries()
	if hasDictionaries(src) {
		if d, src, err = ParseDictionaries(src); err != nil {
			return m, err
		}
	}
	public, rest, err := cutModel("public", src)
	if err != nil {
		return m, err
	}
	owner, objects, err := cutModel("owner", rest)
	if err != nil {
		return m, err
	}
	if m.Public, err = schema.ParseModel(public, Public); err != nil {
		return Models{}, fmt.Errorf("public rows: %w", err)
	}
	if m.Owner, err = schema.ParseModel(owner, Owner); err != nil {
		return Models{}, fmt.Errorf("owner rows: %w", err)
	}
	if m.Objects, err = schema.ParseModel(objects, Objects); err != nil {
		return Models{}, fmt.Errorf("objects: %w", err)
	}
	return m.WithDictionaries(d), nil
}

// cutModel reads a length and that many bytes, and returns what follows them.
func cutModel(what string, src []byte) (file, rest []byte, err error) {
	if len(src) < 4 {
		return nil, nil, fmt.Errorf("%w: %d bytes where the %s model begins, expected at least 4",
			ErrModels, len(src), what)
	}
	n := uint64(binary.LittleEndian.Uint32(src))
	if n > uint64(len(src)-4) {
		return nil, nil, fmt.Errorf("%w: %s model of %d bytes in a file that has %d more", ErrModels, what,
			n, len(src)-4)
	}
	return src[4 : 4+n], src[4+n:], nil
}

// Counts is the symbols that a lobby codes: the input of Train.
type Counts struct{ Public, Owner, Objects *schema.Counts }

// NewCounts returns empty counts.
func NewCounts() *Counts {
	return &Counts{schema.NewCounts(Public), schema.NewCounts(Owner), schema.NewCounts(Objects)}
}

// Train returns the models that code the counted traffic in the fewest bits.
func Train(c *Counts) Models {
	return Models{schema.Train(Public, c.Public), schema.Train(Owner, c.Owner),
		schema.Train(Objects, c.Objects)}
}
