package figures

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hubcli/stress/bench"
)

// Data is what a run has measured.
type Data struct {
	Machine Machine       `json:"machine"`
	Took    time.Duration `json:"took_ns"`
	Bench   bench.Report  `json:"bench"`
	Proofs  []Proof       `json:"proofs"`
	Peers   *Proof        `json:"peers,omitempty"` // the hub beside other servers; nil: not measured
}

// Machine is where it was measured. What is not known is empty.
type Machine struct {
	Processor  string `json:"processor"`
	Processors int    `json:"processors"`
	MemoryMiB  int64  `json:"memory_mib"`
	System     string `json:"system"` // of the kernel
	Disk       string `json:"disk"`   // the file system of the stores
}

// Proof is what a program says that has looked for a broken promise and found none, or has
// compared.
type Proof struct {
	Name    string        `json:"name"`
	Command string        `json:"command"`
	Took    time.Duration `json:"took_ns"`
	Says    []string      `json:"says"` // lines
}

// Names of the files in the folder of the docs.
const (
	pageName = "figures.md"
	dataName = "figures/figures.json"
	plotName = "figures/ratios.svg"
)

// read reads the data that a run has left in the docs.
func read(docs string) (*Data, error) {
	text, err := os.ReadFile(filepath.Join(docs, dataName))
	if err != nil {
		return nil, err
	}
	d := &Data{}
	return d, json.Unmarshal(text, d)
}

// Again writes the page and the plot anew from the data in the docs.
func Again(docs string) error {
	d, err := read(docs)
	if err != nil {
		return err
	}
	return d.write(docs)
}

// replace puts the results and the proofs of a later run in the place of those that it has
// measured anew.
func (d *Data) replace(later *Data) {
	d.Bench.Time, d.Took = later.Bench.Time, d.Took+later.Took
	for _, r := range later.Bench.Results {
		at := slices.IndexFunc(d.Bench.Results, func(old bench.Result) bool { return old.Figure == r.Figure })
		if at < 0 {
			d.Bench.Results = append(d.Bench.Results, r)
		} else {
			d.Bench.Results[at] = r
		}
	}
	if later.Peers != nil {
		d.Peers = later.Peers
	}
	for _, p := range later.Proofs {
		d.Proofs = append(slices.DeleteFunc(d.Proofs, func(old Proof) bool { return old.Name == p.Name }), p)
	}
}

// files returns the page, the plot and the data, by their names in the docs.
func (d *Data) files() (map[string][]byte, error) {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return map[string][]byte{pageName: d.page(), plotName: d.plot(), dataName: append(data, '\n')}, nil
}

// write writes the files into the docs.
func (d *Data) write(docs string) error {
	files, err := d.files()
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(docs, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
