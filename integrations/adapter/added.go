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
	if err != nil || e.Format == edit.Whole {
		return nil
	}
	have, found, err := edit.Get(e.Format, doc, e.At)
	var entry map[string]json.RawMessage
	if err != nil || !found || json.Unmarshal(have, &entry) != nil {
		return nil
	}
	return entry
}

// withAdded adds to the value of a bridge's entry the variables that a user
// added to the installed entry. They are not the hub's, so they stay when the
// entry is rewritten. The hub never passes them to processes that it starts
// itself.
func withAdded(value any, e files.Entry) any {
	o, ok := value.(object)
	if !ok || e.Format == edit.Whole {
		return value
	}
	entry := entryOf(e)
	name := "env"
	if slices.ContainsFunc(o, func(m member) bool { return m.name == "environment" }) {
		name = "environment"
	}
	var env map[string]string
	if json.Unmarshal(entry[name], &env) != nil {
		return value
	}
	delete(env, "HUB_DATA_ROOT") // the hub may have written it, now or earlier
	if len(env) == 0 {
		return value
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
