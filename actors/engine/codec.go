package engine

import (
	"context"
	"encoding/json"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Codec renders the answer of a write for its stored effect, and reads it again when
// the same idempotency key comes back. Secrets are never stored: Decode derives them
// anew.
type Codec[T any] struct {
	Kind   uint8
	Encode func(T) []byte
	Decode func(ctx context.Context, e *core.Effect) (T, error)
}

// The kinds of stored answers. Part of the store's format: append only.
const (
	EffectMessage  uint8 = 1
	EffectSession  uint8 = 2
	EffectClosed   uint8 = 3
	EffectRenamed  uint8 = 4
	EffectChannel  uint8 = 5
	EffectLease    uint8 = 6
	EffectTask     uint8 = 7
	EffectProject  uint8 = 8
	EffectRoom     uint8 = 9
	EffectDecision uint8 = 10
	EffectArtifact uint8 = 11
	EffectInvite   uint8 = 12
	EffectJoined   uint8 = 13
	EffectRun      uint8 = 14
	EffectMemory   uint8 = 15
	EffectBinding  uint8 = 16
	EffectSurface  uint8 = 17
	EffectSpawn    uint8 = 18
	EffectPolicy   uint8 = 19
	EffectSeat     uint8 = 20
	EffectAsk      uint8 = 21
	EffectNotify   uint8 = 22
	EffectPause    uint8 = 30

	EffectPermissions uint8 = 32
	EffectPermission  uint8 = 33
	EffectMute        uint8 = 40
	EffectBudget      uint8 = 41

	EffectChannelArchived uint8 = 44
	EffectRetired         uint8 = 45
	EffectPass            uint8 = 60
	EffectPassEnded       uint8 = 61
	EffectSeatFreed       uint8 = 62
	EffectConnection      uint8 = 70
	EffectUser            uint8 = 71
	EffectOutside         uint8 = 72 // of a write outside of the journal, as JSON
)

// JSONCodec stores an answer that has no secret as its JSON.
func JSONCodec[T any](kind uint8) Codec[T] {
	return Codec[T]{
		Kind:   kind,
		Encode: func(v T) []byte { return EncodeEffect(v) },
		Decode: func(_ context.Context, e *core.Effect) (T, error) { return DecodeEffect[T](e) },
	}
}

// EncodeEffect renders an answer as JSON. It panics if the type cannot be encoded,
// which is a mistake in the program.
func EncodeEffect(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: an answer does not encode: " + err.Error())
	}
	return b
}

// DecodeEffect reads the stored answer of an effect. Error: corrupt_record.
func DecodeEffect[T any](e *core.Effect) (v T, err error) {
	if json.Unmarshal(e.Answer, &v) != nil {
		return v, hub.NewError(hub.CodeCorruptRecord, "a stored answer cannot be read")
	}
	return v, nil
}
