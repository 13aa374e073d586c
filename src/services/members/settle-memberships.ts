import type { Core } from '../core.ts';
import type { Action, UserId } from '../../domain/action.ts';
import { departmentKey, teamKey } from '../../domain/audience.ts';
import type { Member } from '../../domain/member.ts';
import type { FeedEntry } from '../../domain/newsfeed-item.ts';
import { profileOfMember } from '../../domain/viewer.ts';
import { addressedReasons } from '../../domain/visibility.ts';
import { fillFeed } from '../../feeds/reconcile-feed.ts';
import { resolveEntries, type PlaceEntry } from '../../feeds/relevancies.ts';

/**
 * Delivers actions that were recorded for a group just while the member was joining: their fan-out may have read the group's
 * members before the new one was written, even though the action was recorded after `joined`.
 */
export async function settleMemberships(core: Core, userIds: readonly UserId[], joined: Date): Promise<void> {
  const { members, actions } = core;
  const joiners = (await members.findByIds(userIds)).filter((member) => groupKeys(member, joined).length > 0);
  const keys = [...new Set(joiners.flatMap((member) => groupKeys(member, joined)))];
  if (keys.length === 0) return;
  const recent = await actions.addressedSince(keys, joined);
  if (recent.length === 0) return;
  const place = await resolveEntries(
    core,
    recent,
    joiners.map((member) => member.userId),
  );
  for (const member of joiners) {
    const entries = entriesFor(member, recent, place);
    await fillFeed(core, member.userId, entries, { notifiesOfStored: true });
  }
}

function groupKeys(member: Member, joined: Date): string[] {
  const keys: string[] = [];
  if (member.teamId !== null && member.teamSince?.getTime() === joined.getTime())
    keys.push(teamKey(member.teamId));
  if (member.departmentId !== null && member.departmentSince?.getTime() === joined.getTime())
    keys.push(departmentKey(member.departmentId));
  return keys;
}

function entriesFor(member: Member, actions: readonly Action[], place: PlaceEntry): FeedEntry[] {
  const reader = profileOfMember(member);
  return actions.flatMap((action) => {
    const reasons = addressedReasons(reader, action, []);
    return reasons.length === 0 ? [] : [place(member.userId, action, reasons)];
  });
}
