import type { ComponentChildren } from "preact";

// Part is a part of what stands beside a timeline.
export function Part({ title, count, children }: { title: string; count?: number | string | undefined; children: ComponentChildren }) {
  return (
    <section>
      <h2>
        {title} {Boolean(count) && <span class="count">{count}</span>}
      </h2>
      {children}
    </section>
  );
}
