package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/tickrate/tickrate/internal/wholefile"
)

// errFull says that the folder has as many captures as it may have.
var errFull = errors.New("as many captures as allowed")

// prefix begins the name of each capture. While it is being written, a dot comes before it.
const prefix = "tick-"

// matchFile is the recording around the tick.
const matchFile = "match.tkr"

// write writes a capture into a folder of its own and returns its path. The folder has its name once
// it is whole.
func (r *Recorder) write(e *evidence) (path string, err error) {
	old, err := filepath.Glob(filepath.Join(r.cfg.Dir, prefix+"*"))
	if err != nil {
		return "", err
	}
	if len(old) >= r.cfg.Most {
		return "", errFull
	}
	name := fmt.Sprintf("%s%s-%d-lobby%s-%d", prefix, e.at.UTC().Format("20060102-150405"), os.Getpid(),
		e.about.Name, e.tick.Last)
	path = filepath.Join(r.cfg.Dir, name)
	return path, wholefile.Folder(path, func(dir string) error { return r.writeFiles(dir, e) })
}

// writeFiles writes the files of a capture: the trace first, before it forgets the tick.
func (r *Recorder) writeFiles(dir string, e *evidence) error {
	err := r.writeTrace(filepath.Join(dir, "trace.out"))
	marks, d := e.marks.all(), disturbances{r.pauses(), r.hiccups.all()}
	report := e.report(marks, d)
	if e.about.Recording != nil {
		if errMatch := e.about.Recording(e.tick.Last, filepath.Join(dir, matchFile)); errMatch != nil {
			report.Recording = errMatch.Error()
		}
	}
	var flags []string
	if find := r.cfg.ReplayFlags; find != nil {
		flags = find(e.about.Map, e.about.Content)
	}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	err = errors.Join(err, to.Encode(report))
	for name, data := range map[string][]byte{
		"tick.json": text.Bytes(), "README.txt": []byte(e.readme(&report, flags)),
		"trace.pftrace": e.timeline(marks, d),
	} {
		err = errors.Join(err, wholefile.Replace(filepath.Join(dir, name), 0o644, data))
	}
	return err
}

// writeTrace writes what the flight recorder has.
func (r *Recorder) writeTrace(path string) error {
	return wholefile.Publish(path, 0o644, os.Rename, func(w io.Writer) error {
		_, err := r.flight.WriteTo(w)
		return err
	})
}

// pauses are the newest pauses of the garbage collector, in which it stops all threads.
func (r *Recorder) pauses() (all []span) {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	for i, length := range stats.Pause {
		if i < len(stats.PauseEnd) {
			end := r.since() - time.Since(stats.PauseEnd[i])
			all = append(all, span{end - length, end})
		}
	}
	return all
}
