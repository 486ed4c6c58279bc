package room

import (
	"strconv"
	"strings"

	"hubcli/hub"
)

// refs name the elements of the last snapshot. A number is never given out twice for a
// page, so that an old one is known as such.
type refs struct {
	next   int
	loader string        // of the document that they are of
	nodes  map[int]int64 // the number of an element: its node in the engine
	of     map[int64]int
}

func newRefs() refs { return refs{next: 1} }

// begin begins a snapshot of a document. Within one document an element keeps its number.
func (r *refs) begin(loader string) {
	if r.loader != loader || r.of == nil {
		r.of = map[int64]int{}
	}
	r.loader, r.nodes = loader, map[int]int64{}
}

// give returns the ref of a node.
func (r *refs) give(node int64) string {
	n, ok := r.of[node]
	if !ok {
		n = r.next
		r.next++
		r.of[node] = n
	}
	r.nodes[n] = node
	return "e" + strconv.Itoa(n)
}

// find returns the node of a ref. Errors: stale_ref, invalid.
func (r *refs) find(ref, loader string) (int64, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(ref, "e"))
	if err != nil || !strings.HasPrefix(ref, "e") || n < 1 {
		return 0, hub.Invalid("ref", "this is no ref: "+strconv.QuoteToASCII(cut(ref, 40))).
			WithFix("take one from a snapshot, such as e12")
	}
	node, ok := r.nodes[n]
	if !ok || r.loader != loader {
		return 0, errStale(ref)
	}
	return node, nil
}

func errStale(ref string) error {
	return hub.NewError(hub.CodeStaleRef, "the page has no element "+cut(ref, 40)+" any more").With("ref", cut(ref, 40))
}
