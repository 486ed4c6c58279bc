package room

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"hubcli/hub"
	"hubcli/integrations/browser/cdp"
)

const (
	maxElements = 20_000 // of a page whose tree is asked for
	maxDepth    = 100    // of the tree
	maxLines    = 4_000  // of a snapshot
	maxText     = 500    // characters of a line's text
	maxFrames   = 20     // whose content is shown
)

// axValue is a value in the accessibility tree.
type axValue struct {
	Value json.RawMessage `json:"value"`
}

// text is the value as text.
func (v *axValue) text() string {
	if v == nil {
		return ""
	}
	var s string
	if json.Unmarshal(v.Value, &s) == nil {
		return s
	}
	return string(v.Value)
}

// axNode is a node of the accessibility tree.
type axNode struct {
	ID         string   `json:"nodeId"`
	Ignored    bool     `json:"ignored"`
	Role       *axValue `json:"role"`
	Name       *axValue `json:"name"`
	Value      *axValue `json:"value"`
	Properties []struct {
		Name  string  `json:"name"`
		Value axValue `json:"value"`
	} `json:"properties"`
	Children []string `json:"childIds"`
	Node     int64    `json:"backendDOMNodeId"`
}

// frameTree is a frame with those within it that share its process.
type frameTree struct {
	Frame    frame       `json:"frame"`
	Children []frameTree `json:"childFrames"`
}

// snapshot describes the page as a reader of screens does, with a ref for each element
// that one can act on; whole says that nothing was left out.
func (p *page) snapshot(ctx context.Context) (text string, whole bool, err error) {
	loader := p.document()
	count, err := p.elements(ctx)
	if err != nil {
		return "", false, err
	}
	p.refs.begin(loader)
	if count > maxElements {
		return fmt.Sprintf("- the page has %d elements, which is too much for a snapshot", count), false, nil
	}
	nodes, err := p.tree(ctx, "")
	if errors.Is(err, cdp.ErrTooBig) {
		return "- the page is too big for a snapshot", false, nil
	}
	if err != nil {
		return "", false, err
	}
	w := &writer{refs: &p.refs, nodes: map[string]*axNode{}, frames: map[int64]string{}}
	if err := p.frames(ctx, w); err != nil {
		return "", false, err
	}
	w.write(nodes)
	return w.out.String(), !w.cut, nil
}

// elements counts the elements of the page, in a world that its scripts cannot reach.
func (p *page) elements(ctx context.Context) (int, error) {
	var world struct {
		ID int64 `json:"executionContextId"`
	}
	if err := p.call(ctx, "Page.createIsolatedWorld", obj{"frameId": p.target, "worldName": "hub"}, &world); err != nil {
		return 0, err
	}
	var got struct{ Result struct{ Value int } }
	err := p.call(ctx, "Runtime.evaluate", obj{
		"expression": "document.getElementsByTagName('*').length", "contextId": world.ID, "returnByValue": true,
	}, &got)
	return got.Result.Value, err
}

func (p *page) tree(ctx context.Context, frame string) ([]axNode, error) {
	var got struct{ Nodes []axNode }
	params := obj{}
	if frame != "" {
		params["frameId"] = frame
	}
	err := p.call(ctx, "Accessibility.getFullAXTree", params, &got)
	return got.Nodes, err
}

// frames gets the trees of the frames within the page, as far as they share its process.
// A frame that is gone meanwhile is left out.
func (p *page) frames(ctx context.Context, w *writer) error {
	var got struct {
		Tree frameTree `json:"frameTree"`
	}
	if err := p.call(ctx, "Page.getFrameTree", nil, &got); err != nil {
		return err
	}
	var all []frame
	var collect func(t []frameTree)
	collect = func(t []frameTree) {
		for _, f := range t {
			if len(all) < maxFrames {
				all = append(all, f.Frame)
				collect(f.Children)
			}
		}
	}
	collect(got.Tree.Children)
	for _, f := range all {
		var owner struct {
			Node int64 `json:"backendNodeId"`
		}
		if !framable(f.URL) || p.call(ctx, "DOM.getFrameOwner", obj{"frameId": f.ID}, &owner) != nil {
			continue
		}
		nodes, err := p.tree(ctx, f.ID)
		if err != nil || len(nodes) == 0 {
			continue
		}
		prefix := f.ID + "/"
		for i := range nodes {
			nodes[i].ID = prefix + nodes[i].ID
			for j := range nodes[i].Children {
				nodes[i].Children[j] = prefix + nodes[i].Children[j]
			}
			w.nodes[nodes[i].ID] = &nodes[i]
		}
		w.frames[owner.Node] = nodes[0].ID
	}
	return nil
}

// writer writes a snapshot.
type writer struct {
	refs   *refs
	nodes  map[string]*axNode
	frames map[int64]string // the root of the frame that an element holds
	out    strings.Builder
	lines  int
	cut    bool
}

func (w *writer) write(nodes []axNode) {
	for i := range nodes {
		w.nodes[nodes[i].ID] = &nodes[i]
	}
	if len(nodes) > 0 {
		w.node(&nodes[0], 0, "", maxDepth)
	}
	if w.cut {
		w.out.WriteString("- … the rest is left out\n")
	}
}

// silent are roles that say nothing by themselves.
var silent = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"": true, "none": true, "generic": true, "RootWebArea": true, "InlineTextBox": true, "LineBreak": true, "presentation": true,
		"LabelText": true, "LayoutTable": true, "LayoutTableRow": true, "LayoutTableCell": true, "Section": true, "Pre": true, "Abbr": true, "Ruby": true,
	}
})

// structure are roles that nobody acts on.
var structure = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"paragraph": true, "list": true, "listitem": true, "table": true, "row": true, "rowgroup": true, "group": true, "ListMarker": true,
		"banner": true, "main": true, "navigation": true, "contentinfo": true, "region": true, "article": true, "strong": true, "emphasis": true,
		"blockquote": true, "code": true, "figure": true, "separator": true, "caption": true, "mark": true, "time": true,
		"DescriptionList": true, "DescriptionListTerm": true, "DescriptionListDetail": true, "definition": true, "term": true, "Legend": true,
		"complementary": true, "form": true, "search": true, "status": true, "alert": true, "log": true, "heading": true,
	}
})

// node writes a node and what is within it. said is what the line above says already.
func (w *writer) node(n *axNode, level int, said string, depth int) {
	if w.lines >= maxLines || w.out.Len() >= hub.MaxSnapshotChars || depth == 0 {
		w.cut = true
		return
	}
	role, name := n.Role.text(), inLine(n.Name.text())
	switch {
	case role == "InlineTextBox" || role == "LineBreak":
		return
	case n.Ignored || silent()[role] && !w.acted(n):
		w.children(n, level, said, depth)
		return
	case role == "StaticText":
		if name != "" && !strings.Contains(said, name) {
			w.line(level, "text: "+quote(name))
		}
		return
	}
	w.line(level, w.describe(n, role, name))
	if root, ok := w.frames[n.Node]; ok {
		if inner := w.nodes[root]; inner != nil {
			w.node(inner, level+1, "", depth-1)
		}
		return
	}
	w.children(n, level+1, name+" "+inLine(n.Value.text()), depth)
}

func (w *writer) children(n *axNode, level int, said string, depth int) {
	for _, id := range n.Children {
		if child := w.nodes[id]; child != nil {
			w.node(child, level, said, depth-1)
		}
	}
}

// acted reports whether one can act on a node.
func (w *writer) acted(n *axNode) bool {
	return n.property("focusable") == "true" && n.Role.text() != "RootWebArea"
}

func (n *axNode) property(name string) string {
	for i := range n.Properties {
		if n.Properties[i].Name == name {
			return n.Properties[i].Value.text()
		}
	}
	return ""
}

// shown are the properties that a line tells, if they are not false.
var shown = []string{"checked", "disabled", "expanded", "selected", "pressed", "required", "readonly", "level", "invalid"}

// describe is the line of a node. What the page has written stands between quotes that it
// cannot close, so that it makes up no ref.
func (w *writer) describe(n *axNode, role, name string) string {
	var b strings.Builder
	b.WriteString(role)
	if name != "" {
		b.WriteString(" " + quote(name))
	}
	for _, property := range shown {
		switch v := n.property(property); v {
		case "", "false":
		case "true":
			b.WriteString(" [" + property + "]")
		default:
			b.WriteString(" [" + property + "=" + strings.Map(plain, cut(v, 20)) + "]")
		}
	}
	if n.Node != 0 && (!structure()[role] || w.acted(n)) {
		b.WriteString(" [ref=" + w.refs.give(n.Node) + "]")
	}
	if value := inLine(n.Value.text()); value != "" && value != name {
		b.WriteString(" value " + quote(value))
	}
	if url := n.property("url"); url != "" && role == "link" {
		b.WriteString(" to " + quote(inLine(url)))
	}
	return b.String()
}

func (w *writer) line(level int, text string) {
	w.lines++
	w.out.WriteString(strings.Repeat("  ", min(level, 30)) + "- " + text + "\n")
}

// inLine is a text of the page on one line, shortened.
func inLine(s string) string { return cut(strings.Join(strings.Fields(s), " "), maxText) }

// quote puts a text between quotes that it does not hold.
func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, "'") + `"` }

// plain leaves letters and digits of a word.
func plain(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}
