package bridge

import (
	"errors"
	"reflect"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// errMissing is an answer with a null in it where A2A has none: what answers is no runtime of ours.
var errMissing = errors.New("something is missing in the runtime's answer: set RUNTIME_URL to where a runtime listens")

// whole refuses what was read of an answer if a null stands in a list, or in the place of an
// event or of its artifact. The values of callers (metadata, data) may have any.
func whole(answer any) error {
	if missing(reflect.ValueOf(answer)) {
		return errMissing
	}
	return nil
}

func missing(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // others hold no pointers, or are callers' values
	case reflect.Pointer:
		return !v.IsNil() && missing(v.Elem())
	case reflect.Interface:
		return isNull(v.Elem()) || missing(v.Elem())
	case reflect.Struct:
		if event, ok := reflect.TypeAssert[a2a.TaskArtifactUpdateEvent](v); ok && event.Artifact == nil {
			return true
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && missing(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		if kind := v.Type().Elem().Kind(); kind != reflect.Pointer && kind != reflect.Struct {
			return false
		}
		for i := range v.Len() {
			if isNull(v.Index(i)) || missing(v.Index(i)) {
				return true
			}
		}
	}
	return false
}

func isNull(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }
