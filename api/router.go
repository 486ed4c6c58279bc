package api

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/julienschmidt/httprouter"
)

// router finds the operation of a request. It is made of the table when it is first asked, and
// the edge, the relay and the tests ask it, so that no two of them read a path differently.
//
// httprouter refuses a constant and a parameter at the same place of one method, as in
// /v1/spawn/policy and /v1/spawn/{spawn_id}. So there are two of it, and the one of the paths
// without a parameter is asked first. Only their look-up is used: nothing is redirected, and
// no path is cleaned.
type router struct {
	constant httprouter.Router // paths without a parameter
	varied   httprouter.Router // paths with one
	methods  []string          // of the table, sorted
}

var routes = sync.OnceValue(func() *router {
	r := &router{}
	table := operations()
	for i := range table {
		o := &table[i]
		tell := func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { w.(*told).op = o }
		if before, parameter, ok := strings.Cut(o.Path, "{"); ok {
			name, after, _ := strings.Cut(parameter, "}")
			if rest, ok := strings.CutSuffix(name, "..."); ok {
				r.varied.Handle(o.Method, before+"*"+rest, tell)
			} else {
				r.varied.Handle(o.Method, before+":"+name+after, tell)
			}
		} else {
			r.constant.Handle(o.Method, o.Path, tell)
		}
		r.methods = append(r.methods, o.Method)
	}
	slices.Sort(r.methods)
	r.methods = slices.Compact(r.methods)
	return r
})

// told is what a handle of the routers writes to: it serves no request and says whose it is.
type told struct {
	http.ResponseWriter // nil: no handle of the routers answers
	op                  *Operation
}

// tellers keeps what was told to, because a handle may keep what it is given and so each would
// be memory of its own.
var tellers = sync.Pool{New: func() any { return &told{} }}

// find returns the operation of a method of the table, and its parameter.
func (r *router) find(method, path string) (op *Operation, param string) {
	handle, _, _ := r.constant.Lookup(method, path)
	if handle == nil {
		var params httprouter.Params
		if handle, params, _ = r.varied.Lookup(method, path); handle == nil {
			return nil, ""
		}
		// The rest of a path has the slash before it.
		if param = params[0].Value; strings.HasPrefix(param, "/") {
			param = param[1:]
		}
		if param == "" {
			return nil, ""
		}
	}
	teller := tellers.Get().(*told)
	handle(teller, nil, nil)
	op = teller.op
	tellers.Put(teller)
	return op, param
}

// FindOperation returns the operation of a request and the value of its path's
// parameter, or nil. HEAD counts as GET. The path is without escapes and query.
func FindOperation(method, path string) (op *Operation, param string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return routes().find(method, path)
}

// Methods lists the methods that a path takes, sorted, HEAD included.
func Methods(path string) []string {
	var methods []string
	for _, method := range routes().methods {
		if op, _ := routes().find(method, path); op == nil {
			continue
		}
		if methods = append(methods, method); method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return methods
}
