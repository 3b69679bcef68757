package capacity

import (
	"math"
	"time"
)

// A snapshot's bytes are sums of what is in it: heads, the owner's row, rows of the players it tells of, rows of what flies. Each part has
// a law of its own, to one client in one snapshot, but for events, which happen a second and not a snapshot.
type partLaw struct {
	name     string
	of       func(*Parts) *float64
	a        func(Facts) float64 // per which the law is: one snapshot, or a second, in seconds
	floor    float64             // bytes that errors are not relative below
	features []feature
}

// clients are all who are sent something, and playing is the share of them who play.
func clients(f Facts) float64 { return float64(f.PerLobby + f.Spectators) }
func playing(f Facts) float64 { return float64(f.PerLobby) / clients(f) }

// living is how many of those whom a client sees are alive: the rows of others hardly change.
func living(f Facts) float64 { return f.Visible * f.Alive }

func aSecond(Facts) float64 { return 1 }

// nearShare is which part of what is about a client is told of: that of the players in sight.
func nearShare(f Facts) float64 {
	if f.PerLobby < 2 {
		return 1
	}
	return min(1, f.Visible/float64(f.PerLobby-1))
}

// datagrams is how many a snapshot takes, without those that go out between snapshots.
func datagrams(f Facts) float64 { return f.Datagrams*interval(f) - (parcels(f) - 1) }

// VirtualDelay is what a datagram takes each way in virtual time, beside what the scenario's link takes, so that baselines have an age.
const VirtualDelay = 40 * time.Millisecond

// trip is how long a datagram takes there and back, in seconds.
func trip(f Facts) float64 {
	if f.Virtual {
		return 2 * (f.Delay + VirtualDelay.Seconds())
	}
	return 2 * f.Delay
}

// Clients act at so many instants between two ticks, as many of them at each.
const phases = 4

// ackTicks is how many ticks after a snapshot was sent the server knows that a client has it who acts part of a tick after the server: each end
// reads what has come when it acts, no sooner.
func ackTicks(f Facts, part float64) float64 {
	way := trip(f) / 2 * float64(f.TickHz)
	return math.Ceil(hasAt(way, part) + way - justInTime)
}

// justInTime is of a tick: what comes so much late is there.
const justInTime = 1e-6

// hasAt is how many ticks after a snapshot was sent a client has it, which takes way ticks.
func hasAt(way, part float64) float64 { return math.Ceil(way-part-justInTime) + part }

// baseAges are how many snapshots old a baseline may be, as package snapshot chooses: where the newest that is acknowledged is of another age, an older one is
// taken, so that clients share it.
var baseAges = [...]float64{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48}

// freshest is up to which age a baseline of rows comes with the two before it, so that rows are expected from all three.
const freshest = 4

// known is the chance that the server knows, when it makes a snapshot, that a client that acts part of a tick after it holds the one steps before: it came, and
// so did one of what the client has sent since, a datagram a tick, each of which says all that came.
func known(f Facts, part, steps float64) float64 {
	if f.Jitter > 0 {
		return knownLater(f, part, steps)
	}
	tries := steps*float64(f.SendEvery) - ackTicks(f, part) + 1
	if tries < 1 {
		return 0
	}
	return (1 - f.Loss) * (1 - math.Pow(f.Loss, tries))
}

// knownLater is known over links whose delay varies, evenly by up to Jitter, and keeps the order: nothing comes before what was sent before it.
func knownLater(f Facts, part, steps float64) (sum float64) {
	hz := float64(f.TickHz)
	jitter := f.Jitter * hz
	least := trip(f)/2*hz - jitter/2
	late := func(x, apart float64) float64 { // the chance that one of many that are sent so far apart takes no more than x ticks longer than the least
		p := indicator(x > -justInTime)
		for ; p > 0 && x < jitter; x += apart {
			p *= max(x, 0) / jitter
		}
		return p
	}
	const cuts = 16 // of what a snapshot takes longer
	for i := range cuts {
		from, to := float64(i)/cuts*jitter, float64(i+1)/cuts*jitter
		share := late(to, float64(f.SendEvery)) - late(from, float64(f.SendEvery))
		slack := steps*float64(f.SendEvery) - hasAt(least+(from+to)/2, part) - least
		here := 0.0
		for lost := 1.0; slack > -justInTime && lost > 1e-9; slack, lost = slack-1, lost*f.Loss {
			here += lost * (1 - f.Loss) * late(slack, 1)
		}
		sum += share * here
	}
	return sum * (1 - f.Loss)
}

// eachBase says of the baselines of things and of players' rows that a client may have that acts part of a tick after the server: how many steps old each is, and the chance
// of having it with the two before it, and alone.
func eachBase(f Facts, part float64, say func(steps, deep, alone float64)) {
	left := 1.0
	for k, steps := range baseAges {
		here := left * known(f, part, steps)
		if k == len(baseAges)-1 {
			here = left
		}
		if left -= here; here == 0 {
			continue
		}
		deep := 0.0
		if steps <= freshest {
			deep = here * known(f, part, steps+1) * known(f, part, steps+2)
		}
		say(steps, deep, here-deep)
	}
}

// overBases is the mean, over clients and snapshots, of what follows from the baseline of things and of players' rows: how many steps old it is, and in which
// share of cases rows are expected from it alone.
func overBases(f Facts, of func(steps, alone float64) float64) (sum float64) {
	for i := range phases {
		eachBase(f, float64(i)/phases, func(steps, deep, alone float64) {
			sum += (deep + alone) * of(steps, alone/(deep+alone)) / phases
		})
	}
	return sum
}

// baselines is how many different ones those clients hold whom one tick tells, on average: rows are coded once for all of them who hold the same. Of those
// a row is one that only a share of the clients is told.
func baselines(f Facts, share float64) (sum float64) {
	type kind struct {
		steps float64
		alone bool
	}
	each, none := told(f)/phases, map[kind]float64{} // the chance that nobody has it
	note := func(k kind, chance float64) {
		if _, met := none[k]; !met {
			none[k] = 1
		}
		none[k] *= math.Pow(max(0, 1-chance*share), each)
	}
	for i := range phases {
		eachBase(f, float64(i)/phases, func(steps, deep, alone float64) {
			note(kind{steps, false}, deep)
			note(kind{steps, true}, alone)
		})
	}
	for _, steps := range baseAges { // in order, as sums of floats depend on it
		for _, alone := range []bool{false, true} {
			if p, met := none[kind{steps, alone}]; met {
				sum += 1 - p
			}
		}
	}
	return sum
}

// ackAge is how old the newest is that clients are known to hold, in seconds: rows of owners are told against that, whatever its age.
func ackAge(f Facts) (sum float64) {
	for i := range phases {
		part, left := float64(i)/phases, 1.0/phases
		for steps := 1.0; left > 1e-9 && steps < baseAges[len(baseAges)-1]; steps++ {
			here := left * known(f, part, steps)
			sum, left = sum+here*steps, left-here
		}
	}
	return sum * interval(f)
}

// baseAge is how old baselines of things and players are, in seconds. It is for how long what is new is told, too: until some snapshot that told of it is the
// baseline.
func baseAge(f Facts) float64 {
	return overBases(f, func(steps, _ float64) float64 { return steps }) * interval(f)
}

// stale is the share of snapshots in which rows are expected from one baseline alone. A stored row is expected from none, and as long either way.
func stale(f Facts) float64 {
	if f.Codec == storedCodec {
		return 0
	}
	return overBases(f, func(_, alone float64) float64 { return alone })
}

// staleAge is baseAge of those alone, times their share; freshAge that of the others.
func staleAge(f Facts) float64 {
	if f.Codec == storedCodec {
		return 0
	}
	return overBases(f, func(steps, alone float64) float64 { return steps * alone }) * interval(f)
}

func freshAge(f Facts) float64 { return baseAge(f) - staleAge(f) }

// newcomer is the share of a client's snapshots in which it has not been told of all that flies about it: it is told of that in parts of what there is room for
// (server.Config.JoinBytes). Matches showed how long that takes: (flights / 100)^1.4 s, and longer where it takes longer to know what has arrived; in half of that
// what is left makes no more difference.
func newcomer(f Facts) float64 {
	takes := 0.5 * math.Pow(flightsNear(f)/100, 1.4) * (1 + 30*f.Delay)
	return 1 - math.Exp(-takes*f.Leaves/60)
}

// settled are features of the snapshots of all other clients.
func settled(all []feature) []feature {
	for i, x := range all {
		all[i].of = func(f Facts) float64 { return x.of(f) * (1 - newcomer(f)) }
	}
	return all
}

// changedBlocks is in how many blocks of what flies something sets out or turns within the age of a baseline.
func changedBlocks(f Facts) float64 {
	blocks := max(1, flightSlots(f)/groupRows)
	return blocks * (1 - math.Exp(-(f.Turns+launchesNear(f))*baseAge(f)/blocks))
}

var partLaws = []partLaw{
	{"frame", func(p *Parts) *float64 { return &p.Frame }, interval, 1, []feature{
		{"datagrams", datagrams},
		{"1", func(Facts) float64 { return 1 }},
		{"flights", func(f Facts) float64 { return f.Flights }},
	}},
	{"events", func(p *Parts) *float64 { return &p.Events }, aSecond, 20, []feature{
		{"1", func(Facts) float64 { return 1 }},
		{"kills", func(f Facts) float64 { return f.Kills }},
		{"datagrams between", func(f Facts) float64 { return (parcels(f) - 1) / interval(f) }},
		{"comings·N", func(f Facts) float64 { return f.Leaves * float64(f.PerLobby) }},
		{"comings", func(f Facts) float64 { return f.Leaves }},
		{"N", func(f Facts) float64 { return clients(f) }},
		{"shots", func(f Facts) float64 { return f.Shots * float64(f.TickHz) / clients(f) }},
	}},
	{"owner", func(p *Parts) *float64 { return &p.Owner }, interval, 2, []feature{
		{"1", func(Facts) float64 { return 1 }},
		{"plays", playing},
		{"alive", func(f Facts) float64 { return playing(f) * f.Alive }},
		{"alive·ack", func(f Facts) float64 { return playing(f) * f.Alive * ackAge(f) }},
		{"alive (open)", func(f Facts) float64 { return playing(f) * f.Alive * (1 - indicator(f.Walls)) }},
		{"alive·interval", func(f Facts) float64 { return playing(f) * f.Alive * interval(f) }},
		{"alive·tick", func(f Facts) float64 { return playing(f) * f.Alive / float64(f.TickHz) }},
		{"alive·loss", func(f Facts) float64 { return playing(f) * f.Alive * f.Loss }},
		{"comings", func(f Facts) float64 { return f.Leaves * interval(f) }},
	}},
	{"things", func(p *Parts) *float64 { return &p.Things }, interval, 3, append(settled([]feature{
		{"1", func(Facts) float64 { return 1 }},
		{"flights·near", flightsNear},
		{"flights·near·interval", func(f Facts) float64 { return flightsNear(f) * interval(f) }},
		{"flights·near (chosen)", func(f Facts) float64 { return flightsNear(f) * ruledThings(f) }},
		{"launches·interval", func(f Facts) float64 { return f.Launches * interval(f) }},
		{"turns·interval", func(f Facts) float64 { return f.Turns * interval(f) }},
		{"turns·told·near", func(f Facts) float64 { return f.Turns * baseAge(f) * seenShare(f, f.Played.Glances.Flights) }},
		{"launches·told", func(f Facts) float64 { return f.Launches * baseAge(f) }},
		{"launches·told·near", func(f Facts) float64 { return launchesNear(f) * baseAge(f) }},
		{"launches·told·near (chosen)", func(f Facts) float64 { return launchesNear(f) * baseAge(f) * ruledThings(f) }},
		{"launches·told·near (stale)", func(f Facts) float64 { return launchesNear(f) * staleAge(f) }},
		{"came·told", func(f Facts) float64 { return cameNear(f) * baseAge(f) }},
		{"blocks changed", changedBlocks},
	}), feature{"comings·flights·near", func(f Facts) float64 { return f.Leaves * interval(f) * flightsNear(f) }})},
	{"rows", func(p *Parts) *float64 { return &p.Rows }, interval, 5, []feature{
		{"1", func(Facts) float64 { return 1 }},
		{"V·alive", living},
		{"V·alive·interval", func(f Facts) float64 { return living(f) * interval(f) }},
		{"V·alive (stale)", func(f Facts) float64 { return living(f) * stale(f) }},
		{"V·alive·ack (stale)", func(f Facts) float64 { return living(f) * staleAge(f) }},
		{"V·alive·tick", func(f Facts) float64 { return living(f) / float64(f.TickHz) }},
		{"V (chosen)", func(f Facts) float64 { return f.Visible * ruled(f) }},
		{"V·alive (chosen)", func(f Facts) float64 { return living(f) * ruled(f) }},
		{"1 (chosen)", ruled},
		{"unseen (chosen)", func(f Facts) float64 { return ruled(f) * (float64(f.PerLobby-1) - f.Visible) }},
		{"appear·told", fresh},
		{"V·alive·ack (fresh)", func(f Facts) float64 { return living(f) * freshAge(f) }},
		{"V·alive·ack (fresh, open)", func(f Facts) float64 { return living(f) * freshAge(f) * (1 - indicator(f.Walls)) }},
		{"V·alive·loss", func(f Facts) float64 { return living(f) * f.Loss }},
		{"V·comings·told", func(f Facts) float64 { return f.Visible * f.Leaves * baseAge(f) }},
		{"V·shots", func(f Facts) float64 { return f.Visible * f.Shots * float64(f.TickHz) / float64(f.PerLobby) }},
		{"kills", func(f Facts) float64 { return f.Kills * interval(f) }},
		{"kills·told", func(f Facts) float64 { return f.Kills * baseAge(f) }},
		{"V·alive·facing", func(f Facts) float64 { return living(f) * f.Meets[1].Facing }},
		{"V·alive·facing (spread out)", func(f Facts) float64 { return living(f) * f.Meets[2].Facing * (1 - f.Crowd) }},
		{"V·alive·snapshots old", func(f Facts) float64 { return living(f) * freshAge(f) / interval(f) }},
		{"V·alive·ticks old", func(f Facts) float64 { return living(f) * freshAge(f) * float64(f.TickHz) }},
		{"V·alive·throws", func(f Facts) float64 { return living(f) * f.Throws }},
		{"appear·interval", func(f Facts) float64 { return appear(f) * interval(f) }},
	}},
}

// rowsPart is the place of the rows among the parts: they are what a codec codes.
const rowsPart = 4

// parcel is how datagrams are filled: how many bytes of a snapshot one holds, and by how much snapshots of a match differ, which is what flies: by its bytes
// over the root of the players, as launches of each of them are chance, so many times.
type parcel struct{ room, spread float64 }

// load is what snapshots to a client hold on average, in bytes, heads left out.
func load(f *Facts) float64 { return (f.Parts.Owner + f.Parts.Things + f.Parts.Rows) * interval(*f) }

// of is how many datagrams a snapshot takes on average, where its parts are known.
func (p parcel) of(f *Facts) float64 {
	bytes, s := load(f), p.spread*f.Parts.Things*interval(*f)/math.Sqrt(float64(max(f.PerLobby, 1)))
	n := 1.0
	for k := 1.0; k*p.room < bytes+5*s && k < 1000; k++ {
		n += 0.5 * math.Erfc((k*p.room-bytes)/max(s, 1)/math.Sqrt2)
	}
	return n
}

// fill works out all parts and datagrams of a client a second: what is in snapshots says how many datagrams they take, whose heads are more.
func (m *Model) fill(f *Facts) {
	var p Parts
	for i, l := range partLaws {
		if l.name == "frame" {
			continue
		}
		bytes := m.Parts[i].at(*f, l.features)
		if i == rowsPart {
			bytes = coded(*f, bytes, byHuffman(*f), m.Codecs[f.Codec].Rows, m.coderRows())
		}
		*l.of(&p) = bytes / l.a(*f)
	}
	f.Parts = p
	f.Datagrams = (m.parcel.of(f) + parcels(*f) - 1) / interval(*f)
	p.Frame = m.Parts[0].at(*f, partLaws[0].features) / interval(*f)
	f.Parts, f.Bytes = p, p.Sum()
}

// fitParcel finds how datagrams are filled.
func fitParcel(facts []Facts) (best parcel) {
	least := math.Inf(1)
	for room := 900.0; room <= 1200; room += 10 {
		for spread := 1.0; spread <= 16; spread++ {
			p, sum := parcel{room, spread}, 0.0
			for i := range facts {
				sum += sq(p.of(&facts[i])/datagrams(facts[i]) - 1)
			}
			if sum < least {
				best, least = p, sum
			}
		}
	}
	return best
}
