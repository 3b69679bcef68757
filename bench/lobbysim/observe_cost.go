package lobbysim

import "time"

// ObserveCost is the CPU time of a tick in blocks of ticks, with and without observation of the
// lobby. Blocks of one index were played one after the other.
type ObserveCost struct{ Off, On []float64 } // ns of CPU time a tick

// CompareObserved plays pairs of blocks of ticks: in one block the lobby is observed, see
// server.Lobby.Observe, in the other not; which comes first alternates. cpu is the CPU time of the
// calling thread; only the server's tick counts.
func (b *Sim) CompareObserved(cpu func() time.Duration, pairs, ticks int) (t ObserveCost, err error) {
	around, spent := b.cfg.WrapTick, time.Duration(0)
	b.cfg.WrapTick = func(tick func() error) error {
		from := cpu()
		err := around(tick)
		spent += cpu() - from
		return err
	}
	defer func() {
		b.cfg.WrapTick = around
		b.Lobby.Observe(true)
	}()
	turn := func(on bool) (float64, error) {
		b.Lobby.Observe(on)
		spent = 0
		for range ticks {
			if err := b.Step(); err != nil {
				return 0, err
			}
		}
		return float64(spent) / float64(ticks), nil
	}
	for pair := range pairs {
		var cost [2]float64
		for second := range 2 {
			on := (pair + second) % 2
			if cost[on], err = turn(on == 1); err != nil {
				return t, err
			}
		}
		t.Off, t.On = append(t.Off, cost[0]), append(t.On, cost[1])
	}
	return t, nil
}
