package session

import "time"

// bucketDepth is what an idle Bucket saves up, in time.
const bucketDepth = 100 * time.Millisecond

// Bucket limits bytes a second: a token bucket of a tenth of a second that may go into debt. Whoever may send sends whole
// what he has, and then waits until it is paid for. So in any time t at most
//
//	bytesPerSecond * (t + 0.1 s) + the longest that was sent at once
//
// is sent, and who always has something to send comes as near to the rate as he likes. The zero value limits nothing.
type Bucket struct {
	rate int64         // bytes a second; 0: any
	paid time.Duration // when all that was sent is paid for
}

// NewBucket returns a full bucket for a rate; 0 limits nothing.
func NewBucket(now time.Duration, bytesPerSecond int) Bucket {
	return Bucket{rate: int64(bytesPerSecond), paid: now - bucketDepth}
}

// SetRate changes the rate from now on; a debt stays as long as it was.
func (b *Bucket) SetRate(bytesPerSecond int) { b.rate = int64(bytesPerSecond) }

// Ready reports whether something may be sent now.
func (b *Bucket) Ready(now time.Duration) bool { return b.rate == 0 || b.paid <= now }

// Take pays for n bytes sent now.
func (b *Bucket) Take(now time.Duration, n int) {
	if b.rate == 0 {
		return
	}
	b.paid = max(b.paid, now-bucketDepth) + time.Duration((int64(n)*int64(time.Second)+b.rate-1)/b.rate)
}

// Room is how many bytes may be sent now so that they are paid for within a time, and of what was saved up at most a quarter more
// than that time gives: who sends so much each time comes near to the rate in even shares. It is negative in debt that lasts
// longer. 0 for a bucket that limits nothing.
func (b *Bucket) Room(now, within time.Duration) int {
	free := now + within - max(b.paid, now-bucketDepth)
	return int(int64(min(free, within+within/4)) * b.rate / int64(time.Second))
}

// Rate is the limit in bytes a second, 0 for none.
func (b *Bucket) Rate() int { return int(b.rate) }
