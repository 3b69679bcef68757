package netstate

import (
	_ "embed" // the trained dictionaries
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
)

// Dictionaries prime the codecs that pack blocks by zstd: those of players and those of objects.
type Dictionaries struct{ Public, Objects *schema.Dictionaries }

// dictionaryMagic opens a file of dictionaries. A file of models cannot begin so: it begins with a
// length, and this one would be larger than any model.
const dictionaryMagic = "TKZ1"

var dictionaryCRC = crc32.MakeTable(crc32.Castagnoli)

//go:embed trained.zdict
var trainedDictionaries []byte

// TrainedDictionaries returns those of this build, trained on the traffic of lobbies of bots
// (tickrate codec dict --rows).
var TrainedDictionaries = sync.OnceValue(func() Dictionaries {
	d, rest, err := ParseDictionaries(trainedDictionaries)
	if err != nil || len(rest) != 0 {
		// A test parses them.
		panic(fmt.Sprintf("netstate: the embedded dictionaries: %v, %d bytes left", err, len(rest)))
	}
	return d
})

// WithDictionaries returns the models with dictionaries.
func (m Models) WithDictionaries(d Dictionaries) Models {
	return Models{m.Public.WithDictionaries(d.Public), m.Owner, m.Objects.WithDictionaries(d.Objects)}
}

// parts lists the dictionaries in the order of the file.
func (d Dictionaries) parts() [][]byte {
	return [][]byte{d.Public.Delta.Dictionary(), d.Public.Spawn.Dictionary(),
		d.Objects.Delta.Dictionary(), d.Objects.Spawn.Dictionary()}
}

// Append writes the dictionaries as a file:
//
//	4  magic     "TKZ1"
//	   of players with a baseline, of players without one, of objects with one, of objects without:
//	2  length    of the dictionary, 0: none
//	n  dictionary
//	4  checksum  CRC-32C of all before
func (d Dictionaries) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, dictionaryMagic...)
	for _, part := range d.parts() {
		dst = append(binary.LittleEndian.AppendUint16(dst, uint16(len(part))), part...)
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], dictionaryCRC))
}

// ParseDictionaries reads what Append wrote and returns what follows. Errors wrap ErrModels.
func ParseDictionaries(src []byte) (d Dictionaries, rest []byte, err error) {
	if !hasDictionaries(src) {
		return d, src, fmt.Errorf("%w: dictionaries do not begin with %q", ErrModels, dictionaryMagic)
	}
	rest = src[len(dictionaryMagic):]
	var parts [4][]byte
	for i := range parts {
		if len(rest) < 2 || len(rest)-2 < int(binary.LittleEndian.Uint16(rest)) {
			return d, src, fmt.Errorf("%w: dictionary %d is cut short", ErrModels, i)
		}
		n := 2 + int(binary.LittleEndian.Uint16(rest))
		if parts[i], rest = slices.Clone(rest[2:n]), rest[n:]; len(parts[i]) == 0 {
			parts[i] = nil
		}
	}
	n := len(src) - len(rest)
	if len(rest) < 4 || binary.LittleEndian.Uint32(rest) != crc32.Checksum(src[:n], dictionaryCRC) {
		return d, src, fmt.Errorf("%w: checksum of the dictionaries: damaged or cut short", ErrModels)
	}
	if d.Public, err = schema.NewDictionaries(parts[0], parts[1]); err != nil {
		return Dictionaries{}, src, fmt.Errorf("%w: public rows: %w", ErrModels, err)
	}
	if d.Objects, err = schema.NewDictionaries(parts[2], parts[3]); err != nil {
		return Dictionaries{}, src, fmt.Errorf("%w: objects: %w", ErrModels, err)
	}
	return d, rest[4:], nil
}

// hasDictionaries reports whether a file begins with dictionaries.
func hasDictionaries(src []byte) bool {
	return len(src) >= len(dictionaryMagic) && string(src[:len(dictionaryMagic)]) == dictionaryMagic
}

// Samples is blocks of players and of objects, as a lobby sends them: the input of
// TrainDictionaries.
type Samples struct{ Public, Objects *snapshot.BlockSamples }

// NewSamples returns no samples yet.
func NewSamples() *Samples {
	return &Samples{snapshot.NewBlockSamples(Public), snapshot.NewBlockSamples(Objects)}
}

// Bytes of the content of each dictionary. Twice as much saves 2 to 3 % of blocks without a
// baseline, and nothing of others.
const (
	publicDictionaryBytes  = 512
	objectsDictionaryBytes = 1 << 10
)

// TrainDictionaries returns the dictionaries for blocks such as the samples.
func TrainDictionaries(s *Samples) (d Dictionaries, err error) {
	if d.Public, err = s.Public.Train(publicDictionaryBytes); err == nil {
		d.Objects, err = s.Objects.Train(objectsDictionaryBytes)
	}
	return d, err
}
