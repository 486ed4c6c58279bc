import { useEffect, useId, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { place, setQuery } from "../route";

export interface Tab {
  name: string; // in the address
  label: string;
  count?: number | string | undefined;
  view: () => ComponentChildren;
}

// Tabs show one of several parts of a page. The address names which (?tab=), so that a link
// leads there; the first needs no name. Arrow keys move between them.
export function Tabs({ label, tabs, param = "tab" }: { label: string; tabs: readonly Tab[]; param?: string }) {
  const id = useId();
  const named = place.value.query.get(param);
  const at = Math.max(0, tabs.findIndex((tab) => tab.name === named));
  const show = (i: number) => setQuery({ [param]: i === 0 ? "" : (tabs[i]?.name ?? "") });
  const shown = tabs[at];
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a narrow page the row of tabs scrolls.
    bar.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [at]);
  return (
    <>
      <div
        ref={bar}
        class="tabs"
        role="tablist"
        aria-label={label}
        onKeyDown={(event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!step) return;
          event.preventDefault();
          const next = (at + step + tabs.length) % tabs.length;
          show(next);
          (event.currentTarget.children[next] as HTMLElement).focus();
        }}
      >
        {tabs.map((tab, i) => (
          <button
            data-look
            key={tab.name}
            id={`${id}-${tab.name}`}
            type="button"
            role="tab"
            aria-selected={i === at}
            aria-controls={i === at ? `${id}-panel` : undefined}
            tabIndex={i === at ? 0 : -1}
            onClick={() => show(i)}
          >
            {tab.label}
            {tab.count !== undefined && <span class="count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown?.name}`} class="panel">
        {shown?.view()}
      </div>
    </>
  );
}
