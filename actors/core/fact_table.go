package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"sync"
)

// factTypes makes an empty fact of every type that was ever journaled.
var factTypes = sync.OnceValue(func() map[FactType]func() Fact {
	all := map[FactType]func() Fact{}
	for _, kind := range []map[FactType]func() Fact{
		agentFacts(), channelFacts(), leaseFacts(), taskFacts(), runFacts(), projectFacts(), roomFacts(), memoryFacts(),
		settingsFacts(), spawnFacts(), askFacts(), pauseFacts(), leaseBreakFacts(), renameFacts(), archiveFacts(), retireFacts(), muteFacts(), budgetFacts(), importFacts(), connectionFacts(),
	} {
		maps.Copy(all, kind)
	}
	return all
})

// String returns the name of the fact's struct.
func (t FactType) String() string {
	if make, ok := factTypes()[t]; ok {
		return reflect.TypeOf(make()).Elem().Name()
	}
	return fmt.Sprintf("fact-%d", uint16(t))
}

// DecodeFact decodes a fact. An unknown type or malformed bytes are an error: a
// later version wrote the record, or it is damaged.
func DecodeFact(e EncodedFact) (Fact, error) {
	make, ok := factTypes()[e.Type]
	if !ok {
		return nil, errLaterVersion(fmt.Sprintf("fact type %d is not known", e.Type))
	}
	f := make()
	if err := json.Unmarshal(e.Data, f); err != nil {
		return nil, fmt.Errorf("core: fact type %d: %w", e.Type, err)
	}
	return f, nil
}
