import { expect, test } from 'vitest';
import type { FeedFilter } from '../../../src/core/shapes.ts';
import { Closer } from '../../../src/lib/closer.ts';
import { Bell, listOf } from '../../support/bell.ts';
import { fc } from '../../support/fast-check.ts';
import { openLiveList, type Listed, type LiveList, type LiveListOptions } from '../../support/live-list.ts';
import {
  archiveFor,
  engagementOf,
  feedFor,
  interactionsFor,
  passedOnTo,
  snoozesFor,
  type Model,
  type ModelAction,
  type ModelItem,
  type ModelReader,
} from '../../support/model.ts';
import type { Run } from '../../support/model-run.ts';
import { PEOPLE, REFS, story, TAGS } from '../../support/model-steps.ts';
import { happens } from '../../support/model-story.ts';
import { openParts, type Parts, type PartsOptions } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { repeats, SEED } from '../../support/seed.ts';
import { eachModel } from '../../support/some-models.ts';

const WITH_AND_WITHOUT_CAP = ['items', 'capped', 'redis', 'time-buckets'];
const PULLED_IN_PART = ['items', 'capped'];
const CASES: readonly (PartsOptions & { readonly name: string; readonly isPulled: boolean })[] = [
  ...eachModel().flatMap((model) =>
    (WITH_AND_WITHOUT_CAP.includes(model) ? [1_000, 3] : [3]).map((cap) => ({
      ...{ name: `${model} with a cap of ${String(cap)}`, model, cap, isPulled: false },
    })),
  ),
  ...eachModel()
    .filter((model) => PULLED_IN_PART.includes(model))
    .map((model) => ({
      ...{ name: `${model}, pulled in part`, model, pullRefreshMs: -1, isPulled: true },
      ...(model === 'items' ? {} : { cap: 3 }),
    })),
];
const RUNS = repeats(1);

/** A list that somebody keeps, and what the definition says is in it. */
interface Kept {
  readonly name: string;
  readonly filter: FeedFilter;
  readonly items: (model: Model, reader: ModelReader) => readonly ModelItem[];
}

const [TAG] = TAGS;
const WHOLE: Kept = { name: 'the feed', filter: {}, items: feedFor };
const UNREAD: Kept = {
  name: 'unread',
  filter: { unreadOnly: true },
  items: (model, reader) => feedFor(model, reader).filter(({ isUnread }) => isUnread),
};
/** One of them for each reader, another one in each story. */
const BESIDE: readonly Kept[] = [
  { name: 'archived', filter: { archived: true }, items: archiveFor },
  { name: 'snoozed', filter: { snoozed: true }, items: snoozesFor },
  {
    name: 'by tag',
    filter: { tags: [TAG] },
    items: (model, reader) => feedFor(model, reader).filter(({ action }) => action.tags.includes(TAG)),
  },
  {
    name: 'by reason',
    filter: { reasons: ['MENTION', 'RESHARE', 'TEAM'] },
    items: (model, reader) =>
      feedFor(model, reader).filter(({ reasons }) =>
        reasons.some((reason) => reason === 'MENTION' || reason === 'RESHARE' || reason === 'TEAM'),
      ),
  },
  {
    name: 'by type',
    filter: { types: ['NewApplicant'] },
    items: (model, reader) => feedFor(model, reader).filter(({ action }) => action.type === 'NewApplicant'),
  },
];

interface Watched {
  readonly reader: ModelReader;
  readonly kept: Kept;
  readonly list: LiveList;
}

/** Nobody has anything in their feed yet, and the store may know it. */
async function beginFeeds({ parts, model }: Run): Promise<void> {
  for (const { userId } of model.readers) {
    await parts.feedStore.fill(userId, []);
    await parts.feedStore.fill(userId, [], { isCompleteDownTo: null });
  }
}

/** Half of what can be followed has too many followers to be pushed. */
async function pullSome({ parts, id }: Run): Promise<void> {
  const pulled = [...REFS, ...PEOPLE].filter((_, n) => n % 2 === 0);
  await parts.database.collections.refs.insertMany(
    pulled.map((name) => ({
      _id: id(name),
      ...{ version: 0, followerCount: 0, isPulled: true, pullSince: new Date(0) },
    })),
  );
}

async function watchAll({ parts, model }: Run, closer: Closer, story: number): Promise<Watched[]> {
  const watched: Watched[] = [];
  for (const [n, reader] of model.readers.entries())
    for (const kept of [WHOLE, UNREAD, BESIDE[(n + story) % BESIDE.length] ?? WHOLE]) {
      const { identity } = parts.session(reader.userId, ...reader.roles);
      const whole = kept === WHOLE ? { withUnread: true, beside: besideItem(parts) } : {};
      const list = await openLiveList(parts, identity, { filter: kept.filter, ...whole });
      watched.push({ reader, kept, list: closer.own(list) });
    }
  return watched;
}

/** Who passed an item on to its reader, and what people say of it. */
function besideItem({ services }: Parts): NonNullable<LiveListOptions['beside']> {
  return async (session, item) => ({
    resharedBy: await services.resharedBy(session, item),
    comments: (
      await services.listInteractions(session, item.actionId, { first: 50, kinds: ['COMMENT'] })
    ).edges.map(({ node: { id, text, parentId, state } }) => [id, text, parentId, state]),
  });
}

function expectedBeside(model: Model, reader: ModelReader, action: ModelAction): unknown {
  return {
    resharedBy: passedOnTo(model, reader.userId, action),
    comments: interactionsFor(model, reader, action)
      .filter(({ kind }) => kind === 'COMMENT')
      .map(({ id, text, parentId, state }) => [id, text, parentId, state]),
  };
}

/** A fresh read is compared with the definition when the story is over. */
async function expectBellsToBeRead({ parts, model }: Run, bells: readonly Bell[]): Promise<void> {
  for (const [n, { userId, roles }] of model.readers.entries())
    await expect
      .poll(async () => ({ now: bells[n]?.shown, fresh: await listOf(parts, userId, roles) }), {
        timeout: PATIENCE_MS,
      })
      .toSatisfy(({ now, fresh }) => JSON.stringify(now) === JSON.stringify(fresh));
}

function inWords({
  actionId,
  relevancy,
  reasons,
}: Pick<Listed, 'actionId' | 'relevancy' | 'reasons'>): string {
  const why = new Set(reasons.map((reason) => (reason === 'PULL' ? 'FOLLOW' : reason)));
  return `${actionId} at ${relevancy.toISOString()} for ${[...why].sort().join(' ')}`;
}

async function expectListsToBeFeeds({ model }: Run, watched: readonly Watched[]): Promise<void> {
  await Promise.all(watched.map(({ list }) => list.caughtUp()));
  for (const { reader, kept, list } of watched) {
    const items = kept.items(model, reader);
    expect({
      of: reader.userId,
      list: kept.name,
      items: [...list.shown.values()].map(inWords).sort(),
    }).toEqual({
      of: reader.userId,
      list: kept.name,
      items: items
        .map(({ action, relevancy, reasons }) =>
          inWords({ actionId: action.id, relevancy: new Date(relevancy), reasons }),
        )
        .sort(),
    });
    // Each event brings the item as it is, and nothing changes of it without one.
    expect({
      ...{ of: reader.userId, list: kept.name },
      shown: items.map(({ action: { id } }) => {
        const { action, beside } = list.shown.get(id) ?? {};
        const { version, expiresAt, engagement } = action ?? {};
        return { id, version, expiresAt: expiresAt?.getTime() ?? null, engagement, beside };
      }),
    }).toEqual({
      ...{ of: reader.userId, list: kept.name },
      shown: items.map(({ action }) => ({
        ...{ id: action.id, version: action.version, expiresAt: action.expiresAt },
        engagement: engagementOf(action),
        beside: kept === WHOLE ? expectedBeside(model, reader, action) : undefined,
      })),
    });
    // What is marked afterwards is for the client to know. Nothing else makes an item unread without an event.
    expect({
      of: reader.userId,
      list: kept.name,
      unreadShownAsRead: items
        .filter(({ action, isUnread }) => isUnread && !reader.unreadActionIds.includes(action.id))
        .filter(({ action }) => list.shown.get(action.id)?.isUnread !== true)
        .map(({ action }) => action.id),
    }).toMatchObject({ unreadShownAsRead: [] });
    if (kept === WHOLE)
      await expect
        .poll(() => ({ of: reader.userId, unread: list.unread() }))
        .toEqual({
          of: reader.userId,
          unread: { count: items.filter(({ isUnread }) => isUnread).length, isExact: true },
        });
  }
}

test.each(CASES.map((one, n) => ({ ...one, n })))(
  'a client that applies the events shows the feed and the notifications, whatever happened, with feeds stored by $name',
  async ({ name: _name, n, isPulled, ...options }) => {
    await using parts = await openParts(options);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(story, async (what) => {
        await using closer = new Closer();
        let watched: readonly Watched[] = [];
        let bells: readonly Bell[] = [];
        await happens(parts, runs++, what, {
          async begin(run) {
            await (isPulled ? pullSome(run) : beginFeeds(run));
            watched = await watchAll(run, closer, runs);
            bells = await Promise.all(
              run.model.readers.map(({ userId, roles }) =>
                closer.own(new Bell(parts, userId, null, roles)).load(),
              ),
            );
          },
          async end(run) {
            await expectListsToBeFeeds(run, watched);
            await expectBellsToBeRead(run, bells);
          },
        });
      }),
      // A list that never becomes what it should be costs the whole patience: no smaller story is looked for.
      { numRuns: RUNS, seed: SEED + n, endOnFailure: true },
    );
  },
  60 * 60_000,
);
