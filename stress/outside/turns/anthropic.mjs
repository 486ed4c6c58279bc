// The Messages API of Anthropic: https://docs.anthropic.com/en/api/messages-streaming

export const anthropic = {
  path: /^\/v1\/messages$/,

  read: ({ tools, messages }) => ({
    tools: Object.fromEntries((tools ?? []).map(({ name }) => [name, name])),
    schemas: Object.fromEntries((tools ?? []).map((tool) => [tool.name, tool])),
    sent: JSON.stringify(messages),
  }),

  write(send, { model }, step, n) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${n}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage };
    send("message_start", { message });
    if (step.tool) {
      const block = { type: "tool_use", id: `tool_${n}`, name: step.tool, input: {} };
      send("content_block_start", { index: 0, content_block: block });
      send("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: JSON.stringify(step.input ?? {}) } });
    } else {
      send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      send("content_block_delta", { index: 0, delta: { type: "text_delta", text: step.text } });
    }
    send("content_block_stop", { index: 0 });
    send("message_delta", { delta: { stop_reason: step.tool ? "tool_use" : "end_turn", stop_sequence: null }, usage });
    send("message_stop", {});
  },
};
