import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
import { getActionOrScheduled } from '../../../src/feed/page/read-actions.ts';
import { publication } from '../../../src/features/publish/jobs/publication.ts';
import { publishAction } from '../../../src/features/publish/publish-action.ts';
import { updateAction } from '../../../src/features/publish/update-action.ts';
import { MAX_LIVE_AT_ONCE } from '../../../src/domain/lane.ts';
import { NO_HOOKS } from '../../../src/domain/hook.ts';
import { revised } from '../../../src/storage/stages/revision.ts';
import { eventsOf, moveEvents } from '../../support/events.ts';
import { erase } from '../../support/erasure.ts';
import { openLiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { runnerOf } from '../../support/jobs.ts';
import { letComeDue, publicationWorker, publishDue } from '../../support/schedule.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ahead = (ms = HOUR): Date => new Date(Date.now() + ms);
const SITE = { id: 'site', type: 'site', label: 'Site' };
const posted = (text: string) => ({ posted: { postId: 'p', text } });

async function schedule(parts: Parts, input: Partial<PublishActionInput> = {}): Promise<string> {
  const { action } = await parts.publish({
    ...{ actorId: 'bob', refs: [SITE], publishAt: ahead(), descriptor: posted('Soon') },
    ...input,
  });
  return action.id;
}

const idsOf = (page: { readonly edges: readonly { readonly node: { readonly id: string } }[] }): string[] =>
  page.edges.map(({ node }) => node.id);

/** What hosts are notified of actions. */
async function ofActions(parts: Parts) {
  return (await eventsOf(parts)).filter(({ type }) => type !== 'follow.opened');
}

async function scheduledOf(parts: Parts, actorId: string): Promise<string[]> {
  return idsOf(await parts.services.readScheduled(parts.session(actorId), {}));
}

test('until its time nobody has it but its actor, services and admins, and nothing counts it', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { services, session } = parts;
  await services.follow(session('ann'), 'site', 0);
  const publishAt = ahead();
  const id = await schedule(parts, { publishAt, scope: 'PUBLIC', mentions: ['ann'] });
  const [bob, ann, admin] = [session('bob'), session('ann'), session('root', 'admin')];
  await parts.fanOut();
  for (const reader of [bob, session('service', 'service'), admin])
    expect(await getActionOrScheduled(reader, id)).toMatchObject({ id, publishAt, conducted: publishAt });
  expect(await getActionOrScheduled(ann, id)).toBeNull();
  expect(await scheduledOf(parts, 'bob')).toEqual([id]);
  for (const reader of [bob, ann, admin]) {
    expect(await services.getAction(reader, id)).toBeNull();
    const slice = await services.readSlice(reader, 'site', {});
    expect([idsOf(slice), await slice.countTotal()]).toEqual([[], { count: 0, isExact: true }]);
    await expect(services.addInteraction(reader, { actionId: id, kind: 'LIKE' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(services.bookmark(reader, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(await parts.feedOf('ann')).toEqual([]);
  expect((await services.readNotifications(ann, {})).edges).toEqual([]);
  const listed = await services.listActions(admin, { includeHidden: true });
  expect([idsOf(listed), await listed.countTotal()]).toEqual([[], { count: 0, isExact: true }]);
  for (const change of [services.hideAction, services.unhideAction])
    await expect(change(admin, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const { collections } = parts.database;
  await moveEvents(collections);
  expect(await ofActions(parts)).toEqual([]);
  expect(await collections.refs.findOne({ _id: 'site', search: { $exists: true } })).toBeNull();
});

test('of many that come due together of one actor nobody waits for each', async () => {
  await using parts = await openParts();
  const { actions } = parts.database.collections;
  for (const [actorId, count] of [
    ['bob', MAX_LIVE_AT_ONCE + 1],
    ['cem', MAX_LIVE_AT_ONCE],
  ] as const)
    for (let n = 0; n < count; n += 1) await letComeDue(parts, await schedule(parts, { actorId }));
  await publicationWorker(parts).round();
  const lanes = await actions
    .aggregate([
      { $group: { _id: { actorId: '$actorId', lane: '$fanOut.lane' }, count: { $sum: 1 } } },
      { $sort: { _id: 1 } },
    ])
    .toArray();
  expect(lanes).toEqual([
    { _id: { actorId: 'bob', lane: 'BULK' }, count: MAX_LIVE_AT_ONCE + 1 },
    { _id: { actorId: 'cem', lane: 'LIVE' }, count: MAX_LIVE_AT_ONCE },
  ]);
});

test('of many that come due together nobody waits for more than a few of each actor, however many actors there are', async () => {
  await using parts = await openParts();
  const actors = Array.from({ length: 13 }, (_, n) => `actor-${String(n)}`);
  const count = MAX_LIVE_AT_ONCE + 5;
  const inputs = Array.from({ length: count * actors.length }, (_, n) => ({
    ...{ actorId: actors[n % actors.length] ?? '', scope: 'PUBLIC' as const },
    ...{ publishAt: ahead(), descriptor: posted('Soon') },
  }));
  const outcomes = await parts.services.publishActions(parts.service, inputs);
  expect(outcomes.filter(({ action }) => action === null)).toEqual([]);
  const { actions } = parts.database.collections;
  // As if their time had come.
  const due = { publishAt: new Date(), 'fanOut.lane': 'LIVE' } as const;
  await actions.updateMany({}, revised({ $set: due }));
  const worker = publicationWorker(parts);
  await worker.round();
  await worker.round();
  const lanes = new Map<string | undefined, number>();
  for await (const { fanOut } of actions.find({ publishAt: { $exists: false } }))
    lanes.set(fanOut.lane, (lanes.get(fanOut.lane) ?? 0) + 1);
  const live = lanes.get('LIVE') ?? 0;
  expect([live + (lanes.get('BULK') ?? 0), live <= actors.length * MAX_LIVE_AT_ONCE]).toEqual([
    inputs.length,
    true,
  ]);
});

test('members list their own, admins and services those of everybody, the next first, down and up', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const [last, first, second] = [
    await schedule(parts, { publishAt: ahead(3 * HOUR) }),
    await schedule(parts, { publishAt: ahead(HOUR), actorId: 'cem' }),
    await schedule(parts, { publishAt: ahead(2 * HOUR) }),
  ];
  expect(await scheduledOf(parts, 'bob')).toEqual([second, last]);
  expect(await scheduledOf(parts, 'ann')).toEqual([]);
  const admin = session('root', 'admin');
  const all = await services.readScheduled(admin, { first: 2 });
  expect([idsOf(all), all.hasMore]).toEqual([[first, second], true]);
  expect(await all.countTotal()).toEqual({ count: 3, isExact: true });
  const after = all.edges.at(-1)?.cursor;
  expect(idsOf(await services.readScheduled(admin, { first: 2, after }))).toEqual([last]);
  expect(idsOf(await services.readScheduled(admin, { last: 1, before: after }))).toEqual([first]);
  expect(idsOf(await services.readScheduled(admin, { actorId: 'cem' }))).toEqual([first]);
  await expect(services.readScheduled(session('ann'), { actorId: 'bob' })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('when its time has come it is published once, as if recorded then, however many workers look', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { services, session } = parts;
  await services.follow(session('ann'), 'site', 0);
  await using list = await openLiveList(parts, session('ann').identity);
  const [later, sooner] = [await schedule(parts), await schedule(parts, { mentions: ['cem'] })];
  const [before, at] = [new Date(), new Date(Date.now() + 1)];
  await letComeDue(parts, later, at);
  await letComeDue(parts, sooner, before);
  // Who follows after its time does not get it, whenever it is delivered.
  await services.follow(session('eve'), 'site', 0);
  const workers = [publicationWorker(parts), publicationWorker(parts)];
  await Promise.all(workers.map((worker) => worker.round()));
  await parts.fanOut();
  await list.caughtUp();
  const added = list.events.flatMap((event) => (event.kind === 'added' ? [event.item.actionId] : []));
  expect(added.sort()).toEqual([later, sooner].sort());
  expect(await parts.feedOf('eve')).toEqual([]);
  const slice = await services.readSlice(session('ann'), 'site', {});
  expect(idsOf(slice)).toEqual([later, sooner]);
  expect(await services.getAction(session('ann'), later)).toMatchObject({
    ...{ conducted: at, recorded: at, latest: at, isDeleted: false, version: 1 },
  });
  expect((await services.readNotifications(session('cem'), {})).edges).toHaveLength(1);
  const { collections } = parts.database;
  await moveEvents(collections);
  const published = (await ofActions(parts)).filter(({ type }) => type === 'action.published');
  expect(published.map(({ at: time }) => time)).toEqual([before, at]);
  expect(await scheduledOf(parts, 'bob')).toEqual([]);
  expect(await collections.refs.findOne({ _id: 'site', search: { $exists: true } })).not.toBeNull();
});

test('it can be edited and moved without a trace, and is published as it is then', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { services, session } = parts;
  const bob = () => session('bob');
  const id = await schedule(parts, { mentions: ['ann'], idempotencyKey: 'k' });
  const publishAt = ahead(2 * HOUR);
  const edited = await services.updateAction(bob(), id, { descriptor: posted('Later'), publishAt }, 1);
  expect(edited).toMatchObject({
    ...{ publishAt, conducted: publishAt, version: 2, editedAt: null, audienceRev: 0, mentions: ['ann'] },
    descriptor: { text: 'Later' },
  });
  await expect(services.updateAction(bob(), id, { mentions: [] }, 1)).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  const admin = session('root', 'admin');
  await services.updateAction(admin, id, { mentions: ['cem'] });
  expect((await services.readModerationLog(admin, {})).edges.map(({ node }) => node.kind)).toEqual(['EDIT']);
  await expect(services.updateAction(session('ann'), id, { mentions: [] })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await parts.publish({ actorId: 'bob', idempotencyKey: 'k', publishAt })).toMatchObject({
    ...{ isReplay: true, action: { id } },
  });
  await letComeDue(parts, id);
  await publishDue(parts);
  expect(await parts.feedOf('ann')).toEqual([]);
  expect(await parts.feedOf('cem')).toEqual([id]);
  expect(await services.getAction(session('cem'), id)).toMatchObject({ version: 3, editedAt: null });
  await expect(services.updateAction(bob(), id, { publishAt })).rejects.toMatchObject({
    ...{ code: 'CONFLICT', message: 'The action is published already' },
  });
  const { collections } = parts.database;
  await moveEvents(collections);
  expect((await ofActions(parts)).map(({ type }) => type)).toEqual(['action.published', 'item.delivered']);
});

test('deleted, it is never published, and its key stays taken', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { services, session } = parts;
  const id = await schedule(parts, { mentions: ['ann'], idempotencyKey: 'k' });
  await expect(services.deleteAction(session('ann'), id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await services.deleteAction(session('bob'), id);
  expect(await getActionOrScheduled(session('bob'), id)).toBeNull();
  expect(await scheduledOf(parts, 'bob')).toEqual([]);
  await publishDue(parts);
  const { collections } = parts.database;
  const left = await collections.actions.findOne({ _id: new ObjectId(id) });
  expect(left).toMatchObject({ isDeleted: true, mentions: [], refs: [], fanOut: { state: 'DONE' } });
  await moveEvents(collections);
  expect(await ofActions(parts)).toEqual([]);
  await expect(
    parts.publish({ actorId: 'bob', idempotencyKey: 'k', publishAt: ahead() }),
  ).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('a change and the publication at once: one of them comes first', async () => {
  await using parts = await openParts();
  const { services, session, core } = parts;
  const id = await schedule(parts, { scope: 'PUBLIC' });
  await letComeDue(parts, id);
  const due = await core.scheduled.due(new Date(), 10);
  // After the worker has read it.
  await services.updateAction(session('bob'), id, { descriptor: posted('New') });
  expect(await core.scheduled.publish(due, new Date())).toBe(0);
  const again = await core.scheduled.due(new Date(), 10);
  expect(await core.scheduled.publish(again, new Date())).toBe(1);
  expect(await core.scheduled.publish(again, new Date())).toBe(0);
  expect(await services.getAction(session('ann'), id)).toMatchObject({ descriptor: { text: 'New' } });
  // The deletion of what was published meanwhile is that of any other action.
  await services.deleteAction(session('bob'), id);
  expect(await services.getAction(session('ann'), id)).toBeNull();
});

test('what is interrupted is published later, once', async () => {
  await using parts = await openParts({ recordsEvents: true });
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const id = await schedule(parts);
  await letComeDue(parts, id);
  const { core } = parts;
  const dying = new Error('died');
  const before = { ...core.scheduled, publish: () => Promise.reject(dying) };
  await expect(runnerOf(publication, { ...core, scheduled: before }).round()).rejects.toBe(dying);
  expect(await parts.feedOf('ann')).toEqual([]);
  const after: typeof core.scheduled.publish = async (...args) => {
    await core.scheduled.publish(...args);
    throw dying;
  };
  const afterwards = runnerOf(publication, { ...core, scheduled: { ...core.scheduled, publish: after } });
  await expect(afterwards.round()).rejects.toBe(dying);
  // Nobody was woken: who looks finds it.
  await publishDue(parts);
  expect(await parts.feedOf('ann')).toEqual([id]);
  const { collections } = parts.database;
  await moveEvents(collections);
  expect((await ofActions(parts)).map(({ type }) => type)).toEqual(['action.published', 'item.delivered']);
});

test('one that was put off is found by its time, not by that of its id', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const admin = () => session('root', 'admin');
  const old = new ObjectId(ObjectId.generate(Math.floor((Date.now() - 30 * DAY) / 1_000)));
  const id = await schedule(parts, { scope: 'PUBLIC' });
  // As if it had been scheduled for a month ago at first.
  const { actions } = parts.database.collections;
  const [stored] = await actions.find({ _id: new ObjectId(id) }).toArray();
  if (stored === undefined) throw new Error('It is not stored');
  await actions.insertOne({ ...stored, _id: old });
  await actions.deleteOne({ _id: stored._id });
  await letComeDue(parts, old.toHexString());
  await publishDue(parts);
  const { action: newer } = await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  const since = new Date(Date.now() - HOUR);
  const first = await services.listActions(admin(), { filter: { since }, first: 1 });
  expect(idsOf(first)).toEqual([newer.id]);
  const after = first.edges[0]?.cursor;
  const rest = await services.listActions(admin(), { filter: { since }, first: 1, after });
  expect(idsOf(rest)).toEqual([old.toHexString()]);
  const ranked: string[] = [];
  for await (const some of parts.repositories.rankedActions.conductedSince(since))
    ranked.push(...some.map((action) => action.id));
  expect(new Set(ranked)).toEqual(new Set([newer.id, old.toHexString()]));
  await parts.rescore();
  expect(await parts.database.collections.scores.countDocuments({})).toBe(2);
});

test('what the host holds comes into the queue when its time has come, and the last edit counts', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const core = {
    ...parts.core,
    hooks: {
      ...NO_HOOKS,
      beforePublish: ({ descriptor }: { readonly descriptor: object }) =>
        Promise.resolve({
          verdict: JSON.stringify(descriptor).includes('maybe') ? ('hold' as const) : ('accept' as const),
        }),
    },
  };
  const input = { actorId: 'bob', scope: 'PUBLIC', publishAt: ahead() };
  const held = async (text: string): Promise<string> =>
    (await publishAction(core, parts.service, { ...input, descriptor: posted(text) })).action.id;
  const [kept, lifted, taken] = [await held('maybe'), await held('maybe not'), await held('good')];
  await updateAction(core, session('bob'), lifted, { descriptor: posted('good') });
  await updateAction(core, session('bob'), taken, { descriptor: posted('maybe') });
  const mona = () => session('mona', 'moderator');
  const queue = async () =>
    (await services.readReports(mona(), {})).edges.map(({ node }) =>
      'actionId' in node.target ? node.target.actionId : null,
    );
  expect(await queue()).toEqual([]);
  for (const id of [kept, lifted, taken]) await letComeDue(parts, id);
  await publishDue(parts);
  expect(new Set(await queue())).toEqual(new Set([kept, taken]));
  const isSeen = async (id: string) => (await services.getAction(session('ann'), id)) !== null;
  expect([await isSeen(kept), await isSeen(lifted), await isSeen(taken)]).toEqual([false, true, false]);
  await services.unhideAction(session('root', 'admin'), kept);
  expect(await isSeen(kept)).toBe(true);
});

test.each<[string, Partial<PublishActionInput>, string]>([
  ['a time that is over', { publishAt: new Date() }, 'publishAt'],
  ['a time more than a year away', { publishAt: ahead(367 * DAY) }, 'publishAt'],
  ['conducted beside it', { publishAt: ahead(), conducted: new Date() }, 'conducted'],
  ['an end before it begins', { publishAt: ahead(), expiresAt: ahead() }, 'expiresAt'],
])('rejects %s', async (_what, input, field) => {
  await using parts = await openParts();
  await expect(schedule(parts, input)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ path: ['input', field] }],
  });
});

test.each([
  ['a time that is over', { publishAt: new Date() }],
  ['a time more than a year away', { publishAt: ahead(367 * DAY) }],
  ['a time after its end', { publishAt: ahead(3 * HOUR) }],
  ['an end before it begins', { expiresAt: ahead(HOUR / 2) }],
  ['null', { publishAt: null }],
])('rejects an edit with %s', async (_what, input) => {
  await using parts = await openParts();
  const id = await schedule(parts, { expiresAt: ahead(2 * HOUR) });
  await expect(parts.services.updateAction(parts.session('bob'), id, input)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
});

test('an actor has at most a thousand, and a replay is none of them', async () => {
  await using parts = await openParts();
  const { actions } = parts.database.collections;
  const id = await schedule(parts, { idempotencyKey: 'k' });
  const [stored] = await actions.find({ _id: new ObjectId(id) }).toArray();
  if (stored === undefined) throw new Error('It is not stored');
  await actions.insertMany(Array.from({ length: 997 }, () => ({ ...stored, _id: new ObjectId() })));
  const input = { actorId: 'bob', publishAt: ahead(), descriptor: posted('x') };
  const outcomes = await parts.services.publishActions(parts.service, [
    ...[input, { ...input, idempotencyKey: 'k' }, input, input],
    { ...input, actorId: 'ann' },
  ]);
  expect(outcomes.map(({ error }) => error?.code ?? null)).toEqual([null, null, null, 'CONFLICT', null]);
  await expect(schedule(parts)).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await parts.publish({ ...input, idempotencyKey: 'k' })).toMatchObject({ isReplay: true });
  const total = await (await parts.services.readScheduled(parts.session('bob'), {})).countTotal();
  expect(total).toEqual({ count: 1_000, isExact: true });
});

test('an erased member publishes nothing more, and their names go from what others have scheduled', async () => {
  await using parts = await openParts();
  await parts.services.upsertMembers(parts.service, [{ memberId: 'bob', name: 'Bob Brown' }]);
  const own = await schedule(parts, { scope: 'PUBLIC' });
  const others = await schedule(parts, {
    ...{
      actorId: 'ann',
      mentions: ['bob'],
      scope: 'PUBLIC',
      refs: [{ id: 'bob', type: 'member', label: 'Bob Brown' }],
    },
  });
  await erase(parts, 'bob');
  for (const id of [own, others]) await letComeDue(parts, id);
  await publishDue(parts);
  const cem = parts.session('cem');
  expect(await parts.services.getAction(cem, own)).toBeNull();
  const left = await parts.services.getAction(cem, others);
  expect(left).toMatchObject({ mentions: [] });
  expect(JSON.stringify(left)).not.toContain('Bob');
});
