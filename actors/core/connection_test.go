package core

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// connectionRig keeps a state, and the rows that it has written.
type connectionRig struct {
	state *Connections
	rows  map[string][]byte
	at    Position
}

func newConnectionRig() *connectionRig {
	return &connectionRig{state: NewConnections(), rows: map[string][]byte{}}
}

// do applies a decision and returns its answer.
func (r *connectionRig) do(d Decision[ConnectionChanged], err error) (ConnectionChanged, error) {
	if err != nil {
		return ConnectionChanged{}, err
	}
	r.at.Seq++
	r.at.Now.Wall += 1000
	for _, f := range d.Facts {
		r.state.Apply(f, r.at, func(row Row) { r.rows[string(byte(row.Table))+string(row.Key)] = row.Value })
	}
	return d.Answer(r.at), nil
}

func given(origin string) ConnectionKey {
	return ConnectionKey{Source: hub.KeySourceOS, Ref: "os:x/" + origin, Variable: "K", Fingerprint: "00000000", Origin: origin}
}

func TestConnectionsKeepKeysToTheirServers(t *testing.T) {
	r := newConnectionRig()
	made, err := r.do(r.state.Create(hub.Connection{ProviderID: "custom", Endpoint: "https://a", Label: "Mine"}, given("https://a"), r.at.Now))
	if err != nil || made.Row.ConnectionID != "cn_1" || made.Row.KeySource != hub.KeySourceOS {
		t.Fatalf("%+v %v", made, err)
	}
	if _, err := r.state.Create(hub.Connection{Label: "mINE"}, ConnectionKey{}, r.at.Now); !errors.Is(err, &hub.Error{Code: hub.CodeLabelTaken}) {
		t.Errorf("a label was given twice: %v", err)
	}
	models := []hub.ProviderModel{{ModelID: "m"}}
	checked, err := r.do(r.state.Checked(&made.Row, hub.ConnectionCheck{OK: true, Key: hub.KeyProved}, models, "11111111", r.at.Now))
	if err != nil || checked.Row.Models != 1 || checked.Row.KeyFingerprint != "11111111" || checked.Row.ModelsAt == nil {
		t.Errorf("checked: %+v %v", checked, err)
	}
	failed, err := r.do(r.state.Checked(&made.Row, hub.ConnectionCheck{Fault: hub.FaultWrongKey}, nil, "", r.at.Now))
	if err != nil || failed.Row.Models != 1 || failed.Row.Check.OK {
		t.Errorf("a failure has taken the models: %+v %v", failed, err)
	}
	same, err := r.do(r.state.Update("cn_1", ConnectionMove{Endpoint: "https://a", Origin: "https://a"}, r.at.Now))
	if err != nil || same.Dropped != "" || same.Row.KeySource != hub.KeySourceOS || same.Row.Models != 1 {
		t.Errorf("the same servers: %+v %v", same, err)
	}
	moved, err := r.do(r.state.Update("cn_1", ConnectionMove{Endpoint: "https://b", Origin: "https://b"}, r.at.Now))
	if err != nil || moved.Dropped != "os:x/https://a" || moved.Row.KeySource != hub.KeySourceNeeded || moved.Row.KeyRef != "" || moved.Row.Models != 0 {
		t.Errorf("other servers: %+v %v", moved, err)
	}
	if value := r.rows[string(byte(TableConnectionModel))+"cn_1"]; len(value) != 0 {
		t.Errorf("the models of other servers are kept: %s", value)
	}
	for name, err := range map[string]error{
		"a key for the servers of before":     second(r.state.SetKey(&made.Row, given("https://a"), r.at.Now)),
		"an outcome of the servers of before": second(r.state.Checked(&made.Row, hub.ConnectionCheck{OK: true}, models, "", r.at.Now)),
	} {
		if !errors.Is(err, &hub.Error{Code: hub.CodeVersionConflict}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone, err := r.do(r.state.Delete("cn_1"))
	if err != nil || gone.Row.Label != "Mine" {
		t.Errorf("deleted: %+v %v", gone, err)
	}
	if err := second(r.state.Delete("cn_1")); !errors.Is(err, &hub.Error{Code: hub.CodeConnectionNotFound}) {
		t.Errorf("deleted twice: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestConnectionsAreBounded(t *testing.T) {
	r := newConnectionRig()
	for range hub.MaxProviderConnections {
		if _, err := r.do(r.state.Create(hub.Connection{ProviderID: "groq"}, ConnectionKey{Source: hub.KeySourceNone}, r.at.Now)); err != nil {
			t.Fatal(err)
		}
	}
	if err := second(r.state.Create(hub.Connection{ProviderID: "groq"}, ConnectionKey{}, r.at.Now)); !errors.Is(err, &hub.Error{Code: hub.CodeLimitReached}) {
		t.Errorf("one more: %v", err)
	}
}

// TestConnectionsAreTheirRows: whatever happens, the state is what its stored rows say, and
// applying a fact twice changes nothing.
func TestConnectionsAreTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newConnectionRig()
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			id := hub.ConnectionID(rapid.SampledFrom([]string{"cn_1", "cn_2", "cn_3"}).Draw(t, "id"))
			origin := rapid.SampledFrom([]string{"https://a", "https://b"}).Draw(t, "origin")
			row := r.state.held[id]
			var d Decision[ConnectionChanged]
			var err error
			switch rapid.IntRange(0, 4).Draw(t, "act") {
			case 0:
				d, err = r.state.Create(hub.Connection{ProviderID: "custom", Endpoint: origin}, given(origin), r.at.Now)
			case 1:
				d, err = r.state.Update(id, ConnectionMove{Endpoint: origin, Origin: origin}, r.at.Now)
			case 2:
				d, err = r.state.SetKey(&row, given(row.Endpoint), r.at.Now)
			case 3:
				d, err = r.state.Checked(&row, hub.ConnectionCheck{OK: true}, []hub.ProviderModel{{ModelID: "m"}}, "", r.at.Now)
			case 4:
				d, err = r.state.Delete(id)
			}
			if err != nil {
				continue
			}
			_, _ = r.do(d, nil)
			for _, f := range d.Facts {
				r.state.Apply(f, r.at, nil)
			}
		}
		restored := NewConnections()
		labels := map[string]bool{}
		for key, value := range r.rows {
			if key[0] == byte(TableConnection) {
				if err := restored.Restore(value); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !reflect.DeepEqual(restored.held, r.state.held) {
			t.Fatalf("the rows say %v, the state %v", restored.held, r.state.held)
		}
		for row := range maps.Values(r.state.held) {
			if labels[row.Label] {
				t.Fatalf("the label %s stands twice", row.Label)
			}
			labels[row.Label] = true
			if row.KeyRef != "" && row.KeyOrigin != row.Endpoint {
				t.Fatalf("the key of %s would go to %s", row.KeyOrigin, row.Endpoint)
			}
		}
	})
}
