package lists

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/preemptcheck/preemptcheck/internal/live"
)

// RBAC makes the command that prints what it takes to read a live cluster.
func RBAC() *cobra.Command {
	var namespace, account string
	cmd := &cobra.Command{
		Use:   "rbac",
		Short: "Print the role that it takes to read a live cluster",
		Long: `Rbac prints a service account, a cluster role, and their binding, for kubectl apply.
The role lets list the kinds that decisions of the scheduler depend on, and nothing
else: this program only reads. Secrets and config maps are not among them.

Of kinds that the role leaves out, the commands say what cannot be said without them.`,
		Example: `  preemptcheck rbac --service-account-namespace tools | kubectl apply -f -
  kubectl create clusterrolebinding me-preemptcheck --clusterrole preemptcheck --user me`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var printer printers.YAMLPrinter
			for _, object := range live.RBAC(namespace, account) {
				if err := printer.PrintObj(object, cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&namespace, "service-account-namespace", "default", "the namespace of the service account")
	cmd.Flags().StringVar(&account, "service-account", live.RoleName, "the name of the service account")
	return cmd
}
