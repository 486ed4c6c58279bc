package adapter

import (
	"encoding/json"
	"maps"
	"slices"

	"hubcli/integrations/adapter/edit"
	"hubcli/integrations/adapter/files"
)

// entryOf returns the members of an entry as it stands in its file; none if it
// cannot be read, which the state of the entry says.
func entryOf(e files.Entry) map[string]json.RawMessage {
	doc, err := files.Read(e.Root, e.File, e.Owner.Scope)
	if err != nil {
		return nil
	}
	var have []byte
	found := false
	if e.Format == edit.Whole {
		var d document
		if d, found = documentOf(string(doc)); found {
			have = d.entry()
		}
	} else {
		have, found, err = edit.Get(e.Format, doc, e.At)
	}
	var entry map[string]json.RawMessage
	if err != nil || !found || json.Unmarshal(have, &entry) != nil {
		return nil
	}
	return entry
}

// addedIn returns the variables that a user has added to the entry of a bridge.
func addedIn(entry map[string]json.RawMessage) map[string]string {
	var env map[string]string
	if json.Unmarshal(entry[variablesOf(entry)], &env) != nil {
		return nil
	}
	delete(env, "HUB_DATA_ROOT") // the hub may have written it, now or earlier
	return env
}

// withAdded adds to the value of a bridge's entry the variables that a user
// added to the installed entry. They are not the hub's, so they stay when the
// entry is rewritten. The hub never passes them to processes that it starts
// itself.
func withAdded(value any, e files.Entry) any {
	entry := entryOf(e)
	env := addedIn(entry)
	if len(env) == 0 {
		return value
	}
	if text, ok := value.(string); ok {
		return withAddedText(text, env, e)
	}
	o, ok := value.(object)
	if !ok {
		return value
	}
	name := "env"
	if slices.ContainsFunc(o, func(m member) bool { return m.name == "environment" }) {
		name = "environment"
	}
	o = slices.Clone(o)
	i := slices.IndexFunc(o, func(m member) bool { return m.name == name })
	if i < 0 {
		i, o = len(o), append(o, member{name, object{}})
	}
	own, _ := o[i].value.(object)
	own = slices.Clone(own)
	for _, key := range slices.Sorted(maps.Keys(env)) {
		own = append(own, member{key, env[key]})
	}
	o[i].value = own
	return o
}

// withAddedText is withAdded for the text of a file of the hub's own. If the file says the same in
// other blanks, it is as the hub would write it.
func withAddedText(text string, added map[string]string, e files.Entry) string {
	d, ok := documentOf(text)
	var entry map[string]json.RawMessage
	if !ok || json.Unmarshal(d.entry(), &entry) != nil {
		return text
	}
	name := variablesOf(entry)
	env := map[string]string{}
	if own, ok := entry[name]; ok && json.Unmarshal(own, &env) != nil {
		return text
	}
	maps.Copy(added, env)
	more, err := d.with(name, added)
	if err != nil {
		return text
	}
	present, err := files.Read(e.Root, e.File, e.Owner.Scope)
	if err == nil {
		have, found := documentOf(string(present))
		if want, ok := documentOf(more); ok && found && have.same(want) {
			return string(present)
		}
	}
	return more
}
