package interest_test

import (
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
)

// A viewer sees 4 cells of 8 m far, and its team everywhere. There is room for one row a snapshot:
// the near row goes more often, and the far one is not forgotten.
func Example() {
	grid := interest.NewGrid(interest.Config{Slots: 4, ViewDistance: 4})
	client := interest.NewClient(grid)
	ids := []netid.ID{netid.Make(0, 1), netid.Make(1, 1), netid.Make(2, 1), netid.Make(3, 1)}
	x, z := []float32{4, 8, 36, 200}, []float32{4, 4, 4, 4}
	teams := []uint8{1, 2, 2, 2} // 0: none
	cost := make([]uint16, 64*grid.Words())
	copy(cost, []uint16{0, 100, 100, 100})

	for range 6 {
		grid.Fill(ids, x, z, teams, nil)
		client.Update(grid, interest.Viewer{Slot: 0, X: x[0], Z: z[0], Team: 1}, nil)
		used := client.Select(cost, 150) // bits, as of snapshot.Packer.Costs
		sent := client.Selected()
		fmt.Printf("visible %04b, sent slot %d in %d bits\n", client.Visible()[0], bits.TrailingZeros64(sent[0]), used)
		client.MarkSent(sent)
	}
	// Output:
	// visible 0111, sent slot 1 in 100 bits
	// visible 0111, sent slot 2 in 100 bits
	// visible 0111, sent slot 1 in 100 bits
	// visible 0111, sent slot 1 in 100 bits
	// visible 0111, sent slot 2 in 100 bits
	// visible 0111, sent slot 1 in 100 bits
}
