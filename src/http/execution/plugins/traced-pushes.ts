import { clock } from '../../../lib/clock.ts';
import type { FeedEvent } from '../../../services/shapes.ts';
import { tracedEntry } from '../../../telemetry/tracing.ts';

/** A change that is pushed later than this has come by another way than the pass it asked for. */
const PUSHED_WITHIN_MS = 900_000;
/** A process has thousands of watchers; what the first of them got stands for all. */
const MOST_PUSHES = 100;
const MOST_TRACES = 1_000;

/** Runs what makes the frame of a live event as a part of the trace that changed its action. */
export function tracedPushes(): <T>(event: FeedEvent, present: () => T) => T {
  const pushes = new Map<string, number>();
  return (event, present) => {
    const trace = 'item' in event ? event.item.action.fanOut.trace : undefined;
    if (trace === undefined || clock.time() - trace.at.getTime() > PUSHED_WITHIN_MS) return present();
    const count = (pushes.get(trace.parent) ?? 0) + 1;
    if (count > MOST_PUSHES) return present();
    if (pushes.size >= MOST_TRACES) pushes.clear();
    pushes.set(trace.parent, count);
    const attributes = { 'fanfare.event': event.kind };
    return tracedEntry('push', { parent: trace.parent, kind: 'consumer', attributes }, present);
  };
}
