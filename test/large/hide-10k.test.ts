import { expect, test } from 'vitest';
import { openParts, type Parts } from '../support/parts.ts';

const FOLLOWERS = 10_000;
const PER_CALL = 1_000;
/** Some of them, from first to last in the order of delivery. */
const SAMPLE = [0, 1, 999, 1_000, 5_555, 9_998, 9_999].map(nameOf);

function nameOf(n: number): string {
  return `f${String(n).padStart(5, '0')}`;
}

async function followAll(parts: Parts): Promise<void> {
  for (let at = 0; at < FOLLOWERS; at += PER_CALL)
    await parts.services.followMany(
      parts.service,
      Array.from({ length: PER_CALL }, (_, n) => ({ followerId: nameOf(at + n), refId: 'actor' })),
    );
}

function held(parts: Parts): Promise<number> {
  return parts.database.db.collection('newsfeedItems').countDocuments();
}

/** What somebody has in their feed, through pages, count, item and slice, put together. */
async function shownTo(parts: Parts, userId: string): Promise<object> {
  const session = parts.session(userId);
  const page = await parts.services.readFeed(session, { first: 1 });
  const recent = await parts.services.readFeed(session, { first: 1, order: 'RECENT' });
  const slice = await parts.services.readSlice(session, 'actor', { first: 1 });
  return {
    feed: [page.edges.map(({ node }) => node.actionId), page.hasMore],
    recent: [recent.edges.map(({ node }) => node.actionId), recent.hasMore],
    unread: (await parts.services.countUnread(session)).count,
    slice: [slice.edges.map(({ node }) => node.id), slice.hasMore],
  };
}

function shows(...ids: readonly string[]): object {
  return {
    feed: [ids.slice(0, 1), ids.length > 1],
    recent: [ids.slice(0, 1), ids.length > 1],
    unread: ids.length,
    slice: [ids.slice(0, 1), ids.length > 1],
  };
}

async function delivered(parts: Parts, id: string): Promise<unknown> {
  const [action] = await parts.repositories.actions.findByIds([id]);
  return [action?.fanOut.state, action?.fanOut.delivered];
}

/** What a watcher is sent until something comes that was published last, which is taken. */
async function notifiedUntil(events: AsyncIterator<LiveEvent>, last: string): Promise<string[]> {
  const notified: string[] = [];
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error('The watch has ended');
    const event: LiveEvent = value;
    const actionId = 'item' in event ? event.item.actionId : 'actionId' in event ? event.actionId : null;
    if (event.kind === 'added' && actionId === last) return notified;
    if (actionId !== null) notified.push(`${event.kind} ${actionId}`);
  }
}

type LiveEvent =
  Awaited<ReturnType<Parts['services']['watchFeed']>> extends AsyncIterable<infer E> ? E : never;

test('hides an action from ten thousand feeds at once, removes it from them, and restores it', async () => {
  await using parts = await openParts();
  await followAll(parts);
  const other = (await parts.publish({ conducted: new Date(Date.UTC(2026, 0, 1)) })).action.id;
  const { id } = (await parts.publish({ conducted: new Date(Date.UTC(2026, 0, 2)) })).action;
  await parts.fanOut();
  expect(await delivered(parts, id)).toEqual(['DONE', FOLLOWERS]);
  expect(await held(parts)).toBe(2 * FOLLOWERS);
  const admin = parts.session('admin', 'admin');
  const watching = new AbortController();
  const events = (
    await parts.services.watchFeed(parts.session(nameOf(9_999)).identity, { signal: watching.signal })
  )[Symbol.asyncIterator]();
  const last = async (): Promise<string> => {
    const recipients = [nameOf(9_999)];
    const { action } = await parts.publish({ actorId: 'last', scope: 'RESTRICTED', recipients });
    await parts.fanOut();
    return action.id;
  };

  // A bump is under way when it is hidden: it must not be told of any more.
  await parts.services.addInteraction(parts.session('service', 'admin'), {
    actionId: id,
    kind: 'COMMENT',
  });
  await parts.services.hideAction(admin, id, null);
  let looks = 0;
  let isDone = false;
  const look = async (): Promise<void> => {
    do {
      for (const userId of SAMPLE)
        expect([userId, await shownTo(parts, userId)]).toEqual([userId, shows(other)]);
      looks++;
    } while (!isDone);
  };
  const [seen] = await Promise.allSettled([
    look(),
    parts.fanOut().finally(() => {
      isDone = true;
    }),
  ]);
  expect(seen).toMatchObject({ status: 'fulfilled' });
  expect(looks).toBeGreaterThan(1);
  expect(await delivered(parts, id)).toEqual(['DONE', 0]);
  expect(await held(parts)).toBe(FOLLOWERS);

  // Read before it is shown again: what is sent is what is so when it is read.
  expect((await events.next()).value).toMatchObject({ kind: 'ready' });
  expect((await events.next()).value).toMatchObject({ kind: 'removed', actionId: id });

  await parts.services.unhideAction(admin, id);
  await parts.fanOut();
  expect(await delivered(parts, id)).toEqual(['DONE', FOLLOWERS]);
  expect(await held(parts)).toBe(2 * FOLLOWERS);
  for (const userId of SAMPLE)
    expect([userId, await shownTo(parts, userId)]).toEqual([userId, shows(id, other)]);
  expect(await notifiedUntil(events, await last())).toEqual([`added ${id}`]);
  watching.abort();
});
