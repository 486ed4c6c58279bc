// The Gemini API: https://ai.google.dev/api/generate-content

export const gemini = {
  path: /^\/v1beta\/models\/[^/]+:(streamGenerateContent|generateContent)$/,
  whole: /:generateContent$/, // these answers are no streams

  read: ({ tools, contents, systemInstruction }) => ({
    tools: Object.fromEntries((tools ?? []).flatMap(({ functionDeclarations: list }) => (list ?? []).map(({ name }) => [name, name]))),
    schemas: Object.fromEntries((tools ?? []).flatMap(({ functionDeclarations: list }) => (list ?? []).map((tool) => [tool.name, tool]))),
    sent: JSON.stringify([systemInstruction, contents]),
  }),

  // Its events have no type: send is told so by an undefined one.
  write(send, _, step, n) {
    const part = step.tool ? { functionCall: { id: `call_${n}`, name: step.tool, args: step.input ?? {} } } : { text: step.text };
    send(undefined, {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    });
  },
};
