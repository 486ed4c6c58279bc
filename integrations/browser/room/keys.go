package room

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hubcli/hub"
)

// key is what a key of the keyboard sends.
type key struct {
	name, code string
	number     int // of the key as Windows counts
	text       string
}

// keyOf are the keys that have a name.
var keyOf = sync.OnceValue(func() map[string]key {
	return map[string]key{
		"Enter": {"Enter", "Enter", 13, "\r"}, "Tab": {"Tab", "Tab", 9, ""}, "Escape": {"Escape", "Escape", 27, ""},
		"Backspace": {"Backspace", "Backspace", 8, ""}, "Delete": {"Delete", "Delete", 46, ""}, "Space": {" ", "Space", 32, " "},
		"ArrowLeft": {"ArrowLeft", "ArrowLeft", 37, ""}, "ArrowUp": {"ArrowUp", "ArrowUp", 38, ""},
		"ArrowRight": {"ArrowRight", "ArrowRight", 39, ""}, "ArrowDown": {"ArrowDown", "ArrowDown", 40, ""},
		"Home": {"Home", "Home", 36, ""}, "End": {"End", "End", 35, ""},
		"PageUp": {"PageUp", "PageUp", 33, ""}, "PageDown": {"PageDown", "PageDown", 34, ""},
	}
})

// modifierOf are the bits of the keys that change others.
var modifierOf = sync.OnceValue(func() map[string]int {
	return map[string]int{"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
})

// parseKey reads a key with its modifiers: Enter, a, Control+a, Shift+Tab.
func parseKey(s string) (k key, modifiers int, err error) {
	parts := strings.Split(s, "+")
	if s == "+" || strings.HasSuffix(s, "++") {
		parts = append(parts[:len(parts)-2], "+")
	}
	for _, part := range parts[:len(parts)-1] {
		bit := modifierOf()[part]
		if bit == 0 {
			return k, 0, errKey(s)
		}
		modifiers |= bit
	}
	last := parts[len(parts)-1]
	if named, ok := keyOf()[last]; ok {
		return named, modifiers, nil
	}
	r, size := utf8.DecodeRuneInString(last)
	if size != len(last) || r == utf8.RuneError || unicode.IsControl(r) {
		return k, 0, errKey(s)
	}
	return key{name: last, number: keyNumber(r), text: last}, modifiers, nil
}

// keyNumber is the number of the key of a letter or digit; 0: none is known.
func keyNumber(r rune) int {
	if r = unicode.ToUpper(r); r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return int(r)
	}
	return 0
}

func errKey(s string) error {
	return hub.Invalid("key", "there is no such key: "+quote(cut(s, 40))).With("keys", keyNames()).
		WithFix("name one of detail.keys or a character, perhaps with a modifier: Enter, Control+a, Shift+Tab")
}

func keyNames() []string {
	names := make([]string, 0, len(keyOf()))
	for name := range keyOf() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// press presses a key, on an element if one is named.
func (p *page) press(ctx context.Context, in *hub.BrowseInput) error {
	k, modifiers, err := parseKey(in.Key)
	if err != nil {
		return err
	}
	if in.Ref != "" {
		node, err := p.element(in.Ref)
		if err != nil {
			return err
		}
		if err := p.onNode(ctx, in.Ref, "DOM.focus", obj{"backendNodeId": node}, nil); err != nil {
			return notVisible(in.Ref, err)
		}
	}
	return p.keystroke(ctx, k, modifiers)
}

// keystroke presses a key and lets it go.
func (p *page) keystroke(ctx context.Context, k key, modifiers int) error {
	down := obj{"type": "keyDown", "key": k.name, "code": k.code, "windowsVirtualKeyCode": k.number, "modifiers": modifiers}
	switch {
	case k.text != "" && modifiers&^modifierOf()["Shift"] == 0:
		down["text"] = k.text
	default:
		down["type"] = "rawKeyDown"
		if command := editing(k, modifiers); command != "" {
			down["commands"] = []string{command}
		}
	}
	if err := p.call(ctx, "Input.dispatchKeyEvent", down, nil); err != nil {
		return err
	}
	return p.call(ctx, "Input.dispatchKeyEvent", obj{
		"type": "keyUp", "key": k.name, "code": k.code, "windowsVirtualKeyCode": k.number, "modifiers": modifiers,
	}, nil)
}

// editing is what a key with Control or Meta does to a text; the clipboard is nobody's.
func editing(k key, modifiers int) string {
	if modifiers&(modifierOf()["Control"]|modifierOf()["Meta"]) == 0 {
		return ""
	}
	switch strings.ToLower(k.name) {
	case "a":
		return "selectAll"
	case "z":
		return "undo"
	}
	return ""
}
