import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { moves } from "../route";
import { Line } from "./text";

// said is what has become of the last act of the person; empty: nothing to say.
export const said = signal("");

// Outcome says it at the foot of the page, until the person goes on or closes it. What the act
// was about may be gone from the page by then.
export function Outcome() {
  useEffect(() => {
    said.value = "";
  }, [moves.value]);
  return (
    <div role="status" class={said.value ? "outcome" : ""}>
      {said.value && (
        <>
          <Line>{said.value}</Line>
          <button type="button" data-look class="quiet" aria-label="Close" onClick={() => (said.value = "")}>
            ✕
          </button>
        </>
      )}
    </div>
  );
}
