package manifest_test

import (
	"fmt"
	"os"

	"github.com/preemptcheck/preemptcheck/corpus/manifest"
)

// Objects are read from any list, and errors say where they are.
func Example() {
	none := func(apiVersion, kind string) manifest.Named { return nil }
	objects, err := manifest.Decode([]byte(`apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: web, namespace: shop}
  spec: {nodename: n1}
`), none)
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := &objects[0]
	fmt.Println(pod.Name(), pod.Unknown)
	fmt.Println(pod.Fail(pod.Unknown[0], fmt.Errorf("unknown field")))

	out := manifest.NewWriter(os.Stdout)
	if err := out.Write("v1", "ConfigMap", map[string]any{"data": map[string]string{"on": "yes", "n": "1"}}); err != nil {
		fmt.Println(err)
	}

	_, err = manifest.Decode([]byte("kind: Pod\nspec: {a: 1,\n  a: 2}\n"), none)
	fmt.Println(err)
	// Output:
	// Pod shop/web [spec.nodename]
	// document 1, item 1, line 7: Pod shop/web: spec.nodename: unknown field
	// apiVersion: v1
	// kind: ConfigMap
	// data:
	//   "n": "1"
	//   "on": "yes"
	// document 1, line 3: spec: duplicate key "a"
}
