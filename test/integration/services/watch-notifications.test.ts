import { expect, test } from 'vitest';
import type { Notification } from '../../../src/features/notifications/read-notifications.ts';
import type { NotificationEvent } from '../../../src/features/notifications/watch-notifications.ts';
import { Ending } from '../../../src/lib/closer.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const shownOf = ({ group, isSeen, isRead }: Notification): object => ({
  ...{ key: group.key, at: group.at, isSeen, isRead },
  events: group.events.map(({ id }) => id),
});

/** The list as a fresh read has it. */
async function listOf(parts: Parts): Promise<object> {
  const page = await parts.services.readNotifications(parts.session('ann'), { first: 100, withCounts: true });
  return {
    list: page.edges.map(({ node }) => shownOf(node)),
    counts: { unseen: await page.countUnseen(), unread: await page.countUnread() },
  };
}

/** A client: it has a list, changes it by events, and reads it again after a resync. */
class Bell implements AsyncDisposable {
  readonly kinds: string[] = [];
  readonly #parts: Parts;
  readonly #ending = new Ending();
  readonly #list = new Map<string, Notification>();
  #counts: object | null = null;
  #cursor: string | null;
  #running: Promise<void> | null = null;

  constructor(parts: Parts, cursor: string | null) {
    this.#parts = parts;
    this.#cursor = cursor;
  }

  async open(): Promise<this> {
    const events = await this.#parts.services.watchNotifications(this.#parts.session('ann').identity, {
      ...{ after: this.#cursor, withCounts: true, signal: this.#ending },
    });
    this.#running = (async () => {
      for await (const event of events) await this.#take(event);
    })();
    return this;
  }

  get cursor(): string | null {
    return this.#cursor;
  }

  get shown(): object {
    const list = [...this.#list.values()].sort((a, b) => b.group.at.getTime() - a.group.at.getTime());
    return { list: list.map(shownOf), counts: this.#counts };
  }

  async #take(event: NotificationEvent): Promise<void> {
    this.#cursor = event.cursor;
    this.kinds.push(event.kind);
    if (event.kind === 'counts') this.#counts = { unseen: event.unseen, unread: event.unread };
    if (event.kind === 'removed') this.#list.delete(event.key);
    if ('notification' in event) this.#list.set(event.notification.group.key, event.notification);
    if (event.kind !== 'resync') return;
    this.#list.clear();
    const page = await this.#parts.services.readNotifications(this.#parts.session('ann'), { first: 100 });
    for (const { node } of page.edges) this.#list.set(node.group.key, node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }
}

test('a bell shows what a fresh read does, whatever happens, also after it was away', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const equals = (bell: Bell): Promise<void> =>
    expect
      .poll(async () => ({ now: bell.shown, fresh: await listOf(parts) }), { timeout: PATIENCE_MS })
      .toSatisfy(({ now, fresh }) => JSON.stringify(now) === JSON.stringify(fresh));
  const { action } = await parts.publish({ actorId: 'ann', scope: 'PUBLIC' });
  const actionId = action.id;
  const comment = async (userId: string, more: object = {}): Promise<string> =>
    (
      await services.addInteraction(session(userId), {
        ...{ actionId, kind: 'COMMENT', text: userId },
        ...more,
      })
    ).interaction.id;
  let cursor: string | null = null;
  {
    await using bell = await new Bell(parts, null).open();
    const first = await comment('bob');
    await equals(bell);
    expect(bell.kinds).toEqual(['ready', 'added', 'counts']);
    await comment('cid');
    await services.addInteraction(session('bob'), { actionId, kind: 'LIKE' });
    await equals(bell);
    await services.removeInteraction(session('bob'), { own: { actionId, kind: 'LIKE' } });
    await services.hideInteraction(session('admin', 'admin'), first, null);
    await equals(bell);
    expect(bell.kinds).toContain('removed');
    await services.follow(session('dan'), 'ann', 0);
    await equals(bell);
    await services.unfollow(session('dan'), 'ann', true);
    await services.markNotificationsSeen(session('ann'), new Date());
    await services.addMute(session('ann'), { memberId: 'cid' }, null);
    await equals(bell);
    await services.removeMute(session('ann'), { memberId: 'cid' });
    const own = await comment('ann');
    await comment('bob', { parentId: own });
    await parts.publish({ actorId: 'bob', scope: 'PUBLIC', mentions: ['ann'] });
    await parts.fanOut();
    await equals(bell);
    cursor = bell.cursor;
  }
  const other = await parts.publish({ actorId: 'cid', scope: 'PUBLIC' });
  const said = await services.addInteraction(session('ann'), {
    ...{ actionId: other.action.id, kind: 'COMMENT', text: 'Mine' },
  });
  await services.addInteraction(session('bob'), {
    ...{ actionId: other.action.id, kind: 'COMMENT', text: 'Yours', parentId: said.interaction.id },
  });
  await using back = await new Bell(parts, cursor).open();
  // What it missed comes as events. A reply could have been a mention, which is reported as not there.
  await expect
    .poll(() => back.kinds, { timeout: PATIENCE_MS })
    .toEqual(['ready', 'counts', 'removed', 'added']);
  await services.hideAction(session('admin', 'admin'), other.action.id, null);
  // Once for what it missed, and once for the reply that is gone with its action.
  await expect
    .poll(() => back.kinds.filter((kind) => kind === 'counts').length, { timeout: PATIENCE_MS })
    .toBe(2);
});
