package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/model"
)

// Write writes the case as a YAML stream that reads back as the same case; it
// fails if it cannot. Equal cases give equal text. Values that reading fills in
// again are left out when that makes no difference. Slashes and dots in the name,
// as the cases of a dump have them, become dashes. A case of a dump that does not hold all that its preemptor depends on cannot be written: a
// case is taken to hold it.
func (c *Case) Write(w io.Writer) error {
	if c.Cluster != nil && len(c.Cluster.NotGiven) > 0 {
		return fmt.Errorf("writing case %s: a case has to hold all that its preemptor depends on: %w", c.Name, model.Unmodelled(c.Cluster.NotGiven))
	}
	named := *c
	named.Name = fileName(c.Name)
	full, err := named.render(false)
	if err != nil {
		return err
	}
	terse, err := named.render(true)
	if err != nil {
		return err
	}
	for _, text := range [][]byte{terse, full} {
		var again []byte
		var s *Stream
		if s, err = Read(bytes.NewReader(text), "the text written"); err != nil {
			continue
		}
		if again, err = s.Cases[0].render(false); err != nil {
			return err
		}
		if bytes.Equal(again, full) {
			_, err = w.Write(text)
			return err
		}
		err = errors.New("it reads back as another case; was its cluster admitted?")
	}
	return fmt.Errorf("writing case %s: %w", c.Name, err)
}

// fileName makes a name of a case, or of a pod, one that a case may have.
func fileName(name string) string {
	name = strings.NewReplacer("/", "-", ".", "-").Replace(name)
	return name[:min(len(name), maxNameLength)]
}

// render writes the case, without the values that reading fills in if terse.
func (c *Case) render(terse bool) ([]byte, error) {
	if c.Timeline == nil && (c.Cluster == nil || c.Cluster.PreemptorKey() == "") {
		return nil, fmt.Errorf("writing case %s: it has no preemptor", c.Name)
	}
	var buf bytes.Buffer
	out := manifest.NewWriter(&buf)
	put := func(apiVersion, kind string, object any) error {
		if err := out.Write(apiVersion, kind, object); err != nil {
			return fmt.Errorf("writing case %s: %w", c.Name, err)
		}
		return nil
	}
	var err error
	if c.Timeline != nil {
		err = put(APIVersion, TimelineKind, c.timelineDocument())
	} else {
		err = put(APIVersion, Kind, c.document())
	}
	if err != nil {
		return nil, err
	}
	for _, object := range c.objects() {
		if err := writeObject(out, object, terse); err != nil {
			return nil, fmt.Errorf("writing case %s: %w", c.Name, err)
		}
	}
	return buf.Bytes(), out.Close()
}

// objects lists the cluster's objects in the order in which they are written.
func (c *Case) objects() []kruntime.Object {
	q := c.Cluster
	var last []kruntime.Object
	if c.Timeline != nil {
		last = c.createdLater()
	} else if q.Preemptor != nil {
		last = []kruntime.Object{q.Preemptor}
	}
	return append(objectsOf(q), last...)
}

// document is the Case document of the case.
func (c *Case) document() *document {
	d := &document{
		Name:        c.Name,
		Description: c.Description,
		Origin:      c.Origin,
		Finding:     c.Finding,
		Preemptor:   c.Cluster.PreemptorKey(),
		Expect:      c.Expect,
		Findings:    c.Findings,
		Stack:       c.Stack,
	}
	if s := c.Cluster.Settings; !reflect.ValueOf(s).IsZero() {
		d.Scheduler = &s
	}
	return d
}

// noImage is the image that reading gives to a container without one
// (internal/apiserver).
const noImage = "registry.invalid/none"

// dropDefaults takes out of a pod or node what reading fills in for most of them.
// Where it would not, Write notices and leaves everything in.
func dropDefaults(object kruntime.Object) {
	switch o := object.(type) {
	case *v1.Node:
		if reflect.DeepEqual(o.Status.Capacity, o.Status.Allocatable) {
			o.Status.Capacity = nil
		}
	case *v1.Pod:
		s := &o.Spec
		drop(&s.RestartPolicy, v1.RestartPolicyAlways)
		drop(&s.DNSPolicy, v1.DNSClusterFirst)
		drop(&s.SchedulerName, v1.DefaultSchedulerName)
		dropPointer(&s.TerminationGracePeriodSeconds, v1.DefaultTerminationGracePeriodSeconds)
		dropPointer(&s.EnableServiceLinks, v1.DefaultEnableServiceLinks)
		if s.SecurityContext != nil && reflect.ValueOf(*s.SecurityContext).IsZero() {
			s.SecurityContext = nil
		}
		dropContainerDefaults(s.InitContainers, "init-")
		dropContainerDefaults(s.Containers, "container-")
	}
}

func dropContainerDefaults(containers []v1.Container, prefix string) {
	for i := range containers {
		c := &containers[i]
		drop(&c.TerminationMessagePath, v1.TerminationMessagePathDefault)
		drop(&c.TerminationMessagePolicy, v1.TerminationMessageReadFile)
		if strings.HasSuffix(c.Image, ":latest") || !strings.Contains(c.Image, ":") {
			drop(&c.ImagePullPolicy, v1.PullAlways)
		} else {
			drop(&c.ImagePullPolicy, v1.PullIfNotPresent)
		}
		drop(&c.Name, prefix+strconv.Itoa(i))
		drop(&c.Image, noImage)
		for j := range c.Ports {
			drop(&c.Ports[j].Protocol, v1.ProtocolTCP)
		}
	}
}

func drop[T comparable](field *T, value T) {
	if *field == value {
		*field = *new(T)
	}
}

func dropPointer[T comparable](field **T, value T) {
	if *field != nil && **field == value {
		*field = nil
	}
}
