package client

import (
	"fmt"

	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// appendNews puts news into words. Points have the letters that maps give them, in the order in which they are attacked.
func appendNews(dst []byte, n *sim.RoundEvent) []byte {
	switch point := 'A' + rune(n.Point); n.What {
	case mode.WaitForPlayers:
		return fmt.Appendf(dst, "the round waits for %d more", n.Value)
	case mode.CountdownBegan:
		return fmt.Appendf(dst, "the round begins in %d s", n.Value)
	case mode.RoundBegan:
		return fmt.Appendf(dst, "the round has begun: %d:%02d", n.Value/60, n.Value%60)
	case mode.PointAttacked:
		return fmt.Appendf(dst, "point %c is attacked", point)
	case mode.PointCaptured:
		return fmt.Appendf(dst, "point %c is captured, %d to go", point, n.Value)
	case mode.RoundWon:
		return fmt.Appendf(dst, "team %d has won the round", n.Team+1)
	case mode.RoundTied:
		return append(dst, "the round is a tie"...)
	}
	return dst
}

// announced keeps what was announced for NextNews, and puts it between the lines.
func (c *Client) announced(n sim.RoundEvent) {
	c.rounds.add(n)
	if !c.cfg.Thin {
		c.reads = true
		c.talk.add(Line{Kind: LineNews, News: n})
	}
}
