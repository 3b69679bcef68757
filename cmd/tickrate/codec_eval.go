// The command codec eval: trains the codecs on traces, runs them on another, and prints size and
// time. The measuring itself is in bench/codeceval.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/codeceval"
	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/schema"
)

// evalFlags are the flags of codec eval.
type evalFlags struct {
	train  []string // files of traces
	test   string   // file of the trace to judge by
	delay  int      // age of the acknowledged snapshot, in snapshots; 0 for 100 ms
	pose   string   // quantization steps of recorded human play, as itr.ParsePose reads them
	hz     int      // snapshots a second of recorded human play
	codecs []string // names in schema.Codecs
	json   bool
}

// newCodecEval returns the command that compares codecs on recorded snapshots.
func newCodecEval() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval",
		Short: "Train snapshot codecs on traces and judge them on another",
		Long: `eval trains the models and dictionaries of lobbies on one or more entity-state
traces (.itr) and codes another one with every codec that a lobby can have: each
snapshot against those that are at least --delay snapshots old, decoded from the
decoder's own memory, and compared. Some are also coded against nothing, as for a
client that joins: bytes/first. Schemas come from the heads of the traces; rows
of more than 12 fields are cut into parts. Averages begin at snapshot 4*delay+2.
Recorded human play (.csv, .csv.gz) is read as poses when --pose says how fine.`,
		Example: `  tickrate codec eval --train lobby_16_train.itr --test lobby_64_train.itr --delay 2
  tickrate codec eval --train duel.csv.gz --test match.csv.gz --pose 1cm,0.1deg --hz 20 --delay 2 --json`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return evaluate(c, f) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.train, "train", nil,
		"trace `file` to train on; may be given more than once (required)")
	fl.StringVar(&f.test, "test", "", "trace `file` to judge by (required)")
	fl.IntVar(&f.delay, "delay", 0, "age of the newest acknowledged snapshot, in `snapshots`; 0 means "+
		"100 ms, or the oldest that a lobby has baselines for")
	fl.StringVar(&f.pose, "pose", "", "read recorded human play in these `steps` of position and "+
		"angle, such as 1cm,0.1deg; default none: it is not read")
	fl.IntVar(&f.hz, "hz", 20, "`snapshots` a second of recorded human play")
	fl.StringSliceVar(&f.codecs, "codec", codecNames(), "`codecs` to judge")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// evaluation is the output of codec eval --json.
type evaluation struct {
	Train      []string                   `json:"train"` // files
	Test       string                     `json:"test"`
	Delay      int                        `json:"delay"`       // snapshots
	Entities   int                        `json:"entities"`    // rows of a snapshot
	Fields     int                        `json:"fields"`      // columns of a row
	ModelBytes int                        `json:"model_bytes"` // of the trained model, no dictionaries
	Codecs     map[string]codeceval.Score `json:"codecs"`      // by name
}

// evaluate runs the codecs of f on its trace and prints sizes and times, as a table or as JSON.
func evaluate(c *cobra.Command, f evalFlags) error {
	switch {
	case len(f.train) == 0:
		return usage.Errorf("nothing to train on: give --train")
	case f.test == "":
		return usage.Errorf("nothing to judge by: give --test")
	case f.delay < 0 || f.delay > codeceval.MaxDelay:
		return usage.Errorf("--delay %d: expected 0 to %d snapshots", f.delay, codeceval.MaxDelay)
	}
	for _, name := range f.codecs {
		if _, err := schema.ParseCodec(name); err != nil {
			return usage.Errorf("--%w", err)
		}
	}
	var train []*itr.Trace
	for _, path := range f.train {
		t, err := f.open(path)
		if err != nil {
			return err
		}
		train = append(train, t)
	}
	test, err := f.open(f.test)
	if err != nil {
		return err
	}
	if err := codeceval.Comparable(train[0], test); err != nil {
		return err
	}
	out := evaluation{Train: f.train, Test: f.test, Delay: f.delay,
		Entities: test.Entities, Fields: len(test.Fields), Codecs: map[string]codeceval.Score{}}
	// The models learn at the delay at which they are judged.
	if out.Delay == 0 {
		out.Delay = codeceval.DefaultDelay(test)
	}
	model, err := codeceval.Train(train, out.Delay)
	if err != nil {
		return err
	}
	out.ModelBytes = model.Bytes(schema.Huffman)
	trial := codeceval.Trial{Model: model, Trace: test, Delay: out.Delay}
	for _, name := range f.codecs {
		if err := c.Context().Err(); err != nil {
			return err
		}
		codec, err := schema.ParseCodec(name)
		if err != nil {
			return err
		}
		if out.Codecs[name], err = trial.Run(codec); err != nil {
			return err
		}
	}
	if f.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(out)
	}
	return printEvaluation(c, out, f.codecs)
}

// open reads a trace of either kind. A missing file is an error of use.
func (f evalFlags) open(path string) (*itr.Trace, error) {
	t, err := f.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = usage.Error(err)
	}
	return t, err
}

// read reads an entity-state trace (.itr), or recorded human play (.csv, .csv.gz), which it samples
// at f.hz and rounds to the steps of f.pose.
func (f evalFlags) read(path string) (*itr.Trace, error) {
	if !strings.HasSuffix(path, ".csv") && !strings.HasSuffix(path, ".csv.gz") {
		return itr.Open(path)
	}
	if f.pose == "" {
		return nil, usage.Errorf("%s: say with --pose how fine to read it, such as 1cm,0.1deg", path)
	}
	p, err := itr.ParsePose(f.pose)
	if err != nil {
		return nil, usage.Errorf("--pose: %w", err)
	}
	if p.Hz = f.hz; p.Hz < 1 || p.Hz > 1000 {
		return nil, usage.Errorf("--hz %d: expected 1 to 1000", f.hz)
	}
	return itr.OpenPose(path, p)
}

// codecNames lists the codecs of lobbies.
func codecNames() (names []string) {
	for c := range schema.Codecs {
		names = append(names, c.String())
	}
	return names
}

// printEvaluation prints the scores as a table with a line for each codec in names.
func printEvaluation(c *cobra.Command, out evaluation, names []string) error {
	w := c.OutOrStdout()
	fmt.Fprintf(w,
		"%s: %d entities of %d fields, acknowledged %d snapshots late, model of %d bytes trained on %s\n\n",
		out.Test, out.Entities, out.Fields, out.Delay, out.ModelBytes, strings.Join(out.Train, ", "))
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "codec\tbytes/snapshot\tbits/entity\tbytes/first\tmodel bytes\t"+
		"encode ns/entity\tdecode ns/entity\tverified\t")
	for _, name := range names {
		s := out.Codecs[name]
		fmt.Fprintf(t, "%s\t%.1f\t%.2f\t%.0f\t%d\t%.0f\t%.0f\t%d\t\n", name, s.BytesPerSnapshot,
			s.BitsPerEntity, s.FirstBytes, s.ModelBytes, s.EncodeNsPerEntity, s.DecodeNsPerEntity, s.Verified)
	}
	return t.Flush()
}
