package hub

// secretShown stands in texts where a secret would be.
const secretShown = "[secret]"

// Secret is a text that must not be shown, such as the key of a provider. Printing it,
// logging it and encoding it give a placeholder; only Reveal gives the text.
type Secret struct{ text string }

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text, for the one place that needs it.
func (s Secret) Reveal() string { return s.text }

// Empty reports whether there is no text.
func (s Secret) Empty() bool { return s.text == "" }

func (s Secret) String() string { return secretShown }

// GoString hides the text from %#v.
func (s Secret) GoString() string { return secretShown }

// MarshalText hides the text from encoders and logs. There is nothing that reads a secret back.
func (s Secret) MarshalText() ([]byte, error) { return []byte(secretShown), nil }
