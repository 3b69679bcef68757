package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tickrate/tickrate/internal/wholefile"
)

// The files of a report.
const (
	PageFile  = "index.html"
	PlanFile  = "plan.json"
	BenchFile = "bench.txt"
)

// Write writes the three files of a report into dir, which it makes if need be. Files of an earlier
// report are replaced one by one, each in one step; a plan may be written again after every
// measurement.
func Write(dir string, p Plan) error {
	p = p.Clean()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer, Plan) error
	}{
		{PlanFile, WriteJSON},
		{BenchFile, WriteBench},
		{PageFile, WritePage},
	} {
		var whole bytes.Buffer
		if err := file.write(&whole, p); err != nil {
			return fmt.Errorf("write report %s: %w", file.name, err)
		}
		if err := wholefile.Replace(filepath.Join(dir, file.name), 0o644, whole.Bytes()); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

// WriteJSON writes plan.json.
func WriteJSON(w io.Writer, p Plan) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(p.Clean())
}
