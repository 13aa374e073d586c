import type { Context } from './context.ts';
import type { Action, UserId } from '../domain/action.ts';
import { departmentKey, teamKey, userKey } from '../domain/audience.ts';
import type { FeedEntry } from '../domain/newsfeed-item.ts';
import { addressedReasons } from '../domain/visibility.ts';
import { profileOfMember, profileOfStranger, type Follow, type ReaderProfile } from '../domain/viewer.ts';
import type { SourceKeys } from '../storage/actions/source-actions.ts';
import { resolveEntries } from './relevancies.ts';

/** Everything that decides which actions belong in one reader's feed. */
export interface FeedMembership {
  readonly reader: ReaderProfile;
  /** All of the reader's follows with a span, or at least those of the actions' `followableIds`. */
  readonly follows: readonly Follow[];
}

/** One round trip of two queries; reads all of the reader's follows. */
export async function feedMembershipOf(context: Context, userId: UserId): Promise<FeedMembership> {
  const [found, follows] = await Promise.all([
    context.members.findByIds([userId]),
    followsWithSpans(context, userId),
  ]);
  const [member] = found;
  return { reader: member === undefined ? profileOfStranger(userId) : profileOfMember(member), follows };
}

export async function followsWithSpans({ follows }: Context, userId: UserId): Promise<readonly Follow[]> {
  return (await follows.all(userId)).filter(({ spans }) => spans.length > 0);
}

/** Keys by which actions may reach the reader. */
export function sourceKeys({ reader, follows }: FeedMembership): SourceKeys {
  const { userId, member } = reader;
  return {
    audience: [
      userKey(userId),
      ...(member?.teamId == null ? [] : [teamKey(member.teamId)]),
      ...(member?.departmentId == null ? [] : [departmentKey(member.departmentId)]),
    ],
    refIds: follows.map((follow) => follow.refId),
    pullRefIds: [],
    passerIds: follows.map((follow) => follow.refId),
  };
}

/** Entries for those of the actions that belong in the reader's feed by the definition, regardless of marks. */
export async function entriesOf(
  context: Context,
  { reader, follows }: FeedMembership,
  actions: readonly Action[],
): Promise<FeedEntry[]> {
  const addressed = actions.flatMap((action) => {
    if (action.isHidden || action.isDeleted) return [];
    const reasons = addressedReasons(reader, action, follows);
    return reasons.length === 0 ? [] : [{ action, reasons }];
  });
  const place = await resolveEntries(
    context,
    addressed.map(({ action }) => action),
    [reader.userId],
    follows.filter(({ isAssigned }) => isAssigned),
  );
  return addressed.map(({ action, reasons }) => place(reader.userId, action, reasons));
}
