import { expect, test } from 'vitest';
import { recordShownHours } from '../../../src/features/ranking/jobs/shown-hours.ts';
import { rescoring } from '../../../src/features/ranking/jobs/rescoring.ts';
import { storedId } from '../../../src/domain/stored-id.ts';
import { eventsOf, moveEvents } from '../../support/events.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts } from '../../support/parts.ts';

const HOUR = 3_600_000;
/** Ten minutes later an hour is over. */
const LATER = 10 * 60_000;

test('hosts are sent what was shown in an hour, by view and type, once, when the hour is over', async () => {
  await using parts = await openParts({ recordsEvents: true, keepsImpressions: true });
  const { services, service, core, database } = parts;
  const outcomes = await services.publishActions(service, [
    { actorId: 'bob', descriptor: { posted: { postId: 'p', postTitle: 'T', text: 'x' } } },
    { actorId: 'bob', descriptor: { posted: { postId: 'q', postTitle: 'T', text: 'x' } } },
    { actorId: 'bob', descriptor: { custom: { verb: 'made', objectType: 'post', objectId: 'o' } } },
  ]);
  const [first = '', second = '', custom = ''] = outcomes.map(({ action }) => action?.id);
  const now = Math.floor(Date.now() / HOUR) * HOUR;
  const record = (userId: string, actionId: string, view: string, at: number) =>
    core.impressions.record(userId, [{ actionId, view, ms: null }], new Date(at));
  await record('ann', first, '', now);
  await record('ann', first, 'hot', now + 1);
  await record('ann', second, 'hot', now + HOUR - 1);
  await record('bob', first, 'hot', now + 2);
  await record('bob', custom, 'hot', now + 3);
  // The hours before and after are others.
  await record('bob', custom, 'hot', now - 1);
  await record('bob', custom, 'hot', now + HOUR);
  await record(storedId('acme', 'ann'), custom, 'hot', now + 4);
  const shownIn = async (hour: number) => {
    await moveEvents(database.collections);
    return (await eventsOf(parts)).flatMap(({ type, tenant, facts: { from, view, shown } }) =>
      type === 'impressions.hourly' && from?.getTime() === hour ? [{ tenant, view, shown }] : [],
    );
  };
  await recordShownHours(core, new Date(now + LATER), new Date(now + HOUR + LATER - 1));
  expect(await shownIn(now)).toEqual([]);
  const job = runnerOf(rescoring, core, {
    events: { retentionMs: HOUR, digests: null },
  });
  await job.round(new Date(now + HOUR + LATER));
  await job.round(new Date(now + HOUR + 3 * LATER));
  expect((await shownIn(now)).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
    { tenant: 'acme', view: 'hot', shown: [{ type: 'Custom', count: 1 }] },
    {
      tenant: null,
      view: 'hot',
      shown: [
        { type: 'Custom', count: 1 },
        { type: 'Posted', count: 3 },
      ],
    },
    { tenant: null, view: null, shown: [{ type: 'Posted', count: 1 }] },
  ]);
  await recordShownHours(core, null, new Date(now + 2 * HOUR + LATER));
  expect(await shownIn(now)).toHaveLength(3);
  expect(await shownIn(now - HOUR)).toEqual([
    { tenant: null, view: 'hot', shown: [{ type: 'Custom', count: 1 }] },
  ]);
  expect(await shownIn(now + HOUR)).toHaveLength(1);
});
