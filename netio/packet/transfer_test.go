package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// transferPair is a pair whose client takes transfers of up to limit bytes.
func transferPair(limit int) (server, client *Peer) {
	server, _ = pair()
	return server, NewPeer(0, Config{MaxTransfer: limit})
}

func noise(seed uint64, n int) []byte {
	r, b := rand.New(rand.NewPCG(seed, 1)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// transferLink runs both ends at 60 Hz over links, with fragments on the way down, until quit
// returns true.
type transferLink struct {
	t              *testing.T
	server, client *Peer
	down, up       *link
	now            time.Duration
	fragments      int // appended
	got            [][]byte
	mute           bool // nothing comes back
}

// newTransferLink returns a pair whose client takes transfers of up to limit bytes. Its links have
// the profile of path and seeds of their own.
func newTransferLink(t *testing.T, limit int, seed uint64, path link) *transferLink {
	c := &transferLink{t: t, down: newLink(seed), up: newLink(seed + 1000)}
	c.server, c.client = transferPair(limit)
	for _, l := range []*link{c.down, c.up} {
		l.loss, l.dup, l.delay, l.jitter = path.loss, path.dup, path.delay, path.jitter
	}
	return c
}

func (c *transferLink) step() {
	c.now += 16 * time.Millisecond
	if c.server.CanSend(c.now) {
		d, _ := c.server.Append(c.now, nil)
		d = c.server.AppendReliable(d, 100)
		n := len(d)
		if d = c.server.AppendFragment(d, FragmentSectionSize); len(d) > n {
			c.fragments++
		}
		if len(d) > MaxPacketSize || len(d)-n > FragmentSectionSize {
			c.t.Fatalf("a packet of %d bytes, %d of a fragment", len(d), len(d)-n)
		}
		c.down.push(c.now, d)
	}
	d, _ := c.client.Append(c.now, nil)
	c.up.push(c.now, d)
	for f, ok := c.down.pop(c.now); ok; f, ok = c.down.pop(c.now) {
		payload, err := c.client.Receive(c.now, f.data)
		if err != nil {
			continue
		}
		if rest, err := c.client.Sections(payload); err != nil || len(rest) != 0 {
			c.t.Fatalf("%x: %v", payload, err)
		}
		drain(c.client, func([]byte) {})
		if b, ok := c.client.NextTransfer(); ok {
			c.got = append(c.got, bytes.Clone(b))
		}
	}
	for f, ok := c.up.pop(c.now); ok; f, ok = c.up.pop(c.now) {
		if !c.mute {
			_, _ = c.server.Receive(c.now, f.data)
		}
	}
}

// Transfers of all critical sizes arrive whole, once and in order over any link. Only fragments
// that were lost or late are sent again.
func TestRow24TransfersSurviveTheLink(t *testing.T) {
	sizes := []int{1, 1023, 1024, 1025, 20_352, 23_000, 100_000, 2048, MaxTransferSize}
	for i, c := range []struct {
		name string
		path link
		most float64 // fragments sent for each of the transfer
	}{
		0: {"clean", link{delay: ms(20)}, 1},
		1: {"30 % loss", link{loss: .3, dup: .1, delay: ms(40), jitter: ms(10)}, 1.75},
		2: {"reordered and doubled", link{dup: .5, delay: ms(100), jitter: ms(100)}, 1.5},
		3: {"all at once", link{loss: .2, dup: .3, delay: ms(80), jitter: ms(80)}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newTransferLink(t, MaxTransferSize, uint64(i), c.path)
			var want [][]byte
			need := 0
			for len(l.got) < len(sizes) {
				for n := len(want); n < len(sizes) && l.server.Transfers().Pending < MaxTransfers; n++ {
					want = append(want, noise(uint64(n), sizes[n]))
					need += fragmentCount(sizes[n])
					if err := l.server.SendTransfer(want[n]); err != nil {
						t.Fatal(err)
					}
				}
				if l.step(); l.now > 5*time.Minute {
					t.Fatalf("%d of %d transfers after %v", len(l.got), len(sizes), l.now)
				}
			}
			for range 100 {
				l.step()
			}
			for n := range want {
				if !bytes.Equal(l.got[n], want[n]) {
					t.Fatalf("transfer %d of %d bytes came as %d others", n, len(want[n]), len(l.got[n]))
				}
			}
			if s := l.server.Transfers(); len(l.got) != len(want) ||
				s != (TransferStats{Delivered: uint64(len(want))}) {
				t.Errorf("%d of %d transfers came, %+v", len(l.got), len(want), s)
			}
			t.Logf("%d fragments sent of %d", l.fragments, need)
			if float64(l.fragments) > c.most*float64(need) {
				t.Errorf("%d fragments sent of %d", l.fragments, need)
			}
		})
	}
}

// A transfer whose receiver is silent is given up after 10 s, and the next one drops its
// fragments. A receiver whose sender is silent frees the memory after 20 s, and late fragments do
// not restore it.
func TestRow24TransfersTimeOut(t *testing.T) {
	l := newTransferLink(t, MaxTransferSize, 1, link{delay: ms(10)})
	first, second := noise(1, 50_000), noise(2, 30_000)
	for _, b := range [][]byte{first, second} {
		if err := l.server.SendTransfer(b); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		l.step()
	}
	l.mute = true
	for dead := l.now; l.now < dead+15*time.Second; {
		l.step()
	}
	if s := l.server.Transfers(); s.GivenUp != 1 || s.Pending != 1 {
		t.Fatalf("after 15 s without an ack %+v", s)
	}
	l.mute = false
	for heard := l.now; l.now < heard+10*time.Second; {
		l.step()
	}
	if s := l.server.Transfers(); s != (TransferStats{Delivered: 1, GivenUp: 1}) ||
		!bytes.Equal(l.got[len(l.got)-1], second) {
		t.Fatalf("%+v, %d came", s, len(l.got))
	}

	_, client := transferPair(MaxTransferSize)
	now, seq := time.Duration(0), uint16(0)
	say := func(section ...byte) error {
		now, seq = now+time.Second, seq+1
		h := Header{Sequence: seq}
		payload, err := client.Receive(now, append(h.Append(nil), section...))
		if err == nil && len(payload) > 0 {
			_, err = client.Sections(payload)
		}
		return err
	}
	piece := func(id uint16, i int, size int) []byte {
		b := binary.LittleEndian.AppendUint16([]byte{5}, id)
		b = binary.LittleEndian.AppendUint32(append(b, byte(i)), uint32(size))
		return append(b, make([]byte, fragmentLen(size, i))...)
	}
	if err := say(piece(0, 0, 3000)...); err != nil || client.transferIn.memory == nil {
		t.Fatal(err)
	}
	for n := range 21 {
		if (client.transferIn.memory == nil) != (n > 20) {
			t.Fatalf("%d s after the fragment: memory %v", n, client.transferIn.memory != nil)
		}
		_ = say()
	}
	for _, i := range []int{1, 2, 0} {
		if err := say(piece(0, i, 3000)...); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := client.NextTransfer(); ok || client.transferIn.incomplete != 1 ||
		client.transferIn.memory != nil {
		t.Fatal("a transfer that was given up came back")
	}
	if err := say(piece(1, 0, 9)...); err != nil {
		t.Fatal(err)
	}
	if b, ok := client.NextTransfer(); !ok || len(b) != 9 {
		t.Fatalf("the next transfer: %v, %d bytes", ok, len(b))
	}
}

// Any fragments are refused or stay within the memory limit of the receiver.
func TestRow24MaliciousFragmentsAreBounded(t *testing.T) {
	const limit = 5000
	piece := func(id uint16, i byte, size uint32, n int) []byte {
		b := append(binary.LittleEndian.AppendUint16([]byte{5}, id), i)
		return append(binary.LittleEndian.AppendUint32(b, size), make([]byte, n)...)
	}
	for i, c := range []struct {
		name    string
		section []byte
		rest    int
		want    error
	}{
		0:  {"nothing", nil, 0, DropFragment},
		1:  {"section only", []byte{5}, 0, DropFragment},
		2:  {"another section", append([]byte{4}, piece(0, 0, 3, 3)[1:]...), 0, DropFragment},
		3:  {"a head", piece(0, 0, 3, 0), 0, DropFragment},
		4:  {"a byte short", piece(0, 0, 3, 2), 0, DropFragment},
		5:  {"whole", piece(0, 0, 3, 3), 0, nil},
		6:  {"whole and a rest", piece(0, 0, 3, 5), 2, nil},
		7:  {"size 0", piece(0, 0, 0, 9), 0, DropFragment},
		8:  {"as large as allowed", piece(0, 4, limit, limit-4096), 0, nil},
		9:  {"a byte larger", piece(0, 0, limit+1, 1024), 0, DropFragment},
		10: {"4 GB", piece(0, 0, 1<<32-1, 1024), 0, DropFragment},
		11: {"index behind the end", piece(0, 5, limit, 1024), 0, DropFragment},
		12: {"index 255", piece(0, 255, limit, 1024), 0, DropFragment},
		13: {"a short one in the middle", piece(0, 1, limit, 1000), 0, DropFragment},
		14: {"an old transfer", piece(65535, 0, 3, 3), 0, nil},
		15: {"a transfer far ahead", piece(32767, 0, 3, 3), 0, nil},
	} {
		_, p := transferPair(limit)
		rest, err := p.transferIn.parse(0, c.section)
		if err != c.want || len(rest) != c.rest {
			t.Errorf("%d %s: rest %d, %v; want %d, %v", i, c.name, len(rest), err, c.rest, c.want)
		}
		if err != nil && (p.transferIn.memory != nil || p.transferIn.size != 0) {
			t.Errorf("%d %s: refused, but it left a trace", i, c.name)
		}
		_, none := pair()
		if _, err := none.transferIn.parse(0, c.section); err != DropFragment ||
			none.transferIn.memory != nil {
			t.Errorf("%d %s: %v at one who takes no transfers", i, c.name, err)
		}
	}
	_, p := transferPair(limit)
	for _, s := range [][]byte{piece(0, 0, 3000, 1024), piece(0, 0, 3001, 1024)} {
		_, _ = p.transferIn.parse(0, s)
	}
	if _, err := p.transferIn.parse(0, piece(0, 1, 3001, 1024)); err != DropFragment ||
		p.transferIn.size != 3000 {
		t.Errorf("another size in the middle: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100_000 { // a flood of beginnings
		size := 1 + rng.Uint32N(limit)
		_, _ = p.transferIn.parse(0, piece(uint16(rng.Uint32()), byte(rng.IntN(5)), size, 1024))
		if n := cap(p.transferIn.memory.data); n > limit {
			t.Fatalf("%d bytes of memory, the limit is %d", n, limit)
		}
	}
}

// The schema of a message goes by hash in the handshake. What must go in full, a schema or a
// model that the other end does not have, is a transfer: it is sent until it is acked, again when
// it is lost, and not one byte of it after that.
func TestRow22SchemaSentUntilAcked(t *testing.T) {
	l := newTransferLink(t, 1000, 1, link{delay: ms(20)})
	schema := noise(3, 700)
	if err := l.server.SendTransfer(schema); err != nil {
		t.Fatal(err)
	}
	l.down.loss = 1
	for range 30 { // half a second in which everything is lost
		l.step()
	}
	if l.fragments < 2 || len(l.got) != 0 {
		t.Fatalf("sent %d times while all was lost", l.fragments)
	}
	l.down.loss = 0
	for l.server.Transfers().Delivered == 0 {
		if l.step(); l.now > 10*time.Second {
			t.Fatal("never acked")
		}
	}
	sent := l.fragments
	for range 300 {
		l.step()
	}
	if len(l.got) != 1 || !bytes.Equal(l.got[0], schema) || l.fragments != sent {
		t.Fatalf("came %d times, %d fragments after it was acked", len(l.got), l.fragments-sent)
	}
}

// A slow transfer is not given up while it moves, however long it takes.
func TestRow24SlowTransferArrives(t *testing.T) {
	server, client := transferPair(MaxTransferSize)
	transfer, got := noise(1, MaxTransferSize), false
	if err := server.SendTransfer(transfer); err != nil {
		t.Fatal(err)
	}
	now := time.Duration(0)
	for ; now < time.Minute && !got; now += 100 * time.Millisecond {
		d, _ := server.Append(now, nil)
		payload, err := client.Receive(now, server.AppendFragment(d, FragmentSectionSize))
		if _, err2 := client.Sections(payload); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		b, done := client.NextTransfer()
		got = done && bytes.Equal(b, transfer)
		d, _ = client.Append(now, nil)
		if _, err := server.Receive(now, d); err != nil {
			t.Fatal(err)
		}
	}
	if !got || now < 25*time.Second || server.Transfers() != (TransferStats{Delivered: 1}) {
		t.Fatalf("after %v: came %v, %+v", now, got, server.Transfers())
	}
}

// A fragment whose packet is lost is due at once, but not if a later packet carries it already.
func TestLostFragmentIsDue(t *testing.T) {
	for _, again := range []bool{false, true} {
		server, client := transferPair(1000)
		if err := server.SendTransfer(noise(1, 100)); err != nil {
			t.Fatal(err)
		}
		server.Append(0, nil)
		server.AppendFragment(nil, FragmentSectionSize) // lost
		second := 251 * time.Millisecond
		if again {
			server.Append(second, nil) // on its way for longer than the next
			if len(server.AppendFragment(nil, FragmentSectionSize)) == 0 {
				t.Fatal("not due when the ack is overdue")
			}
		}
		d, _ := server.Append(second, nil)
		if _, err := client.Receive(second, d); err != nil {
			t.Fatal(err)
		}
		a, _ := client.Append(second, nil)
		if _, err := server.Receive(second, a); err != nil {
			t.Fatal(err)
		}
		if at := server.out.transfers.at[0]; again && at != second || !again && at != never {
			t.Errorf("sent again %v: due at %v", again, at)
		}
	}
}

func TestSendTransferBounds(t *testing.T) {
	p, _ := pair()
	if p.Transfers() != (TransferStats{}) || p.AppendFragment(nil, 2000) != nil {
		t.Error("transfers before the first")
	}
	for i, c := range []struct {
		size int
		want error
	}{{0, ErrTransferSize}, {MaxTransferSize + 1, ErrTransferSize}, {MaxTransferSize, nil}, {1, nil},
		{1, nil}, {1, nil}, {1, ErrTransfersFull}} {
		if err := p.SendTransfer(make([]byte, c.size)); err != c.want {
			t.Errorf("%d: transfer of %d bytes: %v, want %v", i, c.size, err, c.want)
		}
	}
	if p.AppendFragment(nil, 2000) != nil {
		t.Error("a fragment before the first packet")
	}
	p.Append(0, nil)
	for i, c := range []struct{ budget, want int }{{FragmentSectionSize - 1, 0},
		{FragmentSectionSize, FragmentSectionSize}, {5000, 0}} {
		if got := p.AppendFragment(nil, c.budget); len(got) != c.want {
			t.Errorf("%d: budget %d: %d bytes, want %d", i, c.budget, len(got), c.want)
		}
	}
}

func TestTransferAllocatesNothing(t *testing.T) {
	server, client := transferPair(MaxTransferSize)
	transfer := noise(1, 40_000)
	up, down := make([]byte, 0, MaxPacketSize), make([]byte, 0, MaxPacketSize)
	now, got := time.Duration(0), 0
	round := func() {
		now += 16 * time.Millisecond
		if server.Transfers().Pending == 0 {
			_ = server.SendTransfer(transfer)
		}
		_ = server.QueueUnreliable(transfer[:9])
		down, _ = server.Append(now, down[:0])
		down = server.AppendUnreliable(down, 100)
		down = server.AppendFragment(down, FragmentSectionSize)
		payload, _ := client.Receive(now, down)
		_, _ = client.Sections(payload)
		for _, ok := client.NextUnreliable(); ok; _, ok = client.NextUnreliable() {
		}
		if b, ok := client.NextTransfer(); ok && bytes.Equal(b, transfer) {
			got++
		}
		up, _ = client.Append(now, up[:0])
		_, _ = server.Receive(now, up)
	}
	for range 100 {
		round()
	}
	if n := alloctest.In(400, round); n != 0 || got < 10 {
		t.Errorf("%v allocations, %d transfers came", n, got)
	}
}

// A receiver with a complete transfer accepts no more of it, skips fragments that still arrive, and
// keeps none of its memory. A sender reports whether it has fragments to send.
func TestTakeTransfers(t *testing.T) {
	server, client := transferPair(0)
	transfer := noise(5, 2500)
	if server.FragmentDue(0) || server.SendTransfer(transfer) != nil || !server.FragmentDue(0) {
		t.Fatal("due without a transfer, or not with one")
	}
	now := time.Duration(0)
	send := func() (pkt []byte) {
		now += 16 * time.Millisecond
		pkt, _ = server.Append(now, nil)
		return server.AppendFragment(pkt, FragmentSectionSize)
	}
	hear := func(pkt []byte) error {
		sections, err := client.Receive(now, pkt)
		if err == nil {
			_, err = client.Sections(sections)
		}
		return err
	}
	if err := hear(send()); err != DropFragment {
		t.Errorf("unasked: %v", err)
	}
	client.AcceptTransfers(len(transfer))
	second, third := send(), send()
	if server.FragmentDue(now) {
		t.Error("all are under way, and one is due")
	}
	if hear(second) != nil || hear(third) != nil {
		t.Fatal("not taken")
	}
	if have, size := client.TransferProgress(); have != 2048 || size != 2500 {
		t.Errorf("%d of %d bytes", have, size)
	}
	now += 300 * time.Millisecond
	if !server.FragmentDue(now) {
		t.Error("nobody has acked, and nothing is due")
	}
	if err := hear(send()); err != nil {
		t.Fatal(err)
	}
	if got, ok := client.NextTransfer(); !ok || !bytes.Equal(got, transfer) {
		t.Fatalf("%d bytes, %v", len(got), ok)
	}
	client.AcceptTransfers(0)
	if have, size := client.TransferProgress(); have != 0 || size != 0 || client.transferIn.memory != nil {
		t.Errorf("%d of %d bytes remain, memory %v", have, size, client.transferIn.memory)
	}
	now += 300 * time.Millisecond
	if err := hear(send()); err != nil {
		t.Errorf("a late copy: %v", err)
	}
	_ = server.SendTransfer(transfer)
	for now += 11 * time.Second; server.Transfers().GivenUp == 0; now += time.Second {
		server.FragmentDue(now)
		if now > time.Minute {
			t.Fatal("nobody hears, and it is not given up")
		}
	}
	client.AcceptTransfers(3000)
	half, _ := server.Append(now, nil)
	if hear(server.AppendFragment(half, FragmentSectionSize)) != nil {
		t.Fatal("not taken")
	}
	client.AcceptTransfers(0)
	if client.transferIn.memory != nil || client.transferIn.incomplete != 1 {
		t.Errorf("half a transfer remains: %+v", client.transferIn)
	}
}

// slowTransfers is the slow twin of transferReceiver: all fragments by transfer.
type slowTransfers struct {
	limit, id, size int
	seen            map[int][]byte
}

func (q *slowTransfers) parse(src []byte) (rest, transfer []byte, ok bool) {
	if len(src) < 9 || src[0] != 5 {
		return nil, nil, false
	}
	ahead := int(int16(binary.LittleEndian.Uint16(src[1:]) - uint16(q.id)))
	i, size := int(src[3]), int(binary.LittleEndian.Uint32(src[4:]))
	limit := q.limit
	if ahead < 0 && -ahead <= q.id {
		limit = 262144 // it was taken once
	}
	if size < 1 || size > limit || i*1024 >= size {
		return nil, nil, false
	}
	n := min(size-i*1024, 1024)
	if len(src)-8 < n {
		return nil, nil, false
	}
	piece, rest := src[8:8+n], src[8+n:]
	switch {
	case ahead < 0:
		return rest, nil, true
	case ahead == 0 && len(q.seen) > 0 && size != q.size:
		return nil, nil, false
	case ahead > 0:
		q.id, q.seen = q.id+ahead, map[int][]byte{}
	}
	q.size = size
	if _, have := q.seen[i]; !have {
		q.seen[i] = bytes.Clone(piece)
	}
	sum := 0
	for _, p := range q.seen {
		sum += len(p)
	}
	if sum < size {
		return rest, nil, true
	}
	for k := 0; k*1024 < size; k++ {
		transfer = append(transfer, q.seen[k]...)
	}
	q.id, q.seen = q.id+1, map[int][]byte{}
	return rest, transfer, true
}

// Any bytes as fragments: result, rest and transfers equal the twin's, within the memory limit.
// The first two bytes choose the limit; the bytes of a fragment follow from its head, so that the
// fuzzer need not find thousands.
func FuzzFragments(f *testing.F) {
	f.Add(uint16(3000), []byte{0, 0, 0, 3, 0, 0, 0})
	f.Add(uint16(3000), []byte{0, 0, 0, 184, 11, 0, 0, 0, 0, 1, 184, 11, 0, 0, 0, 0, 2, 184, 11, 0, 0})
	f.Add(uint16(3000), []byte{0, 0, 2, 184, 11, 0, 0, 1, 0, 0, 5, 0, 0, 0, 0, 0, 0, 184, 11, 0, 0})
	f.Add(uint16(9000), []byte{0, 0, 1, 1, 4, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0, 1, 4, 0, 0, 1, 0, 0, 1, 4,
		0, 0})
	f.Add(uint16(3000), []byte{0, 0, 0, 184, 11, 0, 0, 0, 0, 0, 184, 11, 0, 0, 0, 0, 1, 184, 11, 0, 0, 0, 0,
		2, 184, 11, 0, 0})
	f.Add(uint16(0), []byte{0, 0, 0, 1, 0, 0, 0})
	f.Add(uint16(9000), []byte{255, 127, 0, 1, 0, 0, 0, 255, 255, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, limit uint16, heads []byte) {
		fast := transferReceiver{limit: int(limit)}
		slow := slowTransfers{limit: int(limit), seen: map[int][]byte{}}
		for n := 0; len(heads) > 0; n++ {
			head := heads[:min(7, len(heads))]
			heads = heads[len(head):]
			src := append([]byte{5}, head...)
			if len(head) == 7 {
				size := int(binary.LittleEndian.Uint32(head[3:]))
				src = append(src, noise(uint64(n), max(0, min(1024, size-int(head[2])*1024)))...)
				src = append(src, head[:n%3]...)
			}
			rest, err := fast.parse(0, src)
			want, transfer, ok := slow.parse(src)
			if ok != (err == nil) || !bytes.Equal(rest, want) {
				t.Fatalf("%x: rest %x, %v; the twin says %x, %v", src, rest, err, want, ok)
			}
			if int(fast.done) != len(transfer) ||
				fast.done > 0 && !bytes.Equal(fast.memory.data[:fast.done], transfer) {
				t.Fatalf("%x: a transfer of %d bytes, the twin has %d", src, fast.done, len(transfer))
			}
			if fast.memory != nil && cap(fast.memory.data) > int(limit) {
				t.Fatalf("%d bytes of memory, the limit is %d", cap(fast.memory.data), limit)
			}
			fast.done = 0
		}
	})
}
