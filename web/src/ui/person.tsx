import type { Authority } from "../wire";
import { Line } from "./text";

// Person names who said or did something. The badge of the operator and of the hub comes from
// the authority of the message and stands outside of the name, which holds no element, so no
// name can draw one.
export function Person({ id, authority = "agent" }: { id: string; authority?: Authority }) {
  if (id === "operator" && authority === "agent") authority = "operator"; // no agent can have this id
  return (
    <span class="person" data-authority={authority}>
      <span class="face" data-hue={authority === "agent" ? hue(id) : "none"} aria-hidden="true">
        {authority === "agent" ? id.slice(0, 1).toUpperCase() : authority === "operator" ? "●" : "⚙"}
      </span>
      <Line>{id}</Line>
      {authority === "operator" && <span class="badge badge-operator">you</span>}
      {authority === "system" && <span class="badge">hub</span>}
    </span>
  );
}

// hue tells agents apart at a glance; it is one of eight.
function hue(id: string): number {
  let sum = 0;
  for (const char of id) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9973;
  return sum % 8;
}
