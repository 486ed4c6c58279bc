//go:build !carries && !hub_omit_browser

package term

import "hubcli/integrations/browser/engine"

type browserPins = engine.Pins
