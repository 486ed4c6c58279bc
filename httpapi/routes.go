package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"hubcli/api"
)

// handler answers one operation.
type handler func(*call) (reply, error)

// handlers are the handlers of one resource, by operation id.
type handlers map[string]handler

// resources are the handlers of all operations of api.Operations.
var resources = []func() handlers{
	sessionHandlers,
	clearHandlers,
	adapterHandlers,
	browserHandlers,
	recordHandlers,
	attentionHandlers,
	leaseHandlers,
	messageHandlers,
	inviteHandlers,
	memoryHandlers,
	projectHandlers,
	bindingHandlers,
	browseHandlers,
	seatHandlers,
	runHandlers,
	searchHandlers,
	spawnHandlers,
	askHandlers,
	notifyHandlers,
	permissionHandlers,
	streamHandlers,
	taskHandlers,
	surfaceHandlers,
	pauseHandlers, muteHandlers, loopHandlers, overviewHandlers, budgetHandlers,
	debugHandlers,
	backupHandlers,
	capsuleHandlers,
	connectionHandlers,
	licenseHandlers,
	watchHandlers,
	passHandlers,
	userHandlers,
}

// route is an operation with its handler and its counters.
type route struct {
	*api.Operation
	handle   handler
	observed observed
}

// newRoutes binds every operation to its handler.
func newRoutes(m *metrics) (map[*api.Operation]*route, error) {
	all := handlers{}
	for _, resource := range resources {
		for id, handle := range resource() {
			if all[id] != nil {
				return nil, fmt.Errorf("httpapi: the operation %s has two handlers", id)
			}
			all[id] = handle
		}
	}
	table := api.Operations()
	routes := make(map[*api.Operation]*route, len(table))
	var missing []error
	for i := range table {
		op := &table[i]
		if all[op.ID] == nil {
			missing = append(missing, fmt.Errorf("httpapi: the operation %s has no handler: add it to the handlers of its resource", op.ID))
			continue
		}
		routes[op] = &route{Operation: op, handle: all[op.ID], observed: m.of(op.ID)}
		delete(all, op.ID)
	}
	for id := range all {
		missing = append(missing, fmt.Errorf("httpapi: the handler of %s has no operation: add its row to api/operations.go", id))
	}
	return routes, errors.Join(missing...)
}

// dispatch finds the operation that matches a request and serves it.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, user string) {
	defer func() {
		if cause := recover(); cause != nil {
			s.panicked(w, r, cause)
		}
	}()
	op, param := api.FindOperation(r.Method, r.URL.Path)
	if op == nil {
		s.noOperation(w, r.URL.Path)
		return
	}
	s.serve(s.routes[op], param, user, w, r)
}
