package replay

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// play is a match that plays itself: people come and go, run about and shoot.
type play struct {
	m   *sim.Match
	ids []netid.ID
	rng uint64

	enter func(system int) // called as by sim.Match.ReplayTimed; nil for none
}

func newPlay(t testing.TB, players int, seed uint64) *play {
	t.Helper()
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	game := sim.DefaultGame()
	game.Mode.PrematchMillis, game.Mode.MinPlayers = 1000, 2
	p := &play{m: sim.New(players, sim.Rules{Seed: seed, Mix: true, RespawnMillis: 1000, Game: game},
		ground), rng: seed}
	p.ids = make([]netid.ID, players-1)
	p.m.SetHitFilter(func(s *lagcomp.Sweep, id uint32) bool { return (s.Except^id)>>8%5 != 0 })
	return p
}

func (p *play) draw() uint64 {
	p.rng = p.rng*6364136223846793005 + 1442695040888963407
	return p.rng >> 33
}

// step hands in the commands of a tick and plays it.
func (p *play) step() {
	now := p.m.Tick()
	for i, id := range p.ids {
		r := p.draw()
		switch {
		case id == 0:
			p.ids[i] = p.m.Join()
			continue
		case r%2000 == 0:
			p.m.Leave(id)
			p.ids[i] = p.m.JoinAsHero(uint8(r >> 12 & 1))
			continue
		case r%700 == 1:
			p.m.RequestHero(id, uint8(r>>12&1))
		case r%30 == 2:
			continue
		}
		c := sim.Command{Tick: now + 1, Yaw: geom.Angle(uint64(now)*37 + uint64(i)<<12),
			MoveYaw: uint8(p.rng >> 58 << 2), MoveMag: 255}
		if at := p.nearest(id); at.ID != 0 && uint64(now)/64%3 != uint64(i)%3 {
			me := p.m.Poses()[id.Index()].Pos
			d := at.Pos.Sub(me)
			c.Yaw, c.Buttons = geom.Atan2(d.X, d.Z), sim.Fire
			c.View = tick.View{From: max(now, 6) - 5, To: max(now, 6) - 4, Frac: uint8(r)}
		}
		p.m.SetClampLimits(id, lagcomp.ClampLimits{Rate: 60, RTTTicks: float32(i), InterpTicks: 6,
			SlackTicks: float32(r%100) / 7, CapTicks: 24,
			NewestAcked: now - min(now, 3), Newest: now, Oldest: p.m.History().Oldest()})
		if in := p.m.CommandBuffer(id); in != nil {
			in.Offer(c)
		}
	}
	if p.enter == nil {
		p.m.Step()
		return
	}
	p.m.Begin()
	for i := range sim.Systems() {
		p.enter(i)
		p.m.Run(i)
	}
	p.enter(len(sim.Systems()))
	p.m.End()
}

func (p *play) nearest(id netid.ID) (best rig.Pose) {
	all := p.m.Poses()
	me := all[id.Index()]
	for _, o := range all {
		if o.ID != 0 && o.Alive() && me.ID != 0 && o.Team() != me.Team() &&
			(best.ID == 0 || o.Pos.Sub(me.Pos).LenSq() < best.Pos.Sub(me.Pos).LenSq()) {
			best = o
		}
	}
	return best
}

// record plays the given number of ticks and returns the recording and the hash after every tick.
func record(t testing.TB, p *play, ticks, chunk int) (file []byte, hashes []uint64) {
	t.Helper()
	h := HeadOf(p.m, "arena-16", chunk)
	file = h.Append(nil)
	rec, err := NewRecorder(p.m, chunk, 1)
	if err != nil {
		t.Fatal(err)
	}
	pack := NewPacker()
	for range ticks {
		p.step()
		hashes = append(hashes, p.m.Hash())
		if c := rec.Tick(); c != nil {
			file = pack.Append(file, c.Encode())
		}
	}
	if c := rec.Close(); c != nil {
		file = pack.Append(file, c.Encode())
	}
	return file, hashes
}

func open(t testing.TB, file []byte) (*Reader, *Player, error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(r.Close)
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	game := sim.DefaultGame()
	game.Mode.PrematchMillis, game.Mode.MinPlayers = 1000, 2
	p, err := NewPlayer(&r.Head, game, ground)
	return r, p, err
}

// again plays a recording and returns the hashes, as far as it goes.
func again(t testing.TB, file []byte) (hashes []uint64, p *Player, err error) {
	t.Helper()
	r, p, err := open(t, file)
	if err != nil {
		return nil, nil, err
	}
	for {
		c, err := r.Next()
		if err == io.EOF {
			return hashes, p, nil
		} else if err == nil {
			err = p.Load(c)
		}
		if err != nil {
			return hashes, p, err
		}
		for !p.Done() {
			if err := p.Step(); err != nil {
				return hashes, p, err
			}
			hashes = append(hashes, p.Match.Hash())
		}
	}
}

// A chunk that cannot end on time, as a player joined before the state was saved, ends a tick
// later; the chunks behind it keep their length.
func TestAChunkThatGoesOnIsOneChunk(t *testing.T) {
	p := newPlay(t, 6, 3)
	p.step()
	rec, err := NewRecorder(p.m, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	var ticks []int
	for n := range 41 {
		p.step()
		if n == 9 {
			p.m.Join()
		}
		if c := rec.Tick(); c != nil {
			ticks = append(ticks, c.Encode().Ticks)
		}
	}
	if want := []int{11, 10, 10, 10}; !slices.Equal(ticks, want) {
		t.Errorf("chunks of %v ticks, expected %v", ticks, want)
	}
}

// TestRow76RecordingPlaysAgain is row 76 of docs/features.md: what was recorded is played
// again in another world, the same after every tick.
func TestRow76RecordingPlaysAgain(t *testing.T) {
	p := newPlay(t, 12, 5)
	file, want := record(t, p, 1500, 240)
	got, player, err := again(t, file)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d of %d ticks: %v", len(got), len(want), err)
	}
	if player.Compared < 1500/ChecksumEvery {
		t.Errorf("%d fingerprints compared", player.Compared)
	}
	kills := 0
	for _, id := range p.ids {
		if v := p.m.Vital(id); v != nil {
			kills += int(v.Kills)
		}
	}
	if kills < 5 {
		t.Errorf("%d kills: too peaceful to say anything", kills)
	}
}

// A recording may begin in the midst of a match, and every chunk can be played alone.
func TestRecordingSeeks(t *testing.T) {
	p := newPlay(t, 8, 9)
	for range 400 {
		p.step()
	}
	file, want := record(t, p, 700, 100)
	r, player, err := open(t, file)
	if err != nil {
		t.Fatal(err)
	}
	var chunks []*Chunk
	for c, err := r.Next(); err == nil; c, err = r.Next() {
		chunks = append(chunks, c)
	}
	if len(chunks) != 7 {
		t.Fatalf("%d chunks", len(chunks))
	}
	for _, i := range []int{5, 0, 6, 2} {
		if err := player.Load(chunks[i]); err != nil {
			t.Fatal(err)
		}
		for !player.Done() {
			if err := player.Step(); err != nil {
				t.Fatalf("chunk %d: %v", i, err)
			}
			if at := player.Match.Tick() - 401; player.Match.Hash() != want[at] {
				t.Fatalf("chunk %d, tick %d", i, player.Match.Tick())
			}
		}
	}
	bare := *chunks[4]
	bare.Key = nil
	if err := player.Load(&bare); !errors.Is(err, ErrGap) {
		t.Error(err)
	}
}

// TestRow74StopsAtTheFirstDivergence is row 74 for what is recorded: the tick is named, and the
// number that differs.
func TestRow74StopsAtTheFirstDivergence(t *testing.T) {
	p := newPlay(t, 6, 2)
	file, _ := record(t, p, 300, 120)
	r, player, err := open(t, file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Next()
	if err != nil || player.Load(c) != nil {
		t.Fatal(err)
	}
	for range 70 {
		if err := player.Step(); err != nil {
			t.Fatal(err)
		}
	}
	player.Match.Vital(p.ids[1]).Kills += 3 // what a cosmic ray does, or a map order
	for err == nil && !player.Done() {
		err = player.Step()
	}
	var d *Divergence
	if !errors.As(err, &d) || d.Tick != 90 || d.Since != 60 || d.What != "sim.Vital" {
		t.Errorf("%v", err)
	}
	// Between two chunks, where whole states can be compared, it is the very number.
	if _, player, err = open(t, file); err != nil || player.Load(c) != nil {
		t.Fatal(err)
	}
	for !player.Done() {
		if err := player.Step(); err != nil {
			t.Fatal(err)
		}
	}
	player.Match.Vital(p.ids[1]).Kills += 3
	c, _ = r.Next()
	if err = player.Load(c); !errors.As(err, &d) ||
		!strings.Contains(d.What, "sim.Vital.Kills of player 1.1: ") {
		t.Errorf("%v", err)
	}
}

// A command that is missing from a recording is a divergence, too.
func TestForgottenCommandDiverges(t *testing.T) {
	p := newPlay(t, 6, 2)
	rec, err := NewRecorder(p.m, 120, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := HeadOf(p.m, "arena-16", 120)
	file := h.Append(nil)
	for i := range 120 {
		p.step()
		if i == 80 {
			rec.inputs.Commands = rec.inputs.Commands[1:]
		}
		if c := rec.Tick(); c != nil {
			file = NewPacker().Append(file, c.Encode())
		}
	}
	_, _, err = again(t, file)
	var d *Divergence
	if !errors.As(err, &d) || d.Tick != 90 {
		t.Errorf("%v", err)
	}
}

// Truncated anywhere, a recording is played up to the last whole chunk, and the error says where it
// ends and what was expected.
func TestRecordingThatIsCut(t *testing.T) {
	file, want := record(t, newPlay(t, 4, 1), 200, 50)
	for n := 0; n < len(file); n += 1 + len(file)/60 {
		got, _, err := again(t, file[:n])
		if err != nil && (!errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "ends at byte") ||
			!strings.Contains(err.Error(), "expected")) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if len(got)%50 != 0 || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("%d bytes: %d ticks", n, len(got))
		}
	}
	got, _, err := again(t, file)
	if err != nil || len(got) != 200 {
		t.Fatal(len(got), err)
	}
	broken := slices.Clone(file)
	broken[len(broken)-100] ^= 4
	if got, _, err = again(t, broken); len(got) != 150 || err == nil || !strings.Contains(err.Error(),
		"checksum") {
		t.Error(len(got), err)
	}
}

// What was recorded with other rules is refused, and the error says which.
func TestRecordingOfOtherRules(t *testing.T) {
	file, _ := record(t, newPlay(t, 4, 1), 10, 50)
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	ground, _ := arena.Open("arena-16")
	if _, err := NewPlayer(&r.Head, sim.DefaultGame(), ground); !errors.Is(err, ErrRules) ||
		!strings.Contains(err.Error(), "mode deathmatch has content") {
		t.Error(err)
	}
	other, _ := arena.Open("arena-64")
	if _, err := NewPlayer(&r.Head, sim.DefaultGame(), other); !errors.Is(err, ErrRules) ||
		!strings.Contains(err.Error(), "map arena-16 has hash") {
		t.Error(err)
	}
}

// No tick allocates for its recording: not one with a state, nor with checksums, nor the first of a
// chunk; and none copies more than the columns of the match.
func TestRecorderAllocatesNothing(t *testing.T) {
	p := newPlay(t, 16, 4)
	for range 300 {
		p.step()
	}
	rec, err := NewRecorder(p.m, 60, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	chunks, copied, state := 0, 0, 0
	for i := range 900 {
		p.step()
		runtime.ReadMemStats(&before)
		raw := rec.Tick()
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > 0 && i > 300 { // lists of inputs have grown
			t.Errorf("tick %d: %d allocations", i, n)
		}
		if raw != nil {
			chunks++
			copied = max(copied, raw.CopiedBytes())
			state = max(state, len(raw.Encode().Key))
		}
	}
	if chunks != 15 || copied == 0 || copied > 16*1024 {
		t.Errorf("%d chunks; a tick copied up to %d bytes", chunks, copied)
	}
	t.Logf("a tick copies up to %d bytes for a state of %d", copied, state)
}

// A chunk that cannot be encoded in time is dropped and counted; the recording goes on with a
// state, and what is there plays.
func TestRecorderDropsWhatIsNotEncoded(t *testing.T) {
	p := newPlay(t, 6, 3)
	rec, err := NewRecorder(p.m, 20, 4)
	if err != nil {
		t.Fatal(err)
	}
	h := HeadOf(p.m, "arena-16", 20)
	var waiting []*RawChunk
	var firsts []int
	file := h.Append(nil)
	for i := range 300 {
		p.step()
		if raw := rec.Tick(); raw != nil {
			waiting = append(waiting, raw)
		}
		if i < 100 { // nothing is encoded for five chunks
			continue
		}
		for _, raw := range waiting {
			keyed, c := raw.HasKey(), raw.Encode()
			if (len(firsts) == 0 || firsts[len(firsts)-1]+20 != int(c.First)) && !keyed {
				t.Errorf("tick %d begins after a gap without a state", c.First)
			}
			firsts = append(firsts, int(c.First))
			file = NewPacker().Append(file, c)
		}
		waiting = waiting[:0]
	}
	if n := len(firsts); int(rec.Dropped()) == 0 || n+int(rec.Dropped()) != 15 {
		t.Errorf("%d chunks, %d dropped: %v", n, rec.Dropped(), firsts)
	}
	if hashes, _, err := again(t, file); err != nil || len(hashes) != 20*len(firsts) {
		t.Errorf("%d ticks played: %v", len(hashes), err)
	}
}

// A recording by a build with other components is refused, and the error names the component.
func TestRecordingOfOtherComponents(t *testing.T) {
	p := newPlay(t, 4, 1)
	file, _ := record(t, p, 10, 50)
	schema := sim.Schema()
	for i, c := range []struct{ schema, want string }{
		{schema + "drone|sim.Drone Next uint32\n", `unknown kind or part "drone", expected one of: player, `},
		{strings.Replace(schema, "|sim.Vital Health int16", "|sim.Vital Health int32", 1),
			`kind player: component sim.Vital: unknown column "Health int32", expected "Health int16"`},
		{schema[strings.Index(schema, "\n")+1:], `no kind or part "player"`},
	} {
		r, player, err := open(t, file)
		if err != nil || r.Head.Schema != schema {
			t.Fatalf("%v: %v", err, r.Head.Schema)
		}
		chunk, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		player.head.Schema = c.schema
		chunk.Key[1]++ // another layout
		if err := player.Load(chunk); !errors.Is(err, ErrRules) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, expected %q", i, err, c.want)
		}
	}
}

// A recording of an earlier version is refused with its version and the one that is read.
func TestRecordingOfOtherVersion(t *testing.T) {
	file, _ := record(t, newPlay(t, 4, 1), 10, 50)
	file[4] = 3
	if _, _, err := open(t, file); !errors.Is(err, ErrFormat) ||
		!strings.Contains(err.Error(), "version 3, expected 4") {
		t.Error(err)
	}
}

// FuzzRecording: whatever a recording says under right checksums, it ends, with an error or
// without.
func FuzzRecording(f *testing.F) {
	rec := newPlay(f, 4, 1)
	h := HeadOf(rec.m, "arena-16", 60)
	r, err := NewRecorder(rec.m, 60, 1)
	if err != nil {
		f.Fatal(err)
	}
	var raw *RawChunk
	for raw == nil {
		rec.step()
		raw = r.Tick()
	}
	chunk := raw.Encode()
	f.Add(uint16(1), byte(2), uint16(3), byte(4), true)
	f.Add(uint16(30), byte(200), uint16(300), byte(255), false)
	f.Fuzz(func(t *testing.T, at uint16, to byte, and uint16, too byte, key bool) {
		c := *chunk
		c.Log, c.Key = slices.Clone(c.Log), slices.Clone(c.Key)
		c.Log[int(at)%len(c.Log)] = to
		if key {
			c.Key[int(and)%len(c.Key)] = too
		} else {
			c.Log[int(and)%len(c.Log)] = too
		}
		var p *Packer
		file := p.Append(h.Append(nil), &c)
		_, _, err := again(t, file)
		var d *Divergence
		if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, sim.ErrState) &&
			!errors.As(err, &d) && !strings.Contains(err.Error(), "sim: replay:") {
			t.Fatal(err)
		}
		if len(file) > 40 {
			file[int(at)%len(file)] ^= to | 1
			_, _, _ = again(t, file)
		}
	})
}

// TestRecordingBeginsWithinAMatch: Approach takes its time and copies nothing that Start would not.
func TestRecordingBeginsWithinAMatch(t *testing.T) {
	p := newPlay(t, 16, 3)
	rec, err := NewRecorder(p.m, 60, 4)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Close(); !rec.Approach(p.m) {
		t.Error("a match that has just begun is not recorded at once")
	}
	for range 200 {
		p.step()
	}
	calls := 1
	for ; !rec.Approach(p.m); calls++ {
		p.step()
	}
	want, err := p.m.Save(nil)
	if err != nil || rec.Start(p.m) != nil {
		t.Fatal("cannot record", err)
	}
	p.step()
	rec.Tick()
	if got := rec.Close().Encode().Key; !bytes.Equal(got, want) || calls != approachTicks+1 {
		t.Errorf("after %d calls, a state of %d bytes, want after %d that of %d bytes", calls, len(got),
			approachTicks+1, len(want))
	}
}
