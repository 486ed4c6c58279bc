// bytes says a size in the unit that keeps it short.
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let i = -1;
  do {
    size /= 1000;
    i++;
  } while (size >= 999.5 && i < units.length - 1);
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[i]}`;
}
