package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tickrate/tickrate/fleet/announce"
)

// ownerBucket has a record for each lobby that moves: the name of the host that owns it.
const ownerBucket = "tickrate-fleet-owners"

// ownerLifetime is how long a record is kept. A move takes seconds.
const ownerLifetime = time.Hour

// owners are the records, sealed by the fleet's key.
type owners struct {
	kv  jetstream.KeyValue
	key *announce.Key
}

func openOwners(ctx context.Context, js jetstream.JetStream, key *announce.Key) (o owners, err error) {
	o.key = key
	o.kv, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: ownerBucket, TTL: ownerLifetime})
	if err != nil {
		return o, fmt.Errorf("bucket %s of NATS: %w", ownerBucket, err)
	}
	return o, nil
}

// register writes a record for a lobby that begins to move. No other host writes it before it has
// the revision.
func (o *owners) register(ctx context.Context, key, name string) Event {
	raw, err := o.key.SealKept(ownerBucket+"/"+key, name)
	if err != nil {
		return Event{Kind: EventUnknown}
	}
	revision, err := o.kv.Put(ctx, key, raw)
	if err != nil {
		return Event{Kind: EventUnknown}
	}
	return Event{Kind: EventOwned, Owner: name, Revision: revision}
}

// claim makes a host the owner if the record has a revision, and says who owns the lobby now.
func (o *owners) claim(ctx context.Context, key, name string, revision uint64) Event {
	raw, err := o.key.SealKept(ownerBucket+"/"+key, name)
	if err != nil {
		return Event{Kind: EventUnknown}
	}
	now, err := o.kv.Update(ctx, key, raw, revision)
	if err == nil {
		return Event{Kind: EventOwned, Owner: name, Revision: now}
	}
	var api *jetstream.APIError
	if !errors.Is(err, jetstream.ErrKeyExists) &&
		!(errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence) {
		return Event{Kind: EventUnknown}
	}
	e, err := o.kv.Get(ctx, key)
	if err != nil {
		return Event{Kind: EventUnknown}
	}
	var owner string
	if o.key.OpenKept(ownerBucket+"/"+key, e.Value(), &owner) != nil {
		return Event{Kind: EventUnknown}
	}
	return Event{Kind: EventOwned, Owner: owner, Revision: e.Revision()}
}
