// Package metric stands in for the module go.opentelemetry.io/otel/sdk/metric, by a replace line
// in go.mod, as promhttp beside it does and for the same reason.
package metric

import "go.opentelemetry.io/otel/metric/noop"

// Reader reads nothing.
type Reader interface{ reads() }

// Option has no effect.
type Option struct{}

// WithReader has no effect.
func WithReader(Reader) Option { return Option{} }

// MeterProvider measures nothing.
type MeterProvider struct{ noop.MeterProvider }

// NewMeterProvider returns a provider that measures nothing.
func NewMeterProvider(...Option) *MeterProvider { return &MeterProvider{} }
