package core

import (
	"encoding/json"
	"fmt"
	"maps"
)

// factTypes makes an empty fact of every type that was ever journaled.
var factTypes = func() map[FactType]func() Fact {
	all := map[FactType]func() Fact{}
	for _, kind := range []map[FactType]func() Fact{agentFacts(), channelFacts(), leaseFacts(), taskFacts()} {
		maps.Copy(all, kind)
	}
	return all
}()

// EncodeFact renders a fact for the journal.
func EncodeFact(f Fact) EncodedFact {
	data, err := json.Marshal(f)
	if err != nil {
		panic(fmt.Sprintf("core: fact %T does not encode: %v", f, err))
	}
	return EncodedFact{Type: f.FactType(), Data: data}
}

// DecodeFact reads a fact back. An unknown type or bytes that are no fact are an
// error: the record was written by a newer version or is damaged.
func DecodeFact(e EncodedFact) (Fact, error) {
	make, ok := factTypes[e.Type]
	if !ok {
		return nil, fmt.Errorf("core: unknown fact type %d", e.Type)
	}
	f := make()
	if err := json.Unmarshal(e.Data, f); err != nil {
		return nil, fmt.Errorf("core: fact type %d: %w", e.Type, err)
	}
	return f, nil
}
