import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { Action } from '../../../src/domain/action.ts';
import type { NewsfeedItem } from '../../../src/domain/newsfeed-item.ts';
import { commandsOf } from '../../support/commands.ts';
import { fc } from '../../support/fast-check.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { repeats } from '../../support/seed.ts';
import { MEMBER } from '../../../src/feed/loads/names.ts';

const REF = { id: 'site', type: 'site', label: 'Site' };
const READER = 'ann';
const ACTIONS = 4;

const posted = (text: string) => ({ posted: { postId: 'p', text } });

async function pageOf({ services, session }: Parts): Promise<NewsfeedItem[]> {
  const { edges } = await services.readFeed(session(READER), { first: 10 });
  return edges.map(({ node }) => node);
}

/** All of a page but how far its actions have been delivered, which no reader sees. */
function shown(items: readonly NewsfeedItem[]): object[] {
  return items.map(({ action: { fanOut: _fanOut, ...action }, ...item }) => ({ ...item, action }));
}

/** Several actions that the reader is named in, delivered. */
async function publishSome(parts: Parts): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < ACTIONS; n++) {
    const { action } = await parts.publish({
      ...{ scope: 'PUBLIC', refs: [REF], mentions: [READER] },
      descriptor: posted(`Text ${String(n)}`),
    });
    ids.push(action.id);
  }
  await parts.fanOut();
  return ids;
}

/** What may be done to an action, by a process. What an earlier step has made impossible is refused, which is as good. */
const STEPS = {
  edit: ({ services, session }: Parts, id: string, n: number) =>
    services.updateAction(session('actor'), id, { descriptor: posted(`Edited ${String(n)}`) }),
  readdress: ({ services, session }: Parts, id: string, n: number) =>
    services.updateAction(session('actor'), id, { mentions: n % 2 === 0 ? [] : [READER] }),
  like: ({ services, session }: Parts, id: string, n: number) =>
    services.addInteraction(session(`member-${String(n)}`), { actionId: id, kind: 'LIKE' }),
  hide: ({ services, session }: Parts, id: string) =>
    services.hideAction(session('root', 'admin'), id, 'spam'),
  unhide: ({ services, session }: Parts, id: string) => services.unhideAction(session('root', 'admin'), id),
  remove: ({ services, session }: Parts, id: string) => services.deleteAction(session('actor'), id),
  hideItem: ({ services, session }: Parts, id: string) => services.hideFeedItem(session(READER), id),
  unhideItem: ({ services, session }: Parts, id: string) => services.unhideFeedItem(session(READER), id),
  mute: ({ services, session }: Parts) => services.addMute(session(READER), { memberId: 'actor' }),
  unmute: ({ services, session }: Parts) => services.removeMute(session(READER), { memberId: 'actor' }),
  deliver: (parts: Parts) => parts.fanOut(),
} as const satisfies Readonly<Record<string, (parts: Parts, id: string, n: number) => Promise<unknown>>>;

const step = fc.record({
  what: fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])),
  process: fc.nat({ max: 1 }),
  action: fc.nat({ max: ACTIONS - 1 }),
});

test(
  'whatever two processes write, each shows the same as a process without a cache',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        await using first = await openParts();
        await using second = await first.reopen();
        await using plain = await first.reopen({ cacheBytes: 0 });
        const ids = await publishSome(first);
        for (const parts of [first, second]) await pageOf(parts);
        for (const [n, { what, process, action }] of steps.entries()) {
          const parts = process === 0 ? first : second;
          await STEPS[what](parts, ids[action] ?? '', n).catch(refusals);
          const expected = shown(await pageOf(plain));
          expect(shown(await pageOf(first)), what).toEqual(expected);
          expect(shown(await pageOf(second)), what).toEqual(expected);
        }
      }),
      { numRuns: repeats(3) },
    );
  },
);

/** A step that does not fit what came before. */
function refusals(error: unknown): void {
  expect(error).toMatchObject({ name: 'FanfareError' });
}

test(
  'a read that begins after a write has returned never shows earlier data',
  { timeout: 60_000 },
  async () => {
    await using first = await openParts();
    await using second = await first.reopen();
    const [id = ''] = await publishSome(first);
    let latest = 1;
    let isOver = false;
    const write = async (parts: Parts, name: string): Promise<void> => {
      for (let n = 0; n < 12; n++) {
        const text = posted(`${name} ${String(n)}`);
        const { version } = await parts.services.updateAction(parts.session('actor'), id, {
          descriptor: text,
        });
        latest = Math.max(latest, version);
      }
    };
    const versionsOf = async (parts: Parts): Promise<number> => {
      let reads = 0;
      for (; !isOver; reads++) {
        const written = latest;
        const action = (await pageOf(parts)).find(({ actionId }) => actionId === id)?.action;
        expect(action?.version).toBeGreaterThanOrEqual(written);
      }
      return reads;
    };
    const reading = Promise.all([first, second].map(versionsOf));
    await Promise.all([write(first, 'A'), write(second, 'B')]);
    isOver = true;
    for (const reads of await reading) expect(reads).toBeGreaterThan(0);
    expect(latest).toBe(25);
  },
);

test('unchanged data is neither transferred nor decoded again', async () => {
  await using parts = await openParts();
  await publishSome(parts);
  const before = new Map((await pageOf(parts)).map(({ actionId, action }) => [actionId, action]));
  const [changed = ''] = before.keys();
  await parts.services.addInteraction(parts.session('bob'), { actionId: changed, kind: 'LIKE' });
  const after = await pageOf(parts);
  expect(after).toHaveLength(ACTIONS);
  for (const { actionId, action } of after)
    if (actionId === changed) expect(action.engagement.likes).toBe(1);
    else expect(action).toBe(before.get(actionId));
});

test('names that were read before a page are read again for its stamp', async () => {
  await using first = await openParts();
  await using second = await first.reopen();
  const described = (name: string) => ({ memberId: READER, name });
  await second.services.upsertMembers(second.service, [described('Ann')]);
  await publishSome(first);
  await pageOf(first);
  const session = first.session(READER);
  expect((await session.load(MEMBER, READER))?.name).toBe('Ann');
  await second.services.upsertMembers(second.service, [described('Anna')]);
  await first.services.readFeed(session, { first: 10 });
  expect(await session.directory()).not.toBeNull();
  expect((await session.load(MEMBER, READER))?.name).toBe('Anna');
});

test('a page is stamped as of before any name was read', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await publishSome(parts);
  await pageOf(parts);
  const [opening] = (await commandsOf(parts.database, () => pageOf(parts))).filter(
    ({ name, collection }) => name === 'aggregate' && collection === 'feeds',
  );
  const pipeline = opening?.command['pipeline'] as readonly { readonly $lookup?: { readonly as: string } }[];
  const read = pipeline.flatMap(({ $lookup }) => $lookup?.as ?? []);
  expect(read[0]).toBe('directory');
  expect(read).toContain('members');
});

test('operators see the current progress of a delivery', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ mentions: ['root'], refs: [REF] });
  const stateOf = async (): Promise<Action['fanOut']['state'] | undefined> =>
    (await parts.services.getAction(parts.session('root', 'admin'), action.id))?.fanOut.state;
  expect(await stateOf()).toBe('PENDING');
  await parts.fanOut();
  expect(await stateOf()).toBe('DONE');
});

test('an action whose new revision is the one at which another action is cached is read again', async () => {
  await using parts = await openParts();
  const [one = '', other = ''] = await publishSome(parts);
  const { actionCache } = parts.core;
  const cached = await actionCache.findByIds([one, other]);
  const rev = cached.find(({ id }) => id === other)?.rev ?? NaN;
  const hidden = { $set: { rev, isHidden: true } };
  await parts.database.collections.actions.updateOne({ _id: new ObjectId(one) }, hidden);
  const found = await actionCache.findByIds([one, other]);
  expect(new Map(found.map(({ id, isHidden }) => [id, isHidden]))).toEqual(
    new Map([
      [one, true],
      [other, false],
    ]),
  );
});
