package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxExponent is the largest exponent of a quantity that is read, of either sign. The
// parser of quantities may take hours, and gigabytes, for one that is far beyond it
// (kubernetes#141306), and comparing two of them likewise.
const maxExponent = 1000

var (
	exponent     = regexp.MustCompile(`^"?[-+]?[0-9.]+[eE]([-+]?[0-9]+)"?$`)
	longExponent = regexp.MustCompile(`[0-9.][eE][-+]?[0-9]{4}`)
)

// checkExponent refuses a text that would be a quantity with an exponent beyond ±1000.
func checkExponent(text string) error {
	m := exponent.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	if n, err := strconv.Atoi(m[1]); err == nil && -maxExponent <= n && n <= maxExponent {
		return nil
	}
	return fmt.Errorf("the exponent of quantity %s is beyond ±%d", strings.Trim(text, `"`), maxExponent)
}

// CheckExponents refuses such quantities in the JSON of an object of a type, or of a part of
// one. It answers with the path of the first.
func CheckExponents(data []byte, object reflect.Type) (path string, err error) {
	if !longExponent.Match(data) { // as in almost every object
		return "", nil
	}
	var whole any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&whole) != nil {
		return "", nil // what is wrong with it is told by others
	}
	return quantitiesIn(whole, object)
}

var quantityType = reflect.TypeFor[resource.Quantity]()

func quantitiesIn(v any, t reflect.Type) (path string, err error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == quantityType {
		return "", checkExponent(fmt.Sprint(v))
	}
	switch v := v.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return "", nil
		}
		for i, e := range v {
			if path, err := quantitiesIn(e, t.Elem()); err != nil {
				return within(fmt.Sprintf("[%d]", i), path), err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			of, name := fieldType(t, key), key
			if t.Kind() == reflect.Map {
				of, name = t.Elem(), "["+key+"]"
			}
			if of == nil {
				continue
			}
			if path, err := quantitiesIn(v[key], of); err != nil {
				return within(name, path), err
			}
		}
	}
	return "", nil
}

// fieldType is the type of the field of that name in JSON; nil if there is none.
func fieldType(t reflect.Type, name string) reflect.Type {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Type
		}
	}
	return nil
}
