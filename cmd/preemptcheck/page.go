package main

import (
	"io"

	"github.com/spf13/cobra"
)

// html is the format of pages.
const html = "html"

// concludePage writes a page. The error is the exit status, as that of format.conclude.
func concludePage(cmd *cobra.Command, write func(io.Writer) error, found, couldNot bool, problems ...error) error {
	if err := write(cmd.OutOrStdout()); err != nil {
		return err
	}
	return text.conclude(cmd, nil, func(io.Writer) {}, found, couldNot, problems...)
}
