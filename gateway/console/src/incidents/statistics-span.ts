const DAY = 86_400_000;

/** Milliseconds that the clocks of a time zone are ahead of UTC; 0 for a zone that the browser does not know. */
function offsetAt(time: number, timeZone: string): number {
  try {
    const format = new Intl.DateTimeFormat('en', {
      ...{ timeZone, hourCycle: 'h23', era: 'short', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
    const day = Date.UTC(part('year'), part('month') - 1, part('day'));
    const clock = (part('hour') * 60 + part('minute')) * 60 + part('second');
    return day + clock * 1_000 - Math.floor(time / 1_000) * 1_000;
  } catch {
    return 0;
  }
}

/** When the last days of a time zone begin, of which `now` is in the last; and the same number of days before them. */
export function spanOf(days: number, { timeZone, now }: { timeZone: string; now: number }) {
  const midnight = (before: number) => {
    const day = (Math.floor((now + offsetAt(now, timeZone)) / DAY) - before) * DAY;
    return new Date(day - offsetAt(day - offsetAt(day, timeZone), timeZone)).toISOString();
  };
  return { from: midnight(days - 1), before: midnight(2 * days - 1) };
}
