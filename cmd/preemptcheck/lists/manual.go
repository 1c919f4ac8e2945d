package lists

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Manual makes the command that writes the manual from the commands themselves. It is for
// those who build releases, and for docs/cli.
func Manual(version string) *cobra.Command {
	var man, markdown string
	var date int64
	cmd := &cobra.Command{
		Use:    "manual",
		Short:  "Write man pages, or docs/cli",
		Args:   cobra.NoArgs,
		Hidden: true,
	}
	cmd.Flags().StringVar(&man, "man", "", "write man pages to this `DIR`")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write a page of Markdown for each command to this `DIR`")
	cmd.Flags().Int64Var(&date, "date", 0, "the date of man pages, in seconds since 1970")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if man == "" && markdown == "" {
			return errors.New("--man or --markdown: which of them?")
		}
		root := cmd.Root()
		root.DisableAutoGenTag = true // a date would differ each day
		if markdown != "" {
			if err := os.MkdirAll(markdown, 0o777); err != nil {
				return err
			}
			if err := doc.GenMarkdownTree(root, markdown); err != nil {
				return err
			}
		}
		if man == "" {
			return nil
		}
		if err := os.MkdirAll(man, 0o777); err != nil {
			return err
		}
		when := time.Unix(date, 0).UTC()
		return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: version, Manual: "preemptcheck", Date: &when}, man)
	}
	return cmd
}
