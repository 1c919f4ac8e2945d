package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGates(t *testing.T) {
	for text, want := range map[string]Gates{
		"":                     "",
		"GenericWorkload=true": "GenericWorkload=true",
		"GenericWorkload=true,CompositePodGroup=false":                      "CompositePodGroup=false,GenericWorkload=true",
		"CompositePodGroup=true":                                            "CompositePodGroup=true,GenericWorkload=true,TopologyAwareWorkloadScheduling=true",
		"TopologyAwareWorkloadScheduling=false,SchedulerAsyncAPICalls=true": "CompositePodGroup=false,SchedulerAsyncAPICalls=true,TopologyAwareWorkloadScheduling=false",
	} {
		gates, err := ParseGates(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, gates, text)
		again, err := ParseGates(string(gates))
		assert.NoError(t, err, text)
		assert.Equal(t, gates, again, text)
	}
	assert.Nil(t, Gates("").Map())
	assert.Empty(t, Gates("").Flag())
	assert.Equal(t, map[string]bool{"CompositePodGroup": false, "GenericWorkload": true}, Gates("CompositePodGroup=false,GenericWorkload=true").Map())
	assert.Equal(t, " --feature-gates GenericWorkload=true", Gates("GenericWorkload=true").Flag())
	for text, why := range map[string]string{
		"GenericWorkload": `"GenericWorkload" is not NAME=true or NAME=false`,
		"A=true":          `"A" is none of the feature gates that are modelled: `,
		"GenericWorkload=false,CompositePodGroup=true": "CompositePodGroup=true needs GenericWorkload=true",
	} {
		_, err := ParseGates(text)
		assert.ErrorContains(t, err, why, text)
	}
}
