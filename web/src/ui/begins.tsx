import { setQuery } from "../route";
import { filter } from "./filters";
import { Line } from "./text";

// Begins offers to have the hub look for names that begin with what the person filters by
// (?begins=), where the page knows the first part of a list alone. more says that it does.
export function Begins({ what, more }: { what: string; more: boolean }) {
  const text = filter("q");
  const begins = filter("begins");
  return (
    <>
      {begins && (
        <p class="row soft">
          Only {what} whose name begins with <Line>{begins}</Line>
          <button type="button" data-look onClick={() => setQuery({ begins: "", page: "" })}>
            Show all
          </button>
        </p>
      )}
      {more && text && (
        <button type="button" data-look onClick={() => setQuery({ begins: text, q: "", page: "" })}>
          Look in all {what} for names that begin with “<Line>{text}</Line>”
        </button>
      )}
    </>
  );
}
