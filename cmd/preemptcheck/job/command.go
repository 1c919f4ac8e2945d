package job

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/preemptcheck/preemptcheck/internal/campaign/fleet"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/store"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
)

// New is the command.
func New() *cobra.Command {
	j := &Job{}
	var gates record.Gates
	var cpu, memory string
	cmd := &cobra.Command{
		Use:   "job --image IMAGE --out BUCKET",
		Short: "Print the manifests of a Kubernetes Job that runs a campaign on many machines",
		Long: `Job prints an Indexed Job whose pods share one campaign by a bucket, and a second Job
that waits for them, merges what they found, and writes the report there; with them
a ServiceAccount, a PriorityClass and a NetworkPolicy. They are for

    preemptcheck job … | kubectl apply -f -

A pod may be preempted, evicted or killed at any time: the next one of its index goes
on with the block of clusters that it had, and others take over what stays behind. A
finding is no failure. A pod that could not reach the bucket, or had too little memory,
is tried again; bad flags end the Job at once.

--shards is how many pods there are in all, --parallelism how many at once. With --for,
all of them together take that long: each takes its share.

The pods get their credentials from --secret, a Secret whose keys become environment
variables, or from the identity of their ServiceAccount: see --service-account-annotation.`,
		Example: `  preemptcheck job --image registry.example.com/preemptcheck:v1 --shards 500 --parallelism 100 --for 8h --out 's3://nights/today?region=eu-central-1' | kubectl apply -f -
  preemptcheck report 's3://nights/today?region=eu-central-1'`,
		Args: cobra.NoArgs,
	}
	set := cmd.Flags()
	set.StringVar(&j.Image, "image", "", "image of preemptcheck")
	cmd.MarkFlagRequired("image")
	set.StringVar(&j.Out, "out", "", "bucket to share the campaign by")
	cmd.MarkFlagRequired("out")
	set.StringVar(&j.Name, "name", "preemptcheck", "name of the Job, and of what belongs to it")
	set.StringVar(&j.Namespace, "namespace", "", "namespace of all (default that of kubectl)")
	set.IntVar(&j.Shards, "shards", 10, "how many pods in all")
	set.IntVar(&j.Parallelism, "parallelism", 0, "how many pods at once (default all)")
	flags.Limits(cmd, &j.For, "how long all pods together take", &j.Cases, "how many clusters in all")
	flags.Seed(cmd, &j.Seed)
	set.Uint64Var(&j.Block, "block", 0, "how many clusters to claim at once (default by --for: a block takes up to five minutes)")
	set.IntVar(&j.Workers, "workers", 1, "how many clusters each pod checks at once: so many CPUs")
	set.StringVar(&cpu, "cpu", "", "CPU to request for each pod (default that of its workers)")
	set.StringVar(&memory, "memory", "", "memory for each pod (default 700Mi, and 500Mi for each worker)")
	set.StringVar(&j.Secret, "secret", "", "Secret whose keys become environment variables, with the credentials for the bucket")
	set.StringToStringVar(&j.Annotations, "service-account-annotation", nil, "annotations of the ServiceAccount, by which a cloud gives it an identity")
	set.StringVar(&j.PullPolicy, "image-pull-policy", "", "imagePullPolicy: Always, IfNotPresent or Never")
	flags.Gates(cmd, &gates)
	flags.Config(cmd, &j.Configuration)
	set.StringArrayVar(&j.Flags, "flag", nil, "one more flag of fuzz for each pod, such as --relations=5")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		j.Gates = gates
		if err := j.check(cmd); err != nil {
			return err
		}
		if cpu == "" {
			cpu = fmt.Sprint(j.Workers)
		}
		if memory == "" {
			memory = fmt.Sprintf("%dMi", 700+500*j.Workers)
		}
		if j.CPU, err = resource.ParseQuantity(cpu); err != nil {
			return fmt.Errorf("--cpu: %w", err)
		}
		if j.Memory, err = resource.ParseQuantity(memory); err != nil {
			return fmt.Errorf("--memory: %w", err)
		}
		return j.Write(cmd.OutOrStdout())
	}
	return cmd
}

// check looks at what the flags say, and completes it.
func (j *Job) check(cmd *cobra.Command) error {
	if !address.IsBucket(j.Out) {
		return fmt.Errorf("--out: %q is no bucket: pods on many machines share no directory", j.Out)
	}
	s, err := store.Open(cmd.Context(), j.Out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	s.Close()
	if problems := validation.IsDNS1123Label(j.Name); len(problems) > 0 || len(j.Name) > 50 {
		return fmt.Errorf("--name: %q: it takes up to 50 small letters, digits and -", j.Name)
	}
	if j.Shards < 1 || j.Shards > 100_000 {
		return fmt.Errorf("--shards: %d: it takes 1 to 100000", j.Shards)
	}
	if j.Parallelism == 0 {
		j.Parallelism = j.Shards
	}
	if j.Parallelism < 1 {
		return fmt.Errorf("--parallelism: %d: it takes a positive number", j.Parallelism)
	}
	j.Parallelism = min(j.Parallelism, j.Shards)
	if j.Workers < 1 {
		return fmt.Errorf("--workers: %d: it takes a positive number", j.Workers)
	}
	if j.For == 0 && j.Cases == 0 {
		return errors.New("--for: how long? A Job has to end")
	}
	if j.Block == 0 {
		j.Block = blockFor(j)
	}
	if j.Block%fleet.MinBlock != 0 {
		return fmt.Errorf("--block: %d: it takes a multiple of %d", j.Block, fleet.MinBlock)
	}
	return nil
}

// perSecond is about how many clusters one worker checks: see docs/costs.md.
const perSecond = 500

// blockFor is how many clusters a pod claims at once: enough that it asks the bucket seldom, and so few that pods of unequal speed end
// within some hundredth of the time of each other.
func blockFor(j *Job) uint64 {
	share := j.share()
	if share == 0 { // as long as it takes to check the share of a pod
		share = time.Duration(j.Cases/uint64(j.Shards*j.Workers)) * time.Second / perSecond
	}
	seconds := min(max(share/50, 2*time.Second), 5*time.Minute).Seconds()
	blocks := uint64(seconds*perSecond*float64(j.Workers)) / fleet.MinBlock
	return max(blocks, 1) * fleet.MinBlock
}
