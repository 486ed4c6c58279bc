package client

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"time"
)

// params makes the query of a call from names and values in turn. A slice gives its
// name once for each element. A value that is zero is left out, with two exceptions. A
// duration is always sent, in seconds: a poll without a timeout would get the hub's
// default instead of an answer at once. So is what a pointer names.
func params(pairs ...any) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		name, value := pairs[i].(string), reflect.ValueOf(pairs[i+1])
		d, isDuration := pairs[i+1].(time.Duration)
		switch {
		case isDuration:
			v.Set(name, strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
		case value.IsZero():
		case value.Kind() == reflect.Pointer:
			v.Set(name, fmt.Sprint(value.Elem()))
		case value.Kind() == reflect.Slice:
			for i := range value.Len() {
				v.Add(name, fmt.Sprint(value.Index(i)))
			}
		default:
			v.Set(name, fmt.Sprint(value))
		}
	}
	return v
}
