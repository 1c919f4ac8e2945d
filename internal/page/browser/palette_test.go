//go:build browser

package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// small is a picture in 256 colours: its most frequent ones that are not nearly alike.
func small(picture []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	bounds := from.Bounds()
	counts := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(from.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	byCount := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	palette := color.Palette{}
	for _, c := range byCount {
		if len(palette) == 0 || len(palette) < 256 && distance(c, palette[palette.Index(c)].(color.RGBA)) > 200 {
			palette = append(palette, c)
		}
	}
	index := map[color.RGBA]uint8{}
	for _, c := range byCount {
		index[c] = uint8(palette.Index(c))
	}
	to := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			to.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, to)
	return out.Bytes(), err
}

// distance is the square of how far two colours are apart.
func distance(a, b color.RGBA) int {
	square := func(x, y uint8) int { return (int(x) - int(y)) * (int(x) - int(y)) }
	return square(a.R, b.R) + square(a.G, b.G) + square(a.B, b.B)
}
