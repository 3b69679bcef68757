package interest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/alloctest"
)

const (
	crowdRows    = 1000
	crowdClients = 1000
)

// crowd is 1000 players on 256 m x 256 m, and their clients.
type crowd struct {
	scene   *scene
	grid    *Grid
	views   []Viewer
	clients []*Client
	rivals  []*rival
	rows    []rivalRow
	cost    []uint16
}

func newCrowd(far int) *crowd {
	c := &crowd{scene: newScene(crowdRows),
		grid: NewGrid(Config{Slots: crowdRows, ViewDistance: far, Hysteresis: 4})}
	rng := rand.New(rand.NewPCG(1, 1))
	for slot := range c.scene.ids {
		sc := c.scene
		sc.ids[slot] = netid.Make(slot, 1)
		sc.x[slot], sc.z[slot] = rng.Float32()*256, rng.Float32()*256
		sc.team[slot] = uint8(1 + slot%32)
		c.views = append(c.views, Viewer{slot, sc.x[slot], sc.z[slot], sc.team[slot], rng.Float32() - 0.5,
			rng.Float32() - 0.5})
		c.clients = append(c.clients, NewClient(c.grid))
		c.rivals = append(c.rivals, newRival(c.grid.cfg))
	}
	for i := range c.scene.combat {
		c.scene.combat[i] = rng.Uint64() & rng.Uint64() & rng.Uint64()
	}
	c.cost = make([]uint16, c.grid.Words()*64)
	for slot := range crowdRows {
		c.cost[slot] = uint16(10 + rng.IntN(20))
	}
	return c
}

func (c *crowd) look(budget int) (seen int) {
	c.grid.Fill(c.scene.ids, c.scene.x, c.scene.z, c.scene.team, c.scene.combat)
	for i, cl := range c.clients {
		cl.Update(c.grid, c.views[i], nil)
		if budget > 0 {
			cl.Select(c.cost, budget)
			cl.MarkSent(cl.Selected())
		}
	}
	return seen
}

func (c *crowd) everyPair() {
	c.rows = rivalRows(c.rows, c.grid, c.scene)
	for i, r := range c.rivals {
		r.update(c.rows, c.views[i])
	}
}

// BenchmarkSnapshot is visibility and priority for 1000 clients and 1000 rows.
func BenchmarkSnapshot(b *testing.B) {
	for _, far := range []int{8} {
		c := newCrowd(far)
		c.look(0)
		seen := 0
		for _, cl := range c.clients {
			for slot := range crowdRows {
				if has(cl.Visible(), slot) {
					seen++
				}
			}
		}
		run := func(name string, clients int, f func()) {
			b.Run(fmt.Sprintf("seen=%d/%s", seen/crowdClients, name), func(b *testing.B) {
				f() // its memory grows the first time
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(clients)/crowdRows,
					"ns/pair")
				b.ReportMetric(0, "ns/op")
			})
		}
		run("look", crowdClients, func() { c.look(0) })
		run("look+pick", crowdClients, func() { c.look(1200) })
		run("every-pair", crowdClients, c.everyPair)
		for i, cl := range c.clients {
			for slot := range crowdRows {
				if has(cl.Visible(), slot) != (c.rivals[i].weight[slot] > 0) {
					b.Fatalf("client %d, row %d: the rival differs", i, slot)
				}
			}
		}
	}
}

func TestSnapshotDoesNotAllocate(t *testing.T) {
	c := newCrowd(6)
	rng := rand.New(rand.NewPCG(2, 2))
	step := func() {
		for slot := range c.scene.x {
			c.scene.x[slot] += rng.Float32() - 0.5
			c.views[slot].X = c.scene.x[slot]
		}
		c.look(1200)
	}
	for range 40 {
		step()
	}
	for range crowdRows { // memory for a view from every cell
		c.grid.pool.free = append(c.grid.pool.free, make([]uint64, c.grid.words))
	}
	if n := alloctest.In(5, step); n != 0 {
		t.Errorf("%v allocations a snapshot", n)
	}
}
