import type { ComponentChildren } from "preact";

// Part is a part of what stands beside a timeline.
export function Part({ title, count, children }: { title: string; count?: number | undefined; children: ComponentChildren }) {
  return (
    <section>
      <h2>
        {title} {count !== undefined && count > 0 && <span class="count">{count}</span>}
      </h2>
      {children}
    </section>
  );
}
