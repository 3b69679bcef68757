package snapshot_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
)

func Example() {
	s := schema.Schema{Name: "player", Fields: []schema.Field{{Name: "x", Min: -1000, Max: 1000, Predict: schema.Linear}, {Name: "yaw", Wrap: 4096}}}
	model := schema.DefaultModel(s)

	ring := snapshot.NewRing(s, 64, snapshot.Window, 1) // server
	encoder := snapshot.NewEncoder(model, 64)
	tracker := snapshot.NewTracker(64, 1)
	decoder := snapshot.NewDecoder(model, 64, 1) // client

	var packer snapshot.Packer
	row := make([]int32, 2)
	for t := range 4 {
		now := decoder.Newest(5) + 1
		ring.Begin(now).Set(5, netid.Make(5, 1), []int32{int32(100 + 3*t), 4095})
		encoder.Begin(ring.At(now), ring)
		tracker.Advance(now)
		packer.Begin(encoder, tracker, 0, ring.Groups())
		datagram, first, count, err := packer.Next(nil, 1200)
		if err != nil { // the budget has no room for a group
			panic(err)
		}

		if err := decoder.Section(now, datagram); err != nil {
			panic(err)
		}
		tracker.Acked(now, first, count)
		id := decoder.At(now).Row(5, row)
		fmt.Println(len(datagram), "bytes:", id, row)
	}
	// Output:
	// 8 bytes: 5.1 [100 4095]
	// 4 bytes: 5.1 [103 4095]
	// 4 bytes: 5.1 [106 4095]
	// 4 bytes: 5.1 [109 4095]
}
