package room

import (
	"context"
	"errors"

	"hubcli/hub"
	"hubcli/integrations/browser/cdp"
)

// maxHeight bounds a screenshot of more than the view.
const maxHeight = 4_000

// screenshot draws the page: as PNG, or as JPEG if that is too big.
func (p *page) screenshot(ctx context.Context, full bool) (*hub.Picture, error) {
	clip := obj{"x": 0, "y": 0, "width": viewWidth, "height": viewHeight, "scale": 1}
	if full {
		var size struct {
			Content struct{ Width, Height float64 } `json:"cssContentSize"`
		}
		if err := p.call(ctx, "Page.getLayoutMetrics", nil, &size); err != nil {
			return nil, err
		}
		clip["height"] = max(viewHeight, min(size.Content.Height, maxHeight))
	}
	for _, try := range []struct {
		format, contentType string
		quality             int
	}{{"png", "image/png", 0}, {"jpeg", "image/jpeg", 70}, {"jpeg", "image/jpeg", 30}} {
		params := obj{"format": try.format}
		if full {
			params["clip"], params["captureBeyondViewport"] = clip, true
		}
		if try.quality > 0 {
			params["quality"] = try.quality
		}
		var got struct {
			Data []byte `json:"data"`
		}
		err := p.call(ctx, "Page.captureScreenshot", params, &got)
		if errors.Is(err, cdp.ErrTooBig) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(got.Data) <= hub.MaxScreenshot {
			return &hub.Picture{Data: got.Data, ContentType: try.contentType}, nil
		}
	}
	return nil, hub.NewError(hub.CodePageFailed, "the screenshot is too big to be kept").WithFix("take one without full")
}
