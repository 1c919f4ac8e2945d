package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// format is the value of -o.
type format string

const text format = "text"

func (f *format) String() string { return string(*f) }
func (*format) Type() string     { return "format" }

func (f *format) Set(s string) error {
	switch s {
	case "text", "json", "yaml":
		*f = format(s)
		return nil
	}
	return fmt.Errorf("must be text, json or yaml")
}

func outputFlag(cmd *cobra.Command, f *format) {
	*f = text
	cmd.Flags().VarP(f, "output", "o", "text, json or yaml")
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
