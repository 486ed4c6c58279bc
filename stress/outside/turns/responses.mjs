// The Responses API of OpenAI: https://platform.openai.com/docs/api-reference/responses-streaming

// given is the input of a call: a text for a custom tool, JSON for the others.
const given = ({ tool, input }) => {
  if (tool.type === "custom_tool_call") return { input };
  if (tool.type === "tool_search_call") return { execution: "client", status: "completed", arguments: input };
  return { arguments: JSON.stringify(input ?? {}) };
};

export const responses = {
  path: /^\/v1\/responses$/,

  // Tools of a server stand in a namespace, which a call names too.
  read({ tools, input, instructions }) {
    const known = {};
    const schemas = {};
    for (const tool of tools ?? []) {
      for (const inner of tool.type === "namespace" ? tool.tools : [tool]) {
        schemas[inner.name ?? tool.type] = inner;
        known[inner.name ?? tool.type] = {
          name: inner.name,
          namespace: tool.type === "namespace" ? tool.name : undefined,
          type: { custom: "custom_tool_call", tool_search: "tool_search_call" }[inner.type] ?? "function_call",
        };
      }
    }
    return { tools: known, schemas, sent: JSON.stringify([instructions, input]) };
  },

  write(send, body, step, n) {
    const item = step.tool
      ? { id: `fc_${n}`, call_id: `call_${n}`, ...step.tool, ...given(step) }
      : { type: "message", id: `m_${n}`, role: "assistant", content: [{ type: "output_text", text: step.text }] };
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
    send("response.created", { response: { id: `r_${n}` } });
    send("response.output_item.done", { output_index: 0, item });
    send("response.completed", { response: { id: `r_${n}`, usage } });
  },
};
