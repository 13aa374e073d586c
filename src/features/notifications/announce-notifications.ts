import type { Core } from '../core.ts';
import type { Action, RefId, UserId } from '../../domain/action.ts';
import type { Interaction } from '../../domain/interaction.ts';
import { notificationKey, type NotificationKind } from '../../domain/notification.ts';
import type { Context } from '../../feed/context.ts';
import { announce } from '../../feed/announce.ts';
import { clock } from '../../lib/clock.ts';

const signal = (
  userIds: Iterable<UserId>,
  of: string,
  kinds: readonly NotificationKind[],
): Parameters<typeof announce>[1] =>
  Array.from(userIds, (userId) => ({ userId, event: { kind: 'notification', of, kinds } }));

/** Notifies watchers whom the interaction concerns. Called after it was written. No database command. */
export async function announceInteraction(
  context: Context,
  { actorId: owner }: Action,
  { actionId, actorId, kind, to }: Interaction,
): Promise<void> {
  const others = new Set(to);
  const owners = others.has(owner) || owner === actorId ? [] : [owner];
  others.delete(actorId);
  await announce(context, [
    ...signal(owners, actionId, [kind]),
    ...signal(others, actionId, ['MENTION', 'REPLY']),
  ]);
}

/** Notifies watchers among these members that somebody has followed them now; `isOpened` false: does so no more. */
export function announceFollowers(core: Core, refIds: readonly RefId[], isOpened: boolean): Promise<void> {
  const today = notificationKey('FOLLOW', clock.now()).slice('FOLLOW:'.length);
  return announce(core, signal(new Set(refIds), isOpened ? today : '', ['FOLLOW']));
}

/** Notifies the reader's other devices of how far they have read, or of what they are notified. */
export function announceOwnMarks(core: Core, userId: UserId): Promise<void> {
  return announce(core, signal([userId], '', []));
}
