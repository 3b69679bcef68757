package director

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tickrate/tickrate/fleet/announce"
)

// Buckets of the key-value store.
const (
	roomBucket    = "tickrate-fleet-rooms"    // holds by INSTANCE.ROOM
	requestBucket = "tickrate-fleet-requests" // placements by a hash of the request
)

// errConflict is the error of a write that another director was faster with.
var errConflict = errors.New("another director wrote first")

// store is what directors share, and what outlives them. Values are sealed by the fleet's key and bound to their names: see announce.Key.SealKept.
type store struct {
	rooms, requests jetstream.KeyValue
	key             *announce.Key
}

// openStore opens both buckets. What they hold is gone after its lifetime.
func openStore(ctx context.Context, js jetstream.JetStream, key *announce.Key,
	lifetime time.Duration) (s store, err error) {
	s.key = key
	open := func(name string) (jetstream.KeyValue, error) {
		kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, TTL: lifetime})
		if err != nil {
			return nil, fmt.Errorf("bucket %s of NATS: %w", name, err)
		}
		return kv, nil
	}
	if s.rooms, err = open(roomBucket); err == nil {
		s.requests, err = open(requestBucket)
	}
	return s, err
}

func (k roomKey) text() string { return fmt.Sprintf("%d.%d", k.instance, k.room) }

func parseRoomKey(text string) (k roomKey, ok bool) {
	a, b, _ := strings.Cut(text, ".")
	instance, errA := strconv.ParseUint(a, 10, 32)
	id, errB := strconv.ParseUint(b, 10, 32)
	return roomKey{uint32(instance), uint32(id)}, errA == nil && errB == nil
}

// write stores a value if the key still has the revision, and returns its new one.
func (s *store) write(ctx context.Context, kv jetstream.KeyValue, key string, value any,
	revision uint64) (uint64, error) {
	raw, err := s.key.SealKept(kv.Bucket()+"/"+key, value)
	if err != nil {
		return 0, err
	}
	if revision == 0 {
		revision, err = kv.Create(ctx, key, raw)
	} else {
		revision, err = kv.Update(ctx, key, raw, revision)
	}
	var api *jetstream.APIError
	if errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		err = errConflict
	}
	return revision, err
}

// open reads a value that a director of this fleet wrote under its key.
func (s *store) open(e jetstream.KeyValueEntry, value any) error {
	return s.key.OpenKept(e.Bucket()+"/"+e.Key(), e.Value(), value)
}

// holdsOf reads the reservations of a room.
func (s *store) holdsOf(ctx context.Context, key roomKey) (holds, error) {
	e, err := s.rooms.Get(ctx, key.text())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return holds{}, nil
	}
	if err != nil {
		return holds{}, err
	}
	return s.parseHolds(e), nil
}

// reserved is where the players of a request have places.
type reserved struct {
	Host      string   `json:"host"`
	Instance  uint32   `json:"instance"` // 0: the host chooses the lobby
	Lobby     uint32   `json:"lobby"`
	Addresses []string `json:"addresses"`
}

// placement says where the players of a request go.
type placement struct {
	Ask
	reserved
	Others  []reserved `json:"others,omitempty"`  // that tokens name as well
	Pending int64      `json:"pending,omitempty"` // Unix ms until which a director may still be at it
	// The tokens are drawn from these and the fleet's key, so all directors make the same.
	Seed    []byte `json:"seed"`
	Created int64  `json:"created"` // Unix s
}

// placementOf reads the placement of a request, the zero one if there is none. revision is of what is
// stored, 0 for nothing.
func (s *store) placementOf(ctx context.Context, key string) (p placement, revision uint64, err error) {
	e, err := s.requests.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return p, 0, nil
	}
	if err != nil {
		return p, 0, err
	}
	if s.open(e, &p) != nil {
		p = placement{} // of nobody in this fleet: it is overwritten
	}
	return p, e.Revision(), nil
}
