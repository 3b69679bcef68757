package packet

import (
	"errors"
	"time"
)

// Limits of blobs.
const (
	MaxTransfers        = 4                           // sent and not yet delivered
	MaxTransferSize     = fragmentSize * maxFragments // 256 KiB; the least is 1
	FragmentSectionSize = fragmentHead + fragmentSize // bytes of a package that a whole fragment takes

	fragmentHead = 1 + 2 + 1 + 4
	fragmentSize = 1024
	maxFragments = 256
)

// A blob of which nothing new arrived for so long is given up: first by its sender, later by its receiver, so that none is
// thrown away that still comes.
const (
	sendGiveUp    = 10 * time.Second
	receiveGiveUp = 20 * time.Second
)

// Errors of Peer.SendTransfer. They are about the caller, not about a package.
var (
	ErrTransfersFull = errors.New("packet: 4 blobs are not delivered yet")
	ErrTransferSize  = errors.New("packet: a blob has 1 to 262144 bytes")
)

// Transfers is how a peer's outgoing blobs fare.
type TransferStats struct {
	Pending   int    // sent and not yet delivered
	Delivered uint64 // of which all fragments were acked
	GivenUp   uint64 // of which no fragment was acked for 10 s
}

// SendTransfer takes something too long for a package: it is cut into fragments, which travel one a package, each until it is
// acked. TransferStats arrive whole, once and in order, or not at all. The data is not copied and must not change until it is
// delivered or given up; many peers may send the same. The other end must be willing, see Config.MaxTransfer. The error is ErrTransfersFull or
// ErrTransferSize.
func (p *Peer) SendTransfer(data []byte) error {
	if len(data) == 0 || len(data) > MaxTransferSize {
		return ErrTransferSize
	}
	if p.out.transfers == nil {
		p.out.transfers = new(transferSender)
	}
	return p.out.transfers.enqueue(data)
}

// Transfers returns how the blobs that were sent fare.
func (p *Peer) Transfers() TransferStats {
	b := p.out.transfers
	if b == nil {
		return TransferStats{}
	}
	return TransferStats{Pending: int(b.next - b.base), Delivered: b.done, GivenUp: b.givenUp}
}

// AppendFragment adds a Fragment section to the package that Append began last, in at most budget bytes: FragmentSectionSize for a
// whole one, and no fragment is ever cut smaller. It belongs behind events and notes. It adds nothing when none is due, does
// not fit, or the package has one.
func (p *Peer) AppendFragment(dst []byte, budget int) []byte {
	if p.out.transfers == nil || p.out.newest == 0 {
		return dst
	}
	return p.out.transfers.append(dst, budget, &p.out.packets[p.out.newest%sendWindowSize], p.resendAfter())
}

// FragmentDue reports whether AppendBlob would write something now, given room. It also gives up a blob whose time is up.
func (p *Peer) FragmentDue(now time.Duration) bool {
	return p.out.transfers != nil && p.out.transfers.due(now, p.resendAfter())
}

// AcceptTransfers changes what Config.MaxTransfer says, from the next package on; it is for an end that takes blobs only while it waits for
// some. What is under way goes on if its size is within the limit. 0 drops what there is of a blob, and its memory.
func (p *Peer) AcceptTransfers(limit int) {
	p.transferIn.limit = min(limit, MaxTransferSize)
	if limit == 0 {
		p.transferIn.drop()
	}
}

// TransferProgress is how much of the incoming blob is here, and its size, in bytes; 0 and 0 while none is under way.
func (p *Peer) TransferProgress() (have, size int) {
	b := &p.transferIn
	return min(b.size, (fragmentCount(b.size)-b.left)*fragmentSize), b.size
}

// NextTransfer returns the blob that the last package completed. It is the peer's memory, valid until the next Sections.
func (p *Peer) NextTransfer() ([]byte, bool) {
	if p.transferIn.done == 0 {
		return nil, false
	}
	n := p.transferIn.done
	p.transferIn.done = 0
	return p.transferIn.memory.data[:n], true
}

// fragmentCount is into how many a blob of so many bytes is cut: all of fragmentSize but the last.
func fragmentCount(size int) int { return (size + fragmentSize - 1) / fragmentSize }

// fragmentLen is the length of fragment i of a blob of so many bytes.
func fragmentLen(size, i int) int { return min(fragmentSize, size-i*fragmentSize) }

// fragmentSet is a set of fragments.
type fragmentSet [maxFragments / 64]uint64

func (s *fragmentSet) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s *fragmentSet) add(i int)      { s[i>>6] |= 1 << (i & 63) }

// transferSender holds the blobs that are not delivered, by id modulo MaxTransfers. Only the oldest, base, is under way: the others
// wait, so that a receiver needs memory for one.
type transferSender struct {
	base, next    uint64
	queue         [MaxTransfers][]byte
	done, givenUp uint64

	// Of base:
	started    bool
	progressAt time.Duration // when the newest package was sent that took it further, or it began
	left       int           // fragments not acked
	first      int           // where to look for the next one
	acked      fragmentSet
	at         [maxFragments]time.Duration // when each was sent last
}

func (b *transferSender) enqueue(data []byte) error {
	if b.next-b.base == MaxTransfers {
		return ErrTransfersFull
	}
	b.queue[b.next%MaxTransfers] = data
	b.next++
	return nil
}

// finish turns to the next blob.
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

// due reports whether a fragment is, after giving up a blob whose time is up.
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

// append writes the next fragment that is due and notes it in r, like outgoing.append.
//
//	1  section 5
//	2  blob    counts blobs from 0; the low 16 bits
//	1  index   of the fragment
//	4  size    of the whole blob
//	n  bytes   1024, fewer in the last fragment
func (b *transferSender) append(dst []byte, budget int, r *sentPacket, resendAfter time.Duration) []byte {
	if b.started && r.at-b.progressAt > sendGiveUp {
		b.finish(&b.givenUp)
	}
	if b.base == b.next || r.fragment != 0 {
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
		r.transfer, r.fragment = uint16(b.base), uint16(i+1)
		dst = append(dst, byte(SectionFragment), byte(b.base), byte(b.base>>8), byte(i))
		dst = append(dst, byte(len(data)), byte(len(data)>>8), byte(len(data)>>16), byte(len(data)>>24))
		return append(dst, data[i*fragmentSize:][:size]...)
	}
	return dst
}

// delivered notes that a package with a fragment arrived.
func (b *transferSender) delivered(r *sentPacket) {
	i := int(r.fragment) - 1
	if !b.started || r.transfer != uint16(b.base) || b.acked.has(i) {
		return
	}
	b.acked.add(i)
	b.progressAt = max(b.progressAt, r.at)
	if b.left--; b.left == 0 {
		b.finish(&b.done)
	}
}

// lost makes the fragment of a package due at once, unless a later package carries it already.
func (b *transferSender) lost(r *sentPacket) {
	if i := int(r.fragment) - 1; b.started && r.transfer == uint16(b.base) && b.at[i] == r.at {
		b.at[i] = never
	}
}
