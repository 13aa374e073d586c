import { expect, onTestFinished, test, vi } from 'vitest';
import { NOTIFICATION_WINDOW_MS } from '../../../src/domain/notification.ts';
import { clock } from '../../../src/lib/clock.ts';
import { letExpire } from '../../support/expire.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const HOUR = 3_600_000;
const FILTERS = [{}, { kinds: ['MENTION', 'LIKE'] }, { unreadOnly: true }] as const;

/** What a process says of Ann's notifications: the first two pages of each filter, and the counts. */
async function listsOf({ services, session }: Parts): Promise<unknown> {
  const said: unknown[] = [];
  for (const filter of FILTERS) {
    const read = (after: string | null) =>
      services.readNotifications(session('ann'), { first: 2, after, filter, withCounts: true });
    const first = await read(null);
    for (const { edges, hasMore } of [first, await read(first.end)])
      said.push([edges.map(({ node: { group, isSeen, isRead } }) => [group.key, isSeen, isRead]), hasMore]);
    said.push(await first.countUnseen(), await first.countUnread());
  }
  return said;
}

/** Actions of Ann's that Dan likes. */
async function likedActions(parts: Parts): Promise<string[]> {
  const own: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { id } = (await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action;
    own.push(id);
    await parts.services.addInteraction(parts.session('dan'), { actionId: id, kind: 'LIKE' });
  }
  return own;
}

test('a process that knows lists of notifications says what one says that has just begun, whatever has changed', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const [first = '', second = '', third = ''] = await likedActions(parts);
  await services.follow(session('ann'), 'bob', 0);
  const [named, followed] = [
    (await parts.publish({ actorId: 'bob', scope: 'PUBLIC' })).action.id,
    (await parts.publish({ actorId: 'bob', scope: 'FOLLOWERS' })).action.id,
  ];
  const mention = (actionId: string) =>
    services.addInteraction(session('bob'), { actionId, kind: 'COMMENT', text: 'Look', mentions: ['ann'] });
  await mention(named);
  const admin = () => session('admin', 'admin');
  const changes: readonly (() => Promise<unknown>)[] = [
    () => services.hideAction(admin(), named, null),
    () => services.unhideAction(admin(), named),
    () => services.addInteraction(session('eve'), { actionId: second, kind: 'LIKE' }),
    () => letExpire(parts, first, new Date(Date.now() + HOUR)),
    () => services.addMute(session('ann'), { memberId: 'dan' }),
    () => services.removeMute(session('ann'), { memberId: 'dan' }),
    () => services.blockMember(session('eve'), 'ann'),
    () => services.unblockMember(session('eve'), 'ann'),
    () => services.markNotificationsSeen(session('ann'), clock.now()),
    () => mention(named),
    () => mention(followed),
    () => services.unfollow(session('ann'), 'bob', false),
    () => services.follow(session('ann'), 'bob', 10),
    () => services.deleteAction(session('ann'), third),
  ];
  const compare = async (): Promise<void> => {
    await using other = await parts.reopen();
    const fresh = await listsOf(other);
    for (let n = 0; n < 2; n += 1) expect(await listsOf(parts)).toEqual(fresh);
  };
  await compare();
  for (const change of changes) {
    await change();
    await compare();
  }
});

test('what time takes from a list of notifications is away, though nothing has been written', async () => {
  await using parts = await openParts();
  const [first = ''] = await likedActions(parts);
  await letExpire(parts, first, new Date(Date.now() + HOUR));
  const keys = async (): Promise<number> => {
    const page = await parts.services.readNotifications(parts.session('ann'), { withCounts: true });
    expect((await page.countUnseen()).count).toBe(page.edges.length);
    return page.edges.length;
  };
  for (let n = 0; n < 2; n += 1) expect(await keys()).toBe(3);
  const later = (ms: number): void => {
    const time = Date.now() + ms;
    const mocked = [
      vi.spyOn(clock, 'time').mockReturnValue(time),
      vi.spyOn(clock, 'now').mockReturnValue(new Date(time)),
    ];
    onTestFinished(() => mocked.forEach((one) => one.mockRestore()));
  };
  later(2 * HOUR);
  for (let n = 0; n < 2; n += 1) expect(await keys()).toBe(2);
  later(NOTIFICATION_WINDOW_MS);
  expect(await keys()).toBe(0);
});
