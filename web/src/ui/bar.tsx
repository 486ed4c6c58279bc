interface Part {
  value: number;
  look: "good" | "warn" | "bad" | "accent" | "soft";
}

// Bar shows parts of a whole. What it shows is said in label, too.
export function Bar({ parts, whole, label }: { parts: readonly Part[]; whole: number; label: string }) {
  let at = 0;
  return (
    <svg class="bar" role="img" aria-label={label} viewBox="0 0 100 1" preserveAspectRatio="none">
      <title>{label}</title>
      {parts.map(({ value, look }) => {
        const width = whole === 0 ? 0 : (100 * value) / whole;
        const x = at;
        at += width;
        return width === 0 ? null : <rect key={look} x={x} width={width} height="1" class={`bar-${look}`} />;
      })}
    </svg>
  );
}
