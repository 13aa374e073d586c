import type { PublishActionInput } from '../../services/shapes.ts';
import { liveAction } from './story.ts';

/** An action of a day, and when in it, in minutes since midnight. */
export interface TracedAction {
  readonly minute: number;
  readonly input: PublishActionInput;
}

/** Actions in each hour from eight on, as offices have them: two peaks and a lunch. */
const PER_HOUR = [12, 38, 46, 34, 10, 26, 42, 36, 22, 8];
const FIRST_HOUR = 8;

/** Minutes of an hour, the same at every start: a linear congruence is random enough for that. */
function spread(count: number, hour: number): number[] {
  let state = hour * 7_919 + count;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (hour + state / 2 ** 32) * 60;
  }).sort((a, b) => a - b);
}

/** A day of activity, oldest first. @param run tells one playing from another */
export function traceOfDay(run: string): TracedAction[] {
  return PER_HOUR.flatMap((count, hour) => spread(count, FIRST_HOUR + hour)).map((minute, n) => ({
    minute,
    input: liveAction(`${run}:trace`, n),
  }));
}

/** How long to wait before each action when a day takes so long, in ms. */
export function* paced(day: readonly TracedAction[], dayMs: number): Generator<[number, TracedAction]> {
  const [first, last] = [day[0]?.minute ?? 0, day.at(-1)?.minute ?? 0];
  const perMinute = dayMs / Math.max(1, last - first);
  let before = first;
  for (const traced of day) {
    yield [(traced.minute - before) * perMinute, traced];
    before = traced.minute;
  }
}
