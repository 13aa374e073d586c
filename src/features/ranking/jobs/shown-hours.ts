import type { ShownInView } from '../../events/store/event-outbox.ts';
import type { Context } from '../../../feed/context.ts';

const HOUR_MS = 3_600_000;
/** What was recorded at the end of an hour may not be stored yet. */
const GRACE_MS = 600_000;
/** Hours that are made up for when nothing has run. */
const MOST_HOURS = 24;

/**
 * Records for hosts what was shown in each hour that has ended between two times: how often, by view and type of action. Repeating it
 * records nothing twice. @param after `null`: the last hours are to be looked at
 */
export async function recordShownHours(
  { impressions, rankedActions, eventOutbox }: Pick<Context, 'impressions' | 'rankedActions' | 'eventOutbox'>,
  after: Date | null,
  until: Date,
): Promise<void> {
  const end = hourOf(until);
  const first = Math.max(after === null ? 0 : hourOf(after), end - MOST_HOURS);
  for (let hour = first; hour < end; hour++) {
    const from = new Date(hour * HOUR_MS);
    const counts = new Map<string, Map<string, number>>();
    for await (const shown of impressions.shownWithin(from, new Date(from.getTime() + HOUR_MS))) {
      const actions = await rankedActions.find([...new Set(shown.map(({ actionId }) => actionId))], false);
      const types = new Map(actions.map(({ id, type }) => [id, type]));
      for (const { actionId, view, beside, count } of shown) {
        const type = types.get(actionId);
        if (type === undefined) continue;
        const key = JSON.stringify([beside, view]);
        const ofView = counts.get(key) ?? new Map<string, number>();
        ofView.set(type, (ofView.get(type) ?? 0) + count);
        counts.set(key, ofView);
      }
    }
    await eventOutbox.putShown(from, Array.from(counts, shownInView));
  }
}

function hourOf(time: Date): number {
  return Math.floor((time.getTime() - GRACE_MS) / HOUR_MS);
}

function shownInView([key, types]: readonly [string, ReadonlyMap<string, number>]): ShownInView {
  const [beside, view] = JSON.parse(key) as [ShownInView['beside'], ShownInView['view']];
  const ordered = [...types].sort(([one], [other]) => (one < other ? -1 : 1));
  return { beside, view, types: ordered.map(([type, count]) => ({ type, count })) };
}
