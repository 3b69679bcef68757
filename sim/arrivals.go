package sim

import "errors"

// Arrival says that a packet arrived after commands were made, so that their view did not include
// its snapshot.
type Arrival struct {
	Back uint8 // the packet, counted back from the newest that the header acknowledges, 0 to 64
	// the last command with a view that was made before it arrived, counted back from the newest of
	// the window
	Since uint8
}

// MaxArrivals is the most arrivals: all packets that a header can acknowledge.
const MaxArrivals = 65

// ErrArrivals reports bytes after a command window that are no list of arrivals.
var ErrArrivals = errors.New("command window is followed by something else than arrivals")

// AppendArrivals appends what follows a window of commands: the announced view delay, see
// lagcomp.ViewDelayTrack, and the packets that arrived after some of the commands with a view were
// made. The header in front lists what had arrived when the packet was sent; a repeated command
// was made before that. list is sorted by Back and not longer than MaxArrivals; an empty list
// writes only the delay.
//
//	8   delay, in half ticks
//	    then, if packets arrived:
//	8   count
//	    then for each:
//	8   back
//	8   since
func AppendArrivals(dst []byte, delay uint8, list []Arrival) []byte {
	dst = append(dst, delay)
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, byte(len(list)))
	for _, a := range list {
		dst = append(dst, a.Back, a.Since)
	}
	return dst
}

// ParseArrivals reads what AppendArrivals wrote after a window of n commands, all of src, into
// dst. If nothing follows the window, no delay is announced.
func ParseArrivals(src []byte, n int, dst *[MaxArrivals]Arrival) (delay uint8, announced bool,
	list []Arrival, err error) {
	if len(src) == 0 {
		return 0, false, nil, nil
	}
	delay, src = src[0], src[1:]
	if len(src) == 0 {
		return delay, true, nil, nil
	}
	count := int(src[0])
	if count == 0 || count > MaxArrivals || len(src) != 1+2*count {
		return 0, false, nil, ErrArrivals
	}
	for i := range count {
		a := Arrival{src[1+2*i], src[2+2*i]}
		if a.Back >= MaxArrivals || int(a.Since) >= n || i > 0 && a.Back <= dst[i-1].Back {
			return 0, false, nil, ErrArrivals
		}
		dst[i] = a
	}
	return delay, true, dst[:count], nil
}
