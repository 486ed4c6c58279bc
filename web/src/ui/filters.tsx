import type { ComponentChildren } from "preact";
import { place, setQuery } from "../route";
import { line } from "./text";

// Filters live in the address. A change shows the first page.
const set = (name: string, value: string) => setQuery({ [name]: value, page: "" });

export const filter = (name: string) => place.value.query.get(name) ?? "";

// Filters is the bar of a page's filters.
export const Filters = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="row filters" role="search" aria-label={label}>
    {children}
  </div>
);

// Search filters by a text that the person types.
export const Search = ({ name = "q", label }: { name?: string; label: string }) => (
  <input
    data-search
    type="search"
    aria-label={label}
    placeholder={label.toLowerCase()}
    value={filter(name)}
    onInput={(event) => set(name, event.currentTarget.value)}
  />
);

interface ChoiceProps {
  name: string; // in the address
  label: string;
  none: string; // the choice that filters nothing
  options: readonly (readonly [value: string, label: string])[];
}

// Choice filters by one of several values. A value of the address that is none of them is shown, too.
export function Choice({ name, label, none, options }: ChoiceProps) {
  const chosen = filter(name);
  const known = chosen === "" || options.some(([value]) => value === chosen);
  return (
    <select aria-label={label} value={chosen} onChange={(event) => set(name, event.currentTarget.value)}>
      <option value="">{none}</option>
      {!known && <option value={chosen}>{line(chosen)}</option>}
      {options.map(([value, words]) => (
        <option key={value} value={value}>
          {line(words)}
        </option>
      ))}
    </select>
  );
}
