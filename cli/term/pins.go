//go:build !carries

package term

import "hubcli/integrations/browser/engine"

type browserPins = engine.Pins
