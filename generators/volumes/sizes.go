package volumes

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// hugeSizes are spellings of what is drawn as 1, 2 or 3 Gi. Only the last is beyond 64 bits, so that of no
// two sizes it is open which is larger. (Of a binary suffix, the last two are capped to the same.) To the
// scheduler they wrap around to 0, to more than 0, and to less.
var hugeSizes = [][3]string{
	{"4E", "8E", "12E"},
	{"4000000000000000001", "8000000000000000001", "20000000000000000001"},
	{"4000000000000000001", "8000000000000000001", "12000000000000000001"},
	{"4Ei", "8Ei", "12Ei"},
}

// Resize gives a few clusters sizes that are admitted and hardly ever seen: beyond 64 bits, or of
// fractions of a byte. It is for clusters that are rendered.
func Resize(s draw.Source, c *model.Cluster) {
	chance, waiting := 4, waitingClaims(c)
	if len(waiting) > 0 {
		chance = 40
	}
	if !s.Chance(chance) {
		return
	}
	if s.Chance(40) {
		eachSize(c, func(of any, gibibytes int64, q *apiresource.Quantity) {
			if waiting[of] || s.Chance(30) {
				*q = *apiresource.NewMilliQuantity(gibibytes<<30*1000+500, apiresource.DecimalSI)
			}
		})
		return
	}
	spelled := draw.Pick(s, hugeSizes...)
	eachSize(c, func(of any, gibibytes int64, q *apiresource.Quantity) {
		if waiting[of] && s.Chance(60) {
			gibibytes = 3
		}
		if gibibytes == 0 {
			return
		}
		huge := apiresource.MustParse(spelled[gibibytes-1])
		if _, is := of.(*v1.PersistentVolume); is && huge.Value() < 0 { // validation wraps around, too
			huge = apiresource.MustParse(spelled[gibibytes-2])
		}
		*q = apiresource.MustParse(huge.String()) // as the API server stores it
	})
}

// waitingClaims are the claims of the preemptor that are without a volume.
func waitingClaims(c *model.Cluster) map[any]bool {
	names := map[string]bool{}
	for _, v := range c.Preemptor.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names[v.PersistentVolumeClaim.ClaimName] = true
		}
	}
	waiting := map[any]bool{}
	for _, o := range c.Extra {
		if claim, is := o.(*v1.PersistentVolumeClaim); is && claim.Spec.VolumeName == "" && names[claim.Name] && claim.Namespace == c.Preemptor.Namespace {
			waiting[claim] = true
		}
	}
	return waiting
}

// eachSize changes the sizes of volumes, of claims, and of what is left for new ones.
func eachSize(c *model.Cluster, change func(of any, gibibytes int64, q *apiresource.Quantity)) {
	size := func(of any, q *apiresource.Quantity) {
		if q != nil {
			change(of, q.Value()>>30, q)
		}
	}
	inList := func(of any, list v1.ResourceList) {
		if q, sized := list[v1.ResourceStorage]; sized {
			size(of, &q)
			list[v1.ResourceStorage] = q
		}
	}
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			inList(o, o.Spec.Resources.Requests)
		case *v1.PersistentVolume:
			inList(o, o.Spec.Capacity)
		case *storagev1.CSIStorageCapacity:
			size(o, o.Capacity)
			size(o, o.MaximumVolumeSize)
		}
	}
	for _, p := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
		for i := range p.Spec.Volumes {
			if e := p.Spec.Volumes[i].Ephemeral; e != nil {
				inList(p, e.VolumeClaimTemplate.Spec.Resources.Requests)
			}
		}
	}
}
