import type { QuietHours } from './notification.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Local wall-clock time, as if it were UTC, in milliseconds. */
type WallClock = (time: number) => number;

function wallClockIn(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, calendar: 'iso8601', hourCycle: 'h23' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const shown = [of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')] as const;
    return Date.UTC(...shown);
  };
}

/**
 * When the clock shows this. A time that it shows twice, since it was set back: the first or the second, as asked. One that it
 * skips: when it was set forward.
 */
function instantOf(shown: number, wall: WallClock, pick: (...times: number[]) => number): number {
  const [before, after] = [shown - DAY_MS, shown + DAY_MS].map((time) => shown - (wall(time) - time)) as [
    number,
    number,
  ];
  const exact = [before, after].filter((time) => wall(time) === shown);
  if (exact.length > 0) return pick(...exact);
  let time = Math.min(before, after);
  while (wall(time) < shown) time += MINUTE_MS;
  return time;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/**
 * When the quiet hours end that it is now; `null`: it is none of them. In a night in which the clock is set back they begin at
 * the first time that it shows, and end at the second.
 */
export function quietUntil({ from, to, timeZone, days }: QuietHours, now: Date): Date | null {
  const wall = wallClockIn(timeZone);
  const today = Math.floor(wall(now.getTime()) / DAY_MS) * DAY_MS;
  const isOverMidnight = minutesOf(to) <= minutesOf(from);
  for (const day of [today - DAY_MS, today]) {
    // Sunday is 0 here, and 7 for members.
    if (days !== null && !days.includes(new Date(day).getUTCDay() || 7)) continue;
    const lastDay = isOverMidnight ? day + DAY_MS : day;
    const begin = instantOf(day + minutesOf(from) * MINUTE_MS, wall, Math.min);
    const end = instantOf(lastDay + minutesOf(to) * MINUTE_MS, wall, Math.max);
    if (begin <= now.getTime() && now.getTime() < end) return new Date(end);
  }
  return null;
}
