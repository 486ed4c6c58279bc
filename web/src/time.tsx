// Times are shown in the time of the reader, with the zone on hover.
export function Time({ at }: { at: string }) {
  const when = new Date(at);
  return (
    <time dateTime={at} title={when.toString()}>
      {when.toLocaleTimeString()}
    </time>
  );
}
