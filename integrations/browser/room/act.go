package room

import (
	"context"
	"errors"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/browser/cdp"
)

// element finds the node of a ref in the document that the page shows.
func (p *page) element(ref string) (int64, error) { return p.refs.find(ref, p.document()) }

// onNode calls the engine about a node. A node that is gone makes its ref stale.
func (p *page) onNode(ctx context.Context, ref, method string, params, result any) error {
	err := p.call(ctx, method, params, result)
	var failed *cdp.Failure
	if errors.As(err, &failed) && (strings.Contains(failed.Message, "No node") || strings.Contains(failed.Message, "not belong to the document") ||
		strings.Contains(failed.Message, "detached")) {
		return errStale(ref)
	}
	return err
}

// point is the middle of an element in the view.
func (p *page) point(ctx context.Context, ref string) (x, y float64, err error) {
	node, err := p.element(ref)
	if err != nil {
		return 0, 0, err
	}
	if err := p.onNode(ctx, ref, "DOM.scrollIntoViewIfNeeded", obj{"backendNodeId": node}, nil); err != nil {
		return 0, 0, notVisible(ref, err)
	}
	var got struct{ Quads [][]float64 }
	if err := p.onNode(ctx, ref, "DOM.getContentQuads", obj{"backendNodeId": node}, &got); err != nil {
		return 0, 0, notVisible(ref, err)
	}
	for _, q := range got.Quads {
		if len(q) == 8 {
			return (q[0] + q[2] + q[4] + q[6]) / 4, (q[1] + q[3] + q[5] + q[7]) / 4, nil
		}
	}
	return 0, 0, notVisible(ref, nil)
}

// notVisible says that an element has no place on the page. Other errors stay.
func notVisible(ref string, err error) error {
	var failed *cdp.Failure
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	return hub.NewError(hub.CodePageFailed, "the element "+ref+" is not to be seen on the page, so it cannot be clicked").With("ref", ref).
		WithFix("take a snapshot: something may have to be opened or closed first")
}

// click moves the mouse to an element and clicks.
func (p *page) click(ctx context.Context, ref string) error {
	x, y, err := p.point(ctx, ref)
	if err != nil {
		return err
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		params := obj{"type": kind, "x": x, "y": y}
		if kind != "mouseMoved" {
			params["button"], params["clickCount"] = "left", 1
		}
		if err := p.call(ctx, "Input.dispatchMouseEvent", params, nil); err != nil {
			return err
		}
	}
	return nil
}

// object gets an element as something to call functions on.
func (p *page) object(ctx context.Context, ref string) (string, error) {
	node, err := p.element(ref)
	if err != nil {
		return "", err
	}
	var got struct {
		Object struct {
			ID string `json:"objectId"`
		} `json:"object"`
	}
	err = p.onNode(ctx, ref, "DOM.resolveNode", obj{"backendNodeId": node}, &got)
	return got.Object.ID, err
}

// run calls a function of ours on an element and returns the word that it answers.
func (p *page) run(ctx context.Context, ref, function string, args ...any) (string, error) {
	object, err := p.object(ctx, ref)
	if err != nil {
		return "", err
	}
	list := make([]obj, len(args))
	for i := range args {
		list[i] = obj{"value": args[i]}
	}
	var got struct {
		Result    struct{ Value string }
		Exception *struct{} `json:"exceptionDetails"`
	}
	if err := p.call(ctx, "Runtime.callFunctionOn", obj{
		"objectId": object, "functionDeclaration": function, "arguments": list, "returnByValue": true, "userGesture": true,
	}, &got); err != nil {
		return "", err
	}
	if got.Exception != nil {
		return "failed", nil
	}
	return got.Result.Value, nil
}

// clearField makes an element ready to be typed into, its text selected.
const clearField = `function() {
  if (this instanceof HTMLInputElement && this.type === "file") return "file";
  if (this.disabled || this.readOnly) return "locked";
  this.focus();
  if (this instanceof HTMLInputElement || this instanceof HTMLTextAreaElement) { this.select(); return "ok" }
  if (this.isContentEditable) { const s = getSelection(); s.selectAllChildren(this); return "ok" }
  return "other";
}`

// typeText replaces the text of a field.
func (p *page) typeText(ctx context.Context, in *hub.BrowseInput) error {
	word, err := p.run(ctx, in.Ref, clearField)
	if err != nil {
		return err
	}
	switch word {
	case "ok":
	case "file":
		return hub.NewError(hub.CodePageFailed, "the element is a field for files, and a page gets no file of this machine").
			WithFix("go on without the file, or ask your user to upload it")
	case "locked":
		return hub.NewError(hub.CodePageFailed, "the element takes no text now: it is disabled or only to be read").WithFix("take a snapshot")
	default:
		return hub.NewError(hub.CodePageFailed, "the element takes no text").WithFix("take a snapshot, and name a textbox")
	}
	if in.Text == "" {
		err = p.keystroke(ctx, keyOf()["Delete"], 0)
	} else {
		err = p.call(ctx, "Input.insertText", obj{"text": in.Text}, nil)
	}
	if err == nil && in.Submit {
		err = p.keystroke(ctx, keyOf()["Enter"], 0)
	}
	return err
}

// chooseOptions selects options by their value or by what they say.
const chooseOptions = `function(wanted) {
  if (!(this instanceof HTMLSelectElement)) return "other";
  if (this.disabled) return "locked";
  if (wanted.length > 1 && !this.multiple) return "one";
  const found = wanted.map(w => [...this.options].find(o => o.value === w) || [...this.options].find(o => o.label.trim() === w || o.text.trim() === w));
  const missing = found.findIndex(o => !o || o.disabled);
  if (missing >= 0) return "missing" + missing;
  for (const o of this.options) o.selected = found.includes(o);
  this.dispatchEvent(new Event("input", {bubbles: true}));
  this.dispatchEvent(new Event("change", {bubbles: true}));
  return "ok";
}`

// choose selects options of a list.
func (p *page) choose(ctx context.Context, in *hub.BrowseInput) error {
	word, err := p.run(ctx, in.Ref, chooseOptions, in.Values)
	switch {
	case err != nil || word == "ok":
		return err
	case strings.HasPrefix(word, "missing"):
		return hub.NewError(hub.CodePageFailed, "the list has no such option, or it is disabled").WithFix("take a snapshot: it shows the options")
	case word == "one":
		return hub.NewError(hub.CodePageFailed, "the list takes one option only").WithFix("name one")
	case word == "locked":
		return hub.NewError(hub.CodePageFailed, "the list is disabled").WithFix("take a snapshot")
	}
	return hub.NewError(hub.CodePageFailed, "the element is no list of options").WithFix("click it, or take a snapshot and name a combobox or listbox")
}

// takeOut removes the element of a frame that no page may have.
func (p *page) takeOut(session, frame string) {
	ctx, cancel := context.WithTimeout(context.Background(), probeWait)
	defer cancel()
	var owner struct {
		Node int64 `json:"backendNodeId"`
	}
	for _, s := range []string{p.session, session} { // the one that holds the element knows it
		if p.engine.conn.Call(ctx, s, "DOM.getFrameOwner", obj{"frameId": frame}, &owner) != nil {
			continue
		}
		var got struct {
			Object struct {
				ID string `json:"objectId"`
			} `json:"object"`
		}
		if p.engine.conn.Call(ctx, s, "DOM.resolveNode", obj{"backendNodeId": owner.Node}, &got) == nil {
			_ = p.engine.conn.Call(ctx, s, "Runtime.callFunctionOn", obj{
				"objectId": got.Object.ID, "functionDeclaration": "function() { Element.prototype.remove.call(this) }",
			}, nil) // a page that is busy keeps it; no snapshot shows it
			return
		}
	}
}
