import { clock } from '../../../lib/clock.ts';
import type { FeedEvent } from '../../../services/shapes.ts';
import { tracedEntry } from '../../../telemetry/tracing.ts';

/** A push later than this was not caused by the pass that the change requested. */
const PUSHED_WITHIN_MS = 900_000;
/** A process may have thousands of watchers; the first pushes represent all of them. */
const MOST_PUSHES = 100;
const MOST_TRACES = 1_000;

/** Renders a live event as a part of the trace that changed its action. */
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
