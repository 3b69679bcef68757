package bench

import "fmt"

// Meta says where and how results were made. An empty field comes from the file configuration of
// the results ("key: value" lines before the benchmarks, keys as named below); make bench-report
// writes them.
type Meta struct {
	CPU     string // model of the processor; key "cpu", which go test writes
	Cores   string // processors in use; key "cores"
	Kernel  string // operating system and its version; key "kernel"
	Go      string // version of Go; key "go"
	Commit  string // of the measured build; key "commit"
	Date    string // day of the runs, YYYY-MM-DD; key "date"
	Seed    string // of random draws in benchmarks; key "seed"
	Command string // that made the results; key "command"
}

// fields pairs the configuration keys with the fields, in the order in which the page shows them.
func (m *Meta) fields() []field {
	return []field{
		{"cpu", "processor", &m.CPU},
		{"cores", "cores", &m.Cores},
		{"kernel", "system", &m.Kernel},
		{"go", "Go", &m.Go},
		{"commit", "commit", &m.Commit},
		{"date", "date", &m.Date},
		{"seed", "seed", &m.Seed},
		{"command", "command", &m.Command},
	}
}

// field is one line of Meta.
type field struct {
	key, label string
	value      *string
}

// fill takes what m lacks from config.
func (m *Meta) fill(config func(key string) string) {
	for _, f := range m.fields() {
		if *f.value == "" {
			*f.value = config(f.key)
		}
	}
}

// write writes the list at the head of the page.
func (m *Meta) write(p *printer) {
	p.line("| | |", "|---|---|")
	for _, f := range m.fields() {
		v := *f.value
		switch {
		case v == "":
			v = "not recorded"
		case f.key == "command" || f.key == "commit":
			v = "`" + v + "`"
		}
		p.line(fmt.Sprintf("| %s | %s |", f.label, cell(v)))
	}
	p.line("")
}
