package report

import (
	"fmt"

	"github.com/tickrate/tickrate/bench/measure"
)

// bytesTables is the section on what clients receive: bytes by component, field and reason.
type bytesTables struct {
	Note   string
	Tables []bytesTable
}

// bytesTable is one way to divide the received bytes.
type bytesTable struct {
	ID, Name, Unit string     // of the section in the page; title; what a row counts
	Rows           []bytesRow // largest first, at most mostRows and the rest
}

// bytesRow is one part with the length of its bar.
type bytesRow struct {
	measure.Share
	Bar float64 // percent of the longest
}

// mostRows is the most rows of a table of bytes; one more row sums up the rest.
const mostRows = 12

// traffic makes the tables of the step at the knee, none if that has no account.
func traffic(p Plan) bytesTables {
	s, ok := p.Accounted()
	if !ok {
		return bytesTables{}
	}
	b := s.Bytes
	at := "With"
	if s.Pass && s.Players == p.Nearest() {
		at = "Nearest to the knee, with"
	}
	proof := fmt.Sprintf("which add up to the %s bytes that their sockets gave, bit by bit",
		count(b.Received))
	if err := b.Check(); err != nil {
		proof = "but " + err.Error()
	}
	sampled := "a sample of one client"
	if b.Clients != 1 {
		sampled = "a sample of " + count(b.Clients) + " clients"
	}
	t := bytesTables{Note: fmt.Sprintf("%s %s players, "+
		"each client received %s B/s in %s datagrams a second. "+
		"The figures are those of %s, %s. "+
		"UDP and IPv4 take another %d B a datagram, %s B/s; UDP and IPv6 %d B.", at, count(s.Players),
		number(b.PerSecond()), number(b.DatagramsPerSecond()),
		sampled, proof, measure.OverIPv4, number(measure.OverIPv4*b.DatagramsPerSecond()), measure.OverIPv6)}
	for _, table := range []struct {
		id, name, unit string
		shares         []measure.Share
	}{
		{"component", "By component", "what a datagram consists of", b.Components()},
		{"field", "By field", "or, of what is no field's, by reason", b.Names()},
		{"reason", "By reason", "of all components", b.By(func(c measure.Cell) string { return c.Reason })},
	} {
		t.Tables = append(t.Tables, bytesTable{table.id, table.name, table.unit, bytesRows(table.shares)})
	}
	return t
}

// bytesRows takes the largest shares and sums up the others.
func bytesRows(shares []measure.Share) (all []bytesRow) {
	rest := measure.Share{Name: fmt.Sprintf("%d others", len(shares)-mostRows)}
	for i, s := range shares {
		if i >= mostRows && len(shares) > mostRows+1 {
			rest.PerSecond += s.PerSecond
			rest.Percent += s.Percent
			continue
		}
		all = append(all, bytesRow{s, 100 * s.Percent / shares[0].Percent})
	}
	if rest.Percent > 0 {
		all = append(all, bytesRow{rest, min(100, 100*rest.Percent/shares[0].Percent)})
	}
	return all
}

// codecRow is one codec in the table that compares them.
type codecRow struct {
	measure.Codec
	Bytes, Time float64 // percent of the first
}

// codecs makes the table of codecs, nil if they were not compared.
func codecs(p Plan) (all []codecRow) {
	if p.Codecs == nil {
		return nil
	}
	for i, c := range p.Codecs.Each {
		bytes, time := p.Codecs.Against(i)
		all = append(all, codecRow{c, bytes, time})
	}
	return all
}

// light returns p without the parts that the page's script does not read.
func light(p Plan) Plan {
	p.Steps = append([]measure.Step{}, p.Steps...)
	for i := range p.Steps {
		p.Steps[i].Bytes = nil
	}
	return p
}
