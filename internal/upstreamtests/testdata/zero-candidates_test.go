package defaultpreemption

import (
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

func TestGetOffsetAndNumCandidates_AtLeastOne(t *testing.T) {
	tests := []struct {
		name     string
		args     config.DefaultPreemptionArgs
		numNodes int32
		want     int32
	}{
		{
			name:     "the absolute number counts when it is larger",
			args:     config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 1},
			numNodes: 9,
			want:     1,
		},
		{
			name:     "a tenth of ten nodes",
			args:     config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 0},
			numNodes: 10,
			want:     1,
		},
		{
			name:     "a tenth of nine nodes",
			args:     config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 0},
			numNodes: 9,
			want:     1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := validation.ValidateDefaultPreemptionArgs(nil, &tt.args); err != nil {
				t.Fatalf("invalid args: %v", err)
			}
			pl := &DefaultPreemption{args: tt.args}
			if _, got := pl.GetOffsetAndNumCandidates(tt.numNodes); got != tt.want {
				t.Errorf("got %d candidates for %d nodes, want %d", got, tt.numNodes, tt.want)
			}
		})
	}
}
