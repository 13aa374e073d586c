import { ObjectId } from 'mongodb';
import type { NewsfeedItem } from '../../src/domain/newsfeed-item.ts';
import type { Services } from '../support/services.ts';
import type { FeedFilter } from '../../src/core/shapes.ts';
import type { Parts } from '../support/parts.ts';

const HOUR = 3_600_000;
const BATCH = 5_000;
const SEED_APART_MS = 20_000;

/** A row of a feed as its reader sees it. */
export type Row = Pick<NewsfeedItem, 'actionId' | 'relevancy' | 'reasons' | 'isUnread'>;

/** A feed from the first page to the last. */
export async function rows(
  parts: Parts,
  userId: string,
  args: { readonly first?: number; readonly filter?: FeedFilter } = {},
): Promise<Row[]> {
  const all: Row[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<Services['readFeed']>> = await parts.services.readFeed(
      parts.session(userId),
      { first: 100, ...args, after },
    );
    for (const { node } of page.edges) {
      const { actionId, relevancy, reasons, isUnread } = node;
      all.push({ actionId, relevancy, reasons, isUnread });
    }
    if (!page.hasMore) return all;
    after = page.end;
  }
}

/** Ids of the actions in a feed, read by pages of this size. */
export async function idsOf(parts: Parts, userId: string, first = 100): Promise<string[]> {
  return (await rows(parts, userId, { first })).map(({ actionId }) => actionId);
}

/** Actions of one actor, an hour apart unless it is said otherwise. Gives their ids, oldest first. */
export async function publishSome(
  parts: Parts,
  count: number,
  options: {
    readonly refId?: string;
    readonly mentions?: readonly string[];
    /** In hours; actions of the same hour are conducted in the same moment. */
    readonly timeOf?: (n: number) => number;
  } = {},
): Promise<string[]> {
  const { refId = 'site', mentions = [], timeOf = (n: number) => n } = options;
  const start = Date.now() - (count + 1) * HOUR;
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: count }, (_, n) => ({
      actorId: 'actor',
      refs: [{ id: refId, type: 'site', label: refId }],
      mentions,
      conducted: new Date(start + timeOf(n) * HOUR),
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    })),
  );
  return outcomes.map((outcome) => {
    if (outcome.action === null) throw new Error(outcome.error.message);
    return outcome.action.id;
  });
}

/** Actions as if they had been recorded and delivered to nobody, some seconds apart. Gives their ids, oldest first. */
export async function seedActions(parts: Parts, count: number): Promise<string[]> {
  const { action } = await parts.publish({ refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  await parts.fanOut();
  const { actions } = parts.database.collections;
  const template = await actions.findOne({ _id: new ObjectId(action.id) });
  if (template === null) throw new Error('The action was not recorded');
  const start = template.conducted.getTime() - count * SEED_APART_MS;
  const others = Array.from({ length: count - 1 }, (_, n) => {
    const conducted = new Date(start + n * SEED_APART_MS);
    return {
      ...template,
      _id: new ObjectId(),
      idempotencyKey: `seed-${String(n)}`,
      conducted,
      latest: conducted,
    };
  });
  for (let from = 0; from < others.length; from += BATCH)
    await actions.insertMany(others.slice(from, from + BATCH));
  return [...others.map(({ _id }) => _id.toHexString()), action.id];
}
