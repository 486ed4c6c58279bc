package hook

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestAnswers holds every byte that a harness gets.
func TestAnswers(t *testing.T) {
	const text = "<a> \"b\"\nc & d"
	const encoded = `<a> \"b\"\nc & d`
	context := Answer{Stdout: `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"` + encoded + `"}}`}
	adds := func(event string) Answer {
		return Answer{Stdout: `{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"` + encoded + `"}}`}
	}
	block := Answer{Stdout: `{"decision":"block","reason":"` + encoded + `"}`}
	none, braces := Answer{}, Answer{Stdout: "{}"}
	for _, tt := range []struct {
		harness      hub.Harness
		start, stop  Answer
		startS, stoS Answer
	}{
		{hub.HarnessClaudeCode, context, adds("Stop"), none, none},
		{hub.HarnessCodex, context, block, braces, braces},
		{hub.HarnessGeminiCLI, context, Answer{Stdout: `{"decision":"deny","reason":"` + encoded + `"}`}, braces, braces},
		{hub.HarnessVSCode, context, Answer{Stdout: `{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"` + encoded + `"}}`}, none, none},
		{hub.HarnessCopilotCLI, Answer{Stdout: `{"additionalContext":"` + encoded + `"}`}, block, none, none},
		{hub.HarnessCursor, Answer{Stdout: `{"additional_context":"` + encoded + `"}`}, Answer{Stdout: `{"followup_message":"` + encoded + `"}`}, braces, braces},
		{hub.HarnessGoose, none, block, none, none},
		{hub.HarnessQwenCode, context, block, none, none},
		{hub.HarnessDroid, context, block, none, none},
		{hub.HarnessContinue, context, block, none, none},
		{hub.HarnessKimi, none, Answer{Stderr: text + "\n", Exit: 2}, none, none},
		{hub.HarnessKiro, Answer{Stdout: text + "\n"}, none, none, none},
		{hub.HarnessGeneric, context, block, none, none},
	} {
		d := formOf(tt.harness)
		for _, c := range []struct {
			event     Event
			text      string
			got, want Answer
		}{
			{SessionStart, text, d.answer(SessionStart, text), tt.start},
			{Stop, text, d.answer(Stop, text), tt.stop},
			{SessionStart, "", d.answer(SessionStart, ""), tt.startS},
			{Stop, "", d.answer(Stop, ""), tt.stoS},
		} {
			if c.got != c.want {
				t.Errorf("%s %s %q:\n%+v, want\n%+v", tt.harness, c.event, c.text, c.got, c.want)
			}
		}
	}
}

// What the harnesses with strict readers take: nothing else, and nothing less.
var schemas = map[hub.Harness]map[Event]string{
	hub.HarnessCodex: {
		SessionStart: `{"type":"object","additionalProperties":false,"properties":{
			"continue":{"type":"boolean"},"stopReason":{"type":"string"},"systemMessage":{"type":"string"},"suppressOutput":{"type":"boolean"},
			"hookSpecificOutput":{"type":"object","additionalProperties":false,"required":["hookEventName"],"properties":{
				"hookEventName":{"const":"SessionStart"},"additionalContext":{"type":"string","maxLength":10000}}}}}`,
		Stop: `{"type":"object","additionalProperties":false,"properties":{
			"continue":{"type":"boolean"},"stopReason":{"type":"string"},"systemMessage":{"type":"string"},"suppressOutput":{"type":"boolean"},
			"decision":{"const":"block"},"reason":{"type":"string","minLength":1}},
			"dependentRequired":{"decision":["reason"]}}`,
	},
	hub.HarnessGeminiCLI: {
		SessionStart: `{"type":"object","properties":{"hookSpecificOutput":{"required":["additionalContext"]}}}`,
		Stop:         `{"type":"object","properties":{"decision":{"enum":["deny"]}},"dependentRequired":{"decision":["reason"]}}`,
	},
	hub.HarnessVSCode: {
		SessionStart: `{"type":"object","required":["hookSpecificOutput"]}`,
		Stop: `{"type":"object","required":["hookSpecificOutput"],"properties":{"decision":false,"hookSpecificOutput":{
			"required":["hookEventName","decision","reason"],"properties":{"hookEventName":{"const":"Stop"},"decision":{"const":"block"}}}}}`,
	},
	hub.HarnessCursor: {
		SessionStart: `{"type":"object","additionalProperties":false,"properties":{"additional_context":{"type":"string"},"env":{"type":"object"}}}`,
		Stop:         `{"type":"object","additionalProperties":false,"properties":{"followup_message":{"type":"string","minLength":1}}}`,
	},
}

func TestAnswersFitTheSchemas(t *testing.T) {
	for harness, events := range schemas {
		for event, source := range events {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(source))
			require.NoError(t, err)
			c := jsonschema.NewCompiler()
			require.NoError(t, c.AddResource("answer.json", doc))
			schema, err := c.Compile("answer.json")
			require.NoError(t, err)
			d := formOf(harness)
			answers := []Answer{d.answer(event, "a text")}
			if silence := d.silence(); silence.Stdout != "" {
				answers = append(answers, silence)
			}
			for _, a := range answers {
				got, err := jsonschema.UnmarshalJSON(strings.NewReader(a.Stdout))
				if err == nil {
					err = schema.Validate(got)
				}
				if err != nil {
					t.Errorf("%s %s: %s: %v", harness, event, a.Stdout, err)
				}
			}
		}
	}
}

// TestMidTurnAnswers: each harness that hears a hook within a turn gets the name of
// its own event.
func TestMidTurnAnswers(t *testing.T) {
	heard := map[hub.Harness][2]string{
		hub.HarnessClaudeCode: {"UserPromptSubmit", "PostToolBatch"},
		hub.HarnessCodex:      {"UserPromptSubmit", "PostToolUse"},
		hub.HarnessGeminiCLI:  {"BeforeAgent", "AfterTool"},
		hub.HarnessQwenCode:   {"UserPromptSubmit", "PostToolUse"},
		hub.HarnessDroid:      {"UserPromptSubmit", "PostToolUse"},
		hub.HarnessOpenCode:   {"UserPromptSubmit", "PostToolUse"}, // a plugin of the hub reads it
	}
	for _, h := range hub.Harnesses() {
		for i, e := range []Event{Prompt, Tool} {
			got, want := formOf(h).answer(e, "text"), formOf(h).silence()
			switch name := heard[h][i]; {
			case h == hub.HarnessCopilotCLI:
				want = Answer{Stdout: `{"additionalContext":"text"}`}
			case h == hub.HarnessKimi && e == Prompt:
				want = Answer{Stdout: "text\n"}
			case name != "":
				want = Answer{Stdout: `{"hookSpecificOutput":{"hookEventName":"` + name + `","additionalContext":"text"}}`}
			}
			if got != want {
				t.Errorf("%s %s: %+v, want %+v", h, e, got, want)
			}
		}
	}
}
