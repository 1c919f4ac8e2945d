// Package record keeps what a campaign has done, and tells of it.
package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/moby/sys/atomicwriter"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/shell"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// Config is what a campaign checks, and with what. It stays the same however
// often the campaign is interrupted.
type Config struct {
	// Seed and Shard say which clusters: see numbers.
	Seed  uint64 `json:"seed"`
	Shard Shard  `json:"shard"`
	// Reference names the scheduler, Version the whole program.
	Reference string `json:"reference"`
	Version   string `json:"version"`
	// Outside says that it has plugins which are not Kubernetes' own, so that there is no model of it, but for a plugin that
	// is Modelled.
	Outside  bool   `json:"outside,omitempty"`
	Modelled string `json:"modelled,omitempty"`
	// Relations is how many of the metamorphic relations are checked of each
	// cluster.
	Relations int `json:"relations"`
	// Filters is of how many clusters one is drawn to ask its filters one by one.
	Filters int `json:"filters,omitempty"`
	// Contracts is of how many clusters one is drawn to check the contract of its plugins: of those named in Plugins, with commas
	// between them; "" is all. With PluginsAlone, that is all that is checked besides the cycle itself.
	Contracts    int    `json:"contracts,omitempty"`
	Plugins      string `json:"plugins,omitempty"`
	PluginsAlone bool   `json:"pluginsAlone,omitempty"`
	// Timelines is besides how many of 100 clusters a timeline is run.
	Timelines int `json:"timelines,omitempty"`
	// FeatureGates are those that the scheduler has in all clusters: Gates.
	FeatureGates Gates `json:"featureGates,omitempty"`
	// Configuration is the scheduler's in all clusters, as JSON; "" is none. ConfigurationFile is where it
	// was read from.
	Configuration     string `json:"configuration,omitempty"`
	ConfigurationFile string `json:"configurationFile,omitempty"`
	// Command is how this program is called, up to the name of a subcommand:
	// "preemptcheck", or "preemptcheck --kubernetes DIR".
	Command string `json:"command"`
	// Flags are those that the subcommands need to run the same scheduler:
	// "--reference v1.31.0", or none for the one linked in.
	Flags string `json:"flags,omitempty"`
}

// Subcommand is the start of a command line that runs the same scheduler.
func (c *Config) Subcommand(name string) string {
	line := cmp.Or(c.Command, "preemptcheck") + " " + name
	if c.Flags != "" {
		line += " " + c.Flags
	}
	return line
}

// Drawn are the flags by which generate makes the same clusters of the same numbers, given the gates.
func (c *Config) Drawn(gates Gates) string {
	flags := gates.Flag()
	if c.ConfigurationFile != "" {
		flags += " --config " + shell.Quote(c.ConfigurationFile)
	}
	return flags
}

// Same tells whether two campaigns check the same with the same program.
func (c Config) Same(other Config) bool {
	c.ConfigurationFile, other.ConfigurationFile = "", "" // what is in it counts
	return c == other
}

// State is all that a campaign has done. It is kept in one file, which is always
// replaced as a whole: whatever a campaign did after it was last written is done
// again, with the same result, when the campaign is resumed.
type State struct {
	Config Config `json:"config"`
	// Parts are the campaigns that this one was merged from, if it was.
	Parts []Part `json:"parts,omitempty"`
	// Next is the number, within the shard, of the next cluster to check.
	Next uint64 `json:"next"`
	// Stats counts the clusters checked, Errors those that could not be.
	Stats  probe.Stats `json:"stats"`
	Errors int         `json:"errors"`
	Causes
	Canary Canary `json:"canary"`
	// Sessions are the runs of the campaign: more than one if it was resumed.
	Sessions []Session `json:"sessions"`
	// Samples show how fast and how large it was over time, oldest first.
	Samples []Sample `json:"samples"`
	// Examples are files, by plugin, with small clusters in which it is not monotone.
	Examples map[string]string `json:"examples,omitempty"`
	// Deaths counts worker processes that crashed or got stuck.
	Deaths int `json:"deaths,omitempty"`
}

// Causes is what became of suspects.
type Causes struct {
	// Findings that are not in the ledger, each once, in the order in which they
	// were found.
	Findings []*Finding `json:"findings"`
	// Kinds is by fingerprint.Presort, Repeats by fingerprint.
	Kinds   map[string]*Kind    `json:"kinds,omitempty"`
	Repeats map[string]*Repeats `json:"barren,omitempty"`
}

// Finding is a broken promise that no entry of the ledger explains.
type Finding struct {
	Identity fingerprint.Identity `json:"identity"`
	// Explanation is one sentence; Detail is what properties.Finding says.
	Explanation string `json:"explanation"`
	Detail      string `json:"detail"`
	// Stack holds the functions on the way to it, if it is a crash.
	Stack []string `json:"stack,omitempty"`
	// Number is the first cluster that showed it: "generate --seed --first".
	// Seed is the seed of that cluster.
	Seed   uint64 `json:"seed"`
	Number uint64 `json:"number"`
	// Timeline: it is the timeline of that number that showed it.
	Timeline bool `json:"timeline,omitempty"`
	// Count is how many clusters, or timelines, showed it, as far as that was looked
	// at: see Kind.
	Count int `json:"count"`
	// FoundAfter is the seconds that the campaign had run when the suspect was
	// seen; Clusters is how many clusters had been checked by then.
	FoundAfter float64 `json:"foundAfterSeconds"`
	Clusters   int     `json:"clusters"`
	// Minimised tells how the cluster became small.
	Minimised Minimised `json:"minimised"`
	// Case is the YAML of the minimised case, File where it was saved: the name
	// of a file in the campaign's directory, or "" if that is still to be done.
	Case string `json:"case"`
	File string `json:"file"`
}

// Minimised tells how a cluster was made small.
type Minimised struct {
	From, To minimize.Size
	Checks   int     `json:"checks"`
	Seconds  float64 `json:"seconds"`
	// Minimal: no single further step keeps the finding.
	Minimal bool `json:"minimal"`
	// Why is why it was not made small: "" if it was.
	Why string `json:"why,omitempty"`
}

// Way says in words how far minimising came.
func (m *Minimised) Way() string {
	way := "not minimised"
	switch {
	case m.Minimal:
		return "minimised"
	case m.To != m.From:
		way = "made smaller, not minimised"
	}
	if m.Why != "" {
		way += ": " + m.Why
	}
	return way
}

// Kind counts suspects that look alike before they are minimised. Of many, only
// some are minimised: the others count for the finding that the last of those
// turned out to be.
type Kind struct {
	Count     int `json:"count"`
	Minimised int `json:"minimised"`
	// Finding is an index of Findings.
	Finding int `json:"finding"`
}

// Repeats counts suspects with one fingerprint that were minimised to what was
// found before.
type Repeats struct {
	// Looks counts them since the last that was new, Passed those that were not
	// minimised any more for that.
	Looks  int `json:"looks"`
	Passed int `json:"passed"`
	// Finding is the last that came out.
	Finding int `json:"finding"`
}

// Canary is how the campaign checks itself: now and then it checks a cluster once
// more with a scheduler that lies, and must find that out.
type Canary struct {
	// Lies counts them, Caught those that the differential noticed.
	Lies   int `json:"sung"`
	Caught int `json:"caught"`
	// Causes is what the lies were minimised to: it must be one finding.
	Causes
	// Lives are the lies about timelines. They are not minimised.
	Lives Lies `json:"lives,omitzero"`
}

// Lies counts lies, and those that were noticed.
type Lies struct {
	Lies   int `json:"sung"`
	Caught int `json:"caught"`
}

// Add counts others, too.
func (l *Lies) Add(other Lies) {
	l.Lies += other.Lies
	l.Caught += other.Caught
}

// Session is one run of a campaign.
type Session struct {
	Started    time.Time `json:"started"`
	Seconds    float64   `json:"seconds"`
	CPUSeconds float64   `json:"cpuSeconds"` // of all processes; 0 if not known
	Clusters   int       `json:"clusters"`
	Workers    int       `json:"workers"`
}

// Sample is a look at a campaign under way.
type Sample struct {
	// Seconds, and Clusters, since the start of the campaign, over all sessions.
	Seconds  float64 `json:"seconds"`
	Clusters int     `json:"clusters"`
	// CPUSeconds is of all processes, since the start of the campaign; 0 if not
	// known.
	CPUSeconds float64 `json:"cpuSeconds"`
	// PerSecond and PerCPUSecond are the clusters per second since the sample
	// before. The second does not depend on what else the machine does.
	PerSecond    float64 `json:"perSecond"`
	PerCPUSecond float64 `json:"perCPUSecond"`
	// Memory is the resident bytes of all processes; 0 if not known.
	Memory int64 `json:"memory"`
}

// Part is a campaign that was merged into another.
type Part struct {
	Dir      string `json:"dir"`
	Seed     uint64 `json:"seed"`
	Shard    Shard  `json:"shard"`
	Next     uint64 `json:"next"`
	Clusters int    `json:"clusters"`
}

// Seconds is how long the campaign ran in all sessions.
func (s *State) Seconds() float64 {
	total := 0.0
	for _, session := range s.Sessions {
		total += session.Seconds
	}
	return total
}

// StateFile holds the State in a campaign's directory. It is JSON, but its name
// does not end so: the directory can be read as a directory of cases.
const StateFile = "campaign.state"

// Load reads the state of the campaign in a directory. The error is an
// fs.ErrNotExist if there is none.
func Load(dir string) (*State, error) {
	file := filepath.Join(dir, StateFile)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no campaign in it: %w", dir, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return Decode(data, file)
}

// Decode reads a state from what a file of that name holds.
func Decode(data []byte, file string) (*State, error) {
	s := &State{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Save replaces the state in a directory, so that a crash at any time leaves the
// old one or the new one.
func (s *State) Save(dir string) error {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return atomicwriter.WriteFile(filepath.Join(dir, StateFile), data, 0o644)
}
