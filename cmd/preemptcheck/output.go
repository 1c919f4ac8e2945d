package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// format is the value of -o.
type format string

const text format = "text"

// formatFlag is the flag -o of a command, which knows some formats.
type formatFlag struct {
	*format
	known []string
}

func (f formatFlag) String() string { return string(*f.format) }
func (formatFlag) Type() string     { return "format" }

func (f formatFlag) Set(s string) error {
	if !slices.Contains(f.known, s) {
		return fmt.Errorf("must be %s", f.usage())
	}
	*f.format = format(s)
	return nil
}

func (f formatFlag) usage() string {
	last := len(f.known) - 1
	return strings.Join(f.known[:last], ", ") + " or " + f.known[last]
}

// outputFlag adds -o to a command, which may know more than the formats of all.
func outputFlag(cmd *cobra.Command, f *format, more ...string) {
	*f = text
	flag := formatFlag{f, append([]string{"text", "json", "yaml"}, more...)}
	cmd.Flags().VarP(flag, "output", "o", flag.usage())
}

// print writes data as JSON or YAML, or calls asText for people.
func (f format) print(w io.Writer, data any, asText func(io.Writer)) error {
	switch f {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(data)
	case "yaml":
		out, err := yaml.Marshal(data)
		if err == nil {
			_, err = w.Write(out)
		}
		return err
	}
	asText(w)
	return nil
}
