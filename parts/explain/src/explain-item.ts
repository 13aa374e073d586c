import type { Core } from '../../../src/core/core.ts';
import { idSchema } from '../../../src/descriptors/id-schema.ts';
import type { Action, ActionId, UserId } from '../../../src/domain/action.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import { addressedBy, isEntitled, listsOf } from '../../../src/domain/visibility.ts';
import { type FeedItemExplanation, type RelevancyCause } from '../../../src/domain/explanation.ts';
import { rowOf, type StateEnded } from '../../../src/domain/item-states.ts';
import type { ItemMark } from '../../../src/domain/newsfeed-item.ts';
import { baseRelevancy, boostsOf, passersOf, type Boost } from '../../../src/domain/relevancy.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { validate } from '../../../src/core/validate.ts';
import { presentEntry, type RuleName, withheldBy } from '../../../src/feed/page/feed-rules.ts';
import { type CheckedFeedFilter, failedOf, learnForFilter } from '../../../src/feed/page/filters.ts';
import { type AskedList, checkAskedList, readerOf } from '../../../src/feed/page/views.ts';
import { asOffered, findOffered } from '../../../src/feed/page/offered.ts';
import { followsOfOne, hydrateOne, learnOfActions } from '../../../src/feed/page/hydration.ts';
import { DECLARED } from '../../../src/feed/page/declared.ts';
import { requireAction } from '../../../src/feed/page/read-actions.ts';
import { asCounting } from '../../../src/feed/relevancies.ts';
import { loadFollows } from '../../../src/feed/loads/own-follows.ts';

/** Upper bound on interactions listed as causes; those with the highest boost are kept. */
export const MAX_CAUSES = 50;

/**
 * Explains why an action is or is not in a reader's feed, with the same functions that decide pages. For an action the
 * caller cannot see it costs as much as `getAction`, otherwise ten commands with the model `items`.
 * @param list of the reader whose feed it is: a view, or a list of theirs. Default: the feed
 * @throws FanfareError BAD_USER_INPUT, FORBIDDEN to ask about another reader, NOT_FOUND
 */
export async function explainFeedItem(
  core: Core,
  session: ReaderSession,
  actionId: ActionId,
  memberId: UserId | null | undefined,
  list: Omit<AskedList, 'filter'> = {},
): Promise<FeedItemExplanation<RuleName>> {
  const { identity } = session;
  const userId = memberId == null ? identity.userId : validate(idSchema, memberId, ['memberId']);
  const isOwn = userId === identity.userId;
  if (!isOwn && !identity.roles.has('admin'))
    throw new FanfareError('FORBIDDEN', 'To explain the feed of another member requires the role admin');
  const action = await requireAction(session, actionId);
  // The other reader's roles are known only from their token; a feed does not depend on them.
  const reader = isOwn ? session : openSession(core, { userId, roles: new Set(), expiresAt: null });
  return explain(core, reader, action, await asOffered(core, userId, checkAskedList(userId, list)));
}

async function explain(
  core: Core,
  session: ReaderSession,
  action: Action,
  filter: CheckedFeedFilter,
): Promise<FeedItemExplanation<RuleName>> {
  const { feedReader, interactions, weights } = core;
  const profile = await session.profile();
  const [found, follows, summaries] = await Promise.all([
    feedReader.locate(profile, action.id),
    followsOfOne(session, action),
    interactions.summaries([action.id]),
  ]);
  await learnOfActions(session, profile, [action], follows);
  const ways = addressedBy(profile, action, follows);
  // After an edit, stored reasons are invalid until a pass has updated them.
  const located = ways.length === 0 ? null : found;
  const { view } = filter;
  // A view with a source also has what is not in the feed.
  const offered = view === null ? null : await findOffered(core, session, view, action.id);
  const entry = offered ?? located?.entry ?? null;
  const nowhere = { actionId: action.id, relevancy: baseRelevancy(action), reasons: [] };
  const facts = await hydrateOne(session, profile, {
    actionId: action.id,
    entry: entry ?? nowhere,
  });
  const reader = readerOf(profile, filter);
  const item = entry === null || facts === null ? null : presentEntry(reader, facts, filter.state);
  const leftOutBy =
    item === null ? [] : failedOf(filter, item, await learnForFilter(session, filter, [item]));
  const recorded = summaries.get(action.id)?.groups ?? [];
  const groups = (await asCounting(core, recorded, [profile.userId]))(recorded);
  const passers = passersOf(groups);
  const lifts = boostsOf(
    {
      ...{ userId: profile.userId, departmentId: null, supervisorId: null, ...profile.member },
      follows: [...follows, ...(passers.length === 0 ? [] : await loadFollows(session, passers))],
    },
    action,
    groups,
    weights,
  );
  const causes = causesOf(action, lifts, facts?.mark ?? null);
  const order = DECLARED.order(filter.view?.order ?? 'TOP');
  const { explain: explainPlace = DECLARED.order('TOP').explain } = order;
  const scored = item === null ? null : ((await explainPlace?.(core, item, { reader, view })) ?? null);
  return {
    isInFeed: item !== null && leftOutBy.length === 0,
    leftOutBy,
    isEntitled: isEntitled(profile, action, follows),
    addressedBy: ways,
    withheldBy: [
      ...withheldBy(reader, {
        ...{ action, mark: facts?.mark ?? null, lists: listsOf(reader, action, follows) },
        reasons: ways.map(({ reason }) => reason),
        isOffered: offered !== null,
      }),
      ...(isEntitled(profile, { ...action, isHidden: false }, follows) ? [] : (['NOT_ENTITLED'] as const)),
    ],
    relevancy: entry?.relevancy ?? (ways.length > 0 ? (causes[0]?.liftedTo ?? null) : null),
    causes,
    path: located?.path ?? 'NONE',
    score: scored?.score ?? null,
    scoreVars: scored?.vars ?? null,
  };
}

/** Highest boost first. */
function causesOf(action: Action, lifts: readonly Boost[], mark: ItemMark | null): RelevancyCause[] {
  const highest = lifts
    .map(({ kind, at, to }): RelevancyCause => ({ kind, at, liftedTo: to }))
    .sort(compareCauses)
    .slice(0, MAX_CAUSES);
  const base = baseRelevancy(action);
  if (mark?.state === null && mark.end !== null && mark.end.until.getTime() > base.getTime()) {
    const { state, until } = mark.end;
    highest.push({ kind: rowOf(state).ended?.[0] as StateEnded, at: until, liftedTo: until });
  }
  return [
    ...highest.sort(compareCauses),
    { kind: 'CONDUCTED' as const, at: action.conducted, liftedTo: base },
  ];
}

function compareCauses(a: RelevancyCause, b: RelevancyCause): number {
  return b.liftedTo.getTime() - a.liftedTo.getTime() || b.at.getTime() - a.at.getTime();
}
