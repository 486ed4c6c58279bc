// The Chat Completions API of OpenAI: https://platform.openai.com/docs/api-reference/chat/streaming

export const chat = {
  path: /^\/v1\/chat\/completions$/,

  read: ({ tools, messages }) => ({
    tools: Object.fromEntries((tools ?? []).map(({ function: { name } }) => [name, name])),
    schemas: Object.fromEntries((tools ?? []).map((tool) => [tool.function.name, tool])),
    sent: JSON.stringify(messages),
  }),

  // Its events have no type: send is told so by an undefined one.
  write(send, { model }, step, n) {
    const chunk = (delta, finish_reason = null) =>
      send(undefined, { id: `chat_${n}`, object: "chat.completion.chunk", created: 1, model, choices: [{ index: 0, delta, finish_reason }] });
    chunk({ role: "assistant", content: step.tool ? null : step.text });
    if (step.tool) {
      const call = { name: step.tool, arguments: JSON.stringify(step.input ?? {}) };
      chunk({ tool_calls: [{ index: 0, id: `call_${n}`, type: "function", function: call }] });
    }
    chunk({}, step.tool ? "tool_calls" : "stop");
    send("[DONE]");
  },
};
