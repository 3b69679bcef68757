package packet

import (
	"errors"
	"time"
)

// Limits of transfers.
const (
	MaxTransfers        = 4                           // sent and not yet delivered
	MaxTransferSize     = fragmentSize * maxFragments // 256 KiB; the least is 1
	FragmentSectionSize = fragmentHead + fragmentSize // section of a whole fragment

	fragmentHead = 1 + 2 + 1 + 4
	fragmentSize = 1024
	maxFragments = 256
)

// A transfer without progress is given up: first by its sender, later by its receiver, so that the
// receiver drops none that still comes.
const (
	sendGiveUp    = 10 * time.Second
	receiveGiveUp = 20 * time.Second
)

// Errors of SendTransfer. They are about the caller, not about a packet.
var (
	ErrTransfersFull = errors.New("packet: 4 transfers are not delivered yet")
	ErrTransferSize  = errors.New("packet: a transfer has 1 to 262144 bytes")
)

// TransferStats counts a peer's outgoing transfers.
type TransferStats struct {
	Pending   int    // sent and not yet delivered
	Delivered uint64 // all fragments were acked
	GivenUp   uint64 // no fragment was acked for 10 s
}

// SendTransfer queues data that is too long for a packet. It travels in fragments, one per
// packet, each until it is acked. Transfers arrive whole, once and in order, or not at all. The
// data is not copied and must not change until it is delivered or given up; many peers may send
// the same. The other end must accept it, see Config.MaxTransfer. The error is ErrTransfersFull
// or ErrTransferSize.
func (p *Peer) SendTransfer(data []byte) error {
	if len(data) == 0 || len(data) > MaxTransferSize {
		return ErrTransferSize
	}
	if p.out.transfers == nil {
		p.out.transfers = new(transferSender)
	}
	return p.out.transfers.enqueue(data)
}

// Transfers returns the counts of outgoing transfers.
func (p *Peer) Transfers() TransferStats {
	b := p.out.transfers
	if b == nil {
		return TransferStats{}
	}
	return TransferStats{Pending: int(b.next - b.base), Delivered: b.done, GivenUp: b.givenUp}
}

// AppendFragment adds the next fragment that is due to the packet that Append began last, after
// its messages. A whole fragment needs a budget of FragmentSectionSize; none is ever cut smaller.
// It writes nothing when no fragment is due or fits, or the packet has one.
func (p *Peer) AppendFragment(dst []byte, budget int) []byte {
	if p.out.transfers == nil || p.out.newest == 0 {
		return dst
	}
	return p.out.transfers.append(dst, budget, &p.out.packets[p.out.newest%sendWindowSize], p.resendAfter())
}

// FragmentDue reports whether AppendFragment would write a fragment now, given room. It also
// gives up a transfer whose time is up.
func (p *Peer) FragmentDue(now time.Duration) bool {
	return p.out.transfers != nil && p.out.transfers.due(now, p.resendAfter())
}

// AcceptTransfers changes Config.MaxTransfer from the next packet on, for an end that accepts
// transfers only while it waits for some. The present transfer goes on if its size is within the
// limit. 0 drops the present transfer and its memory.
func (p *Peer) AcceptTransfers(limit int) {
	p.transferIn.limit = min(limit, MaxTransferSize)
	if limit == 0 {
		p.transferIn.drop()
	}
}

// TransferProgress returns how many bytes of the incoming transfer are here, and its size; 0 and
// 0 when there is none.
func (p *Peer) TransferProgress() (have, size int) {
	b := &p.transferIn
	size = int(b.size)
	return min(size, (fragmentCount(size)-b.left)*fragmentSize), size
}

// NextTransfer returns the transfer that the last packet completed. The slice is valid until the
// next Sections.
func (p *Peer) NextTransfer() ([]byte, bool) {
	if p.transferIn.done == 0 {
		return nil, false
	}
	n := p.transferIn.done
	p.transferIn.done = 0
	return p.transferIn.memory.data[:n], true
}

// fragmentCount returns the number of fragments of a transfer of size bytes.
func fragmentCount(size int) int { return (size + fragmentSize - 1) / fragmentSize }

// fragmentLen returns the length of fragment i of a transfer of size bytes.
func fragmentLen(size, i int) int { return min(fragmentSize, size-i*fragmentSize) }

// fragmentSet is a set of fragments.
type fragmentSet [maxFragments / 64]uint64

func (s *fragmentSet) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s *fragmentSet) add(i int)      { s[i>>6] |= 1 << (i & 63) }

// transferSender holds the transfers that are not delivered, by id modulo MaxTransfers. Only the
// oldest one, base, is sent; the others wait, so that a receiver needs memory for one.
type transferSender struct {
	base, next    uint64
	queue         [MaxTransfers][]byte
	done, givenUp uint64

	// Of base:
	started    bool
	progressAt time.Duration // when the newest packet that made progress was sent
	left       int           // fragments not acked
	first      int           // fragment to try first
	acked      fragmentSet
	at         [maxFragments]time.Duration // when each fragment was sent last
}

func (b *transferSender) enqueue(data []byte) error {
	if b.next-b.base == MaxTransfers {
		return ErrTransfersFull
	}
	b.queue[b.next%MaxTransfers] = data
	b.next++
	return nil
}

// finish counts the present transfer and turns to the next one.
func (b *transferSender) finish(count *uint64) {
	b.queue[b.base%MaxTransfers] = nil
	b.base++
	b.started = false
	*count++
}

func (b *transferSender) begin(now time.Duration) {
	b.started, b.progressAt, b.first, b.acked = true, now, 0, fragmentSet{}
	b.left = fragmentCount(len(b.queue[b.base%MaxTransfers]))
	for i := range b.left {
		b.at[i] = never
	}
}

// due reports whether a fragment is due, after giving up a transfer whose time is up.
func (b *transferSender) due(now, resendAfter time.Duration) bool {
	if b.started && now-b.progressAt > sendGiveUp {
		b.finish(&b.givenUp)
	}
	if b.base == b.next || !b.started {
		return b.base != b.next
	}
	for i := range fragmentCount(len(b.queue[b.base%MaxTransfers])) {
		if !b.acked.has(i) && now-b.at[i] >= resendAfter {
			return true
		}
	}
	return false
}

// append writes the next fragment that is due and records it in r.
//
//	1  section 5
//	2  transfer  counts transfers from 0; the low 16 bits
//	1  index     of the fragment
//	4  size      of the whole transfer
//	n  bytes     1024, fewer in the last fragment
func (b *transferSender) append(dst []byte, budget int, r *sentPacket, resendAfter time.Duration) []byte {
	if b.started && r.at-b.progressAt > sendGiveUp {
		b.finish(&b.givenUp)
	}
	if b.base == b.next || r.is(sentFragment) {
		return dst
	}
	if !b.started {
		b.begin(r.at)
	}
	data := b.queue[b.base%MaxTransfers]
	count := fragmentCount(len(data))
	for n := range count {
		i := (b.first + n) % count
		size := fragmentLen(len(data), i)
		if b.acked.has(i) || r.at-b.at[i] < resendAfter || fragmentHead+size > budget {
			continue
		}
		b.at[i], b.first = r.at, i+1
		r.transfer, r.fragment = uint16(b.base), uint8(i)
		r.state |= sentFragment
		dst = append(dst, byte(SectionFragment), byte(b.base), byte(b.base>>8), byte(i))
		dst = append(dst, byte(len(data)), byte(len(data)>>8), byte(len(data)>>16), byte(len(data)>>24))
		return append(dst, data[i*fragmentSize:][:size]...)
	}
	return dst
}

// delivered records that a packet with a fragment arrived.
func (b *transferSender) delivered(r *sentPacket) {
	i := int(r.fragment)
	if !b.started || r.transfer != uint16(b.base) || b.acked.has(i) {
		return
	}
	b.acked.add(i)
	b.progressAt = max(b.progressAt, r.at)
	if b.left--; b.left == 0 {
		b.finish(&b.done)
	}
}

// lost makes the fragment of a packet due at once, unless a later packet carries it.
func (b *transferSender) lost(r *sentPacket) {
	if i := int(r.fragment); b.started && r.transfer == uint16(b.base) && b.at[i] == r.at {
		b.at[i] = never
	}
}
