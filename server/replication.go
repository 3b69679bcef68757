package server

import (
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/netstate"
)

// replication turns each tick of a match into snapshots.
type replication struct {
	level   overload.Level
	batch   int // ticks since the last snapshots
	players playerPlane
	objects *objectPlane

	ownerCounts *schema.Counts // nil unless somebody counts
	ownerRow    [netstate.OwnerFields]int32
}

// playerPlane is the table of players.
type playerPlane struct {
	frames  *snapshot.Ring
	encoder *snapshot.Encoder
	packer  snapshot.Packer
	sums    snapshot.Sums
	crowd
}

// egress seals packets and sends them.
type egress struct {
	out      netio.Batch
	outBytes int // bytes in out
	packets  packetBatch
	outbox   netcode.Outbox // what the netcode server has to say
	snapshot load           // of the snapshot that is being sent
}

// rewind resolves what shooters saw.
type rewind struct {
	resolver beholder
}
