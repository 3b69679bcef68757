package agent

import (
	"fmt"
	"maps"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/meter"
)

// Report is what the players of one agent experienced. Times are nanoseconds.
type Report struct {
	Hists   [numHists][]byte `json:"histograms"` // as meter.Histogram.AppendBinary has them
	Sent    swarm.Sent       `json:"sent"`
	Delay   swarm.RunDelay   `json:"run_delay"`
	Account measure.Bytes    `json:"bytes"`

	BytesDown      uint64        `json:"bytes_down"`
	DatagramsDown  uint64        `json:"datagrams_down"`
	Mispredictions uint64        `json:"mispredictions"`
	Shots          uint64        `json:"shots"`
	Churned        uint64        `json:"churned"`
	Elapsed        time.Duration `json:"elapsed"`
	CPU            time.Duration `json:"cpu"`
	StartLate      time.Duration `json:"start_late"` // behind the common start, by the agent's clock
}

// Histograms of a Report.
const (
	histAge = iota
	histRTT
	histLate
	histPlayed
	histCorrected
	histHiccup
	numHists
)

// Limits of a report.
const (
	maxCells   = 4096
	maxPlayers = 1 << 15 // of one agent
	maxElapsed = 2 * time.Hour
	maxCount   = 1 << 48 // of anything
)

// newReport copies the figures of a swarm; hiccup are the wake-up delays of an idle thread.
func newReport(f *swarm.Figures, hiccup *meter.Histogram, startLate time.Duration) *Report {
	r := &Report{Sent: f.Sent, Delay: f.RunDelay, Account: *runner.Account(f), BytesDown: f.BytesDown,
		DatagramsDown: f.DatagramsDown, Mispredictions: f.Mispredictions, Shots: f.Shots, Churned: f.Churned,
		Elapsed: f.Elapsed, CPU: f.CPU, StartLate: startLate}
	r.Sent.LateOf = maps.Clone(f.Sent.LateOf) // the players play on
	for i, h := range hists(f, hiccup) {
		r.Hists[i] = h.AppendBinary(nil)
	}
	return r
}

// hists are the histograms in the order of a Report.
func hists(f *swarm.Figures, hiccup *meter.Histogram) [numHists]*meter.Histogram {
	return [numHists]*meter.Histogram{f.Age, f.RTT, f.Late, f.Played, f.StealCorrected, hiccup}
}

// Merged are figures of several agents as one swarm would have them, except: Elapsed is the mean,
// CPU that of the busiest agent, and the bit counts of the samples are in Account.
type Merged struct {
	Figures *swarm.Figures
	Account *measure.Bytes
	Hiccup  *meter.Histogram // wake-up delays of idle threads, of all agents
	agents  int
}

func newMerged() *Merged {
	fine := func() *meter.Histogram { return meter.NewHistogram(0, meter.Fine) }
	return &Merged{Account: new(measure.Bytes), Hiccup: fine(), Figures: &swarm.Figures{Age: fine(),
		RTT: fine(), Late: fine(), Played: fine(), StealCorrected: fine()}}
}

// add adds a report. One with figures that cannot be is refused with ErrReport; m is then of no use.
func (m *Merged) add(r *Report) error {
	if why := r.wrong(); why != "" {
		return fmt.Errorf("%w: %s", ErrReport, why)
	}
	f := m.Figures
	for i, h := range hists(f, m.Hiccup) {
		if err := h.AddBinary(r.Hists[i]); err != nil {
			return fmt.Errorf("%w: histogram %d: %w", ErrReport, i, err)
		}
	}
	f.Sent.Add(r.Sent)
	addDelay(&f.RunDelay, r.Delay, m.agents == 0)
	m.addBytes(&r.Account)
	f.BytesDown += r.BytesDown
	f.DatagramsDown += r.DatagramsDown
	f.Mispredictions += r.Mispredictions
	f.Shots += r.Shots
	f.Churned += r.Churned
	f.Sampled += r.Account.Clients
	f.Elapsed = (f.Elapsed*time.Duration(m.agents) + r.Elapsed) / time.Duration(m.agents+1)
	f.CPU = max(f.CPU, r.CPU)
	m.Account.Duration = measure.Span{Duration: f.Elapsed}
	m.agents++
	return nil
}

// wrong says what is out of range, "" if nothing is.
func (r *Report) wrong() string {
	for _, n := range []uint64{r.Sent.Ticks, r.Sent.LateTicks, r.Sent.Passes, r.Sent.LatePasses,
		r.Sent.ByBackup, r.Sent.Sends, r.Sent.BytesUp, r.BytesDown, r.DatagramsDown, r.Mispredictions, r.Shots,
		r.Churned, r.Delay.Bursts, r.Delay.LateWakes, r.Account.Datagrams, r.Account.Received} {
		if n > maxCount {
			return "a count above 2^48"
		}
	}
	late := uint64(0)
	for _, n := range r.Sent.LateOf {
		late += min(n, maxCount)
	}
	for _, d := range []time.Duration{r.Elapsed, r.CPU / 64, r.Delay.All, r.Delay.InBursts, r.Delay.Longest,
		r.Delay.Overslept, r.Delay.Stolen / 1024, r.StartLate} {
		if d < 0 || d > maxElapsed {
			return "a time below 0 or above two hours"
		}
	}
	switch {
	case r.Elapsed == 0:
		return "no time has passed"
	case r.Sent.LatePasses > r.Sent.Passes:
		return "more late passes than passes"
	case len(r.Sent.LateOf) > maxPlayers || late > r.Sent.LateTicks:
		return "more late ticks of single players than of all"
	case len(r.Account.Cells) > maxCells || r.Account.Clients < 0 || r.Account.Clients > 4096:
		return "bit counts of more than 4096 fields or clients"
	}
	for _, c := range r.Account.Cells {
		if c.Bits > maxCount || len(c.Component)+len(c.Field)+len(c.Reason) > 3*MaxName {
			return "a bit count above 2^48, or a long name"
		}
	}
	return ""
}

// addDelay adds the run delay of another agent; it is known where all know theirs.
func addDelay(a *swarm.RunDelay, b swarm.RunDelay, first bool) {
	a.Known, a.StolenKnown = (a.Known || first) && b.Known, (a.StolenKnown || first) && b.StolenKnown
	a.All += b.All
	a.Bursts += b.Bursts
	a.InBursts += b.InBursts
	a.Longest = max(a.Longest, b.Longest)
	a.LateWakes += b.LateWakes
	a.Overslept += b.Overslept
	a.Stolen += b.Stolen
}

// addBytes adds up the bit counts of samples, by field and reason.
func (m *Merged) addBytes(b *measure.Bytes) {
	a := m.Account
	a.Clients += b.Clients
	a.Datagrams += b.Datagrams
	a.Received += b.Received
	at := map[measure.Cell]int{}
	key := func(c measure.Cell) measure.Cell { c.Bits = 0; return c }
	for i, c := range a.Cells {
		at[key(c)] = i
	}
	for _, c := range b.Cells {
		i, ok := at[key(c)]
		if !ok && len(a.Cells) < maxCells {
			at[key(c)], i, ok = len(a.Cells), len(a.Cells), true
			a.Cells = append(a.Cells, key(c))
		}
		if ok {
			a.Cells[i].Bits += c.Bits
		}
	}
}
