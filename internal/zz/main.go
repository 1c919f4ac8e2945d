package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	for _, r := range os.Args[2:] {
		s, err := build(r)
		if err != nil {
			fmt.Println(err)
			continue
		}
		counts := map[string]int{}
		example := map[string]string{}
		agree := 0
		for seed := range uint64(n) {
			if only := os.Getenv("ONLY"); only != "" && only != fmt.Sprint(seed) {
				continue
			}
			c := generators.FromSeed(seed)
			o, err := s.Observe(context.Background(), c)
			var ref *reference.Refusal
			if errors.As(err, &ref) {
				continue
			}
			if err != nil {
				counts["error "+err.Error()]++
				continue
			}
			d, err := model.Decide(c, model.Documented())
			if err != nil {
				continue
			}
			if dis := d.Admits(o); dis != nil {
				if os.Getenv("ONLY") != "" {
					fmt.Printf("%+v\n", *o)
					for k, v := range o.DryRuns {
						fmt.Println(k, v)
					}
				}
				k := string(dis.Stage) + ": " + dis.Kind
				counts[k]++
				if example[k] == "" {
					example[k] = fmt.Sprint(seed, " ", dis)
				}
			} else {
				agree++
			}
		}
		s.Close()
		fmt.Println("==", r, "agree", agree)
		for _, k := range slices.Sorted(maps.Keys(counts)) {
			e := example[k]
			fmt.Printf("%5d %s   %.200s\n", counts[k], k, e)
		}
	}
}

func build(r string) (*releases.System, error) {
	if _, err := releases.Build(context.Background(), r, os.Stderr); err != nil {
		return nil, err
	}
	return releases.New(r)
}
