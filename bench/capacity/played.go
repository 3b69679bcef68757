package capacity

import "math"

// Played is what players came to do in matches of a scenario that were played by themselves: without a server and without clients, on the maps that the scenario
// names, with other dice than any that were measured. It is what a prediction knows of the play; habits that were learned elsewhere are mixed in by how unsure
// both are.
type Played struct {
	Matches  int     `json:"matches"`
	Ground   uint64  `json:"ground"`            // seed of the first match's map; each next is on that of the next seed
	Visible  float64 `json:"visible,omitempty"` // likewise as in Facts; 0: whom players see was not asked
	Shots    float64 `json:"shots_tick"`
	Alive    float64 `json:"alive"`
	Flights  float64 `json:"flights"`
	Launches float64 `json:"launches"`
	Turns    float64 `json:"turns"`
	Kills    float64 `json:"kills"`
	Glances  Glances `json:"glances,omitzero"` // where somebody may be hidden
	Unsure   Unsure  `json:"unsure"`
}

// Glances are how the sets of those change whom clients see. Rows that come in sight have other baselines than the rest, and blocks of rows that are seen whole are
// shared. All 0: it was not asked.
type Glances struct {
	Snapshots float64 `json:"snapshots"` // how many were looked at
	Appear    float64 `json:"appear"`    // others who come in sight, to a client a second
	Blocks    float64 `json:"blocks"`    // share of the players whom a client is told of in blocks
	Flights   float64 `json:"flights"`   // share of what flies that a client is told of
	Launches  float64 `json:"launches"`  // share of what sets out that a client is told of at once
	Came      float64 `json:"came"`      // flights that come in sight later, to a client a second
}

// Unsure are standard errors of habits, as habits are taken: of their logarithms, of a share of the logarithm of its odds.
type Unsure [numHabits]float64

// Bytes is about by how much bytes are unsure for that: half of them go by who is alive, and a third by what sets out.
func (u Unsure) Bytes(alive float64) float64 {
	a, l := (1-alive)*u[habitAlive], math.Hypot((1-alive)*u[habitAlive], u[habitLaunches])
	return math.Hypot(a/2, l/3)
}

// NewPlayed sums up what came of equal parts of matches that are independent of each other. Of Facts that is read which came of the play; all else is alike.
func NewPlayed(matches int, parts []Facts) (p Played) {
	n := float64(len(parts))
	if n < 2 {
		return p
	}
	var sum Facts
	at := sum.play()
	for i := range parts {
		for k, x := range parts[i].play() {
			*at[k] += *x
		}
	}
	p = Played{Matches: matches, Visible: sum.Visible / n, Shots: sum.Shots / n, Alive: sum.Alive / n, Flights: sum.Flights / n, Launches: sum.Launches / n, Turns: sum.Turns / n,
		Kills: sum.Kills / n, Glances: glancesOf(parts)}
	// Jackknife: habits are ratios of sums, and each is worked out with every part left out once.
	for h := range habits {
		var mean, squares float64
		for i := range parts {
			rest := parts[i]
			for k, x := range rest.play() {
				*x = (*at[k] - *x) / (n - 1)
			}
			y, ok := habits[h].log(rest)
			if !ok {
				mean, squares = 0, math.Inf(1)
				break
			}
			d := y - mean
			mean += d / float64(i+1)
			squares += d * (y - mean)
		}
		if p.Unsure[h] = math.Sqrt(squares * (n - 1) / n); math.IsInf(squares, 0) {
			p.Unsure[h] = 0 // nothing is known of it
		}
	}
	return p
}

// glancesOf sums up those of equal parts: in some of them nobody may have been hidden, and nobody looked.
func glancesOf(parts []Facts) (sum Glances) {
	for i := range parts {
		g := parts[i].Played.Glances
		sum.Snapshots += g.Snapshots
		to := sum.values()
		for k, x := range g.values() {
			*to[k] += *x * g.Snapshots
		}
	}
	if sum.Snapshots > 0 {
		for _, x := range sum.values() {
			*x /= sum.Snapshots
		}
	}
	return sum
}

// values are all that is a mean over snapshots.
func (g *Glances) values() [5]*float64 {
	return [...]*float64{&g.Appear, &g.Blocks, &g.Flights, &g.Launches, &g.Came}
}

// play are what came of the play.
func (f *Facts) play() [7]*float64 {
	return [...]*float64{&f.Visible, &f.Shots, &f.Alive, &f.Flights, &f.Launches, &f.Turns, &f.Kills}
}

// facts are a scenario's, with what was played in place of what was measured.
func (p *Played) facts(f Facts) Facts {
	f.Visible, f.Shots, f.Alive, f.Flights, f.Launches, f.Turns, f.Kills = p.Visible, p.Shots, p.Alive, p.Flights, p.Launches, p.Turns, p.Kills
	return f
}
