import type { ListOrder } from '../../core/shapes.ts';
import type { Action, ActionId, UserId } from '../../domain/action.ts';
import { compareFeedPositions, type FeedEntry } from '../../domain/newsfeed-item.ts';
import type { Offer } from '../../domain/offer.ts';
import { baseRelevancy } from '../../domain/relevancy.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { FeedReads } from '../feed-reader.ts';
import { ACTION, type Load, ownLoad } from '../session/load.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { AskedFilter, FeedView } from './declared.ts';
import { type CheckedFeedFilter, entriesOf } from './filters.ts';
import { entitledActions } from './entitled.ts';

interface Offered {
  readonly userId: UserId;
  readonly actionId: ActionId;
}

const rows = new WeakMap<FeedView, AskedFilter['row']>();

/**
 * The condition of a view with a source: the host offers it to the reader. Of a host that does not answer, all the reader's items are
 * offered.
 */
export function offeredRow(view: FeedView): AskedFilter['row'] {
  const known = rows.get(view);
  if (known !== undefined) return known;
  const load = offersOf(view.name);
  const row: AskedFilter['row'] = {
    name: 'source',
    needs: [load],
    passes: (_item, _view, { loaded }) => loaded(load) !== null,
    mayHavePassed: 'BEFORE_A_CHANGE',
    entries: (read, reader) => offeredEntries(read, reader, view.name),
  };
  rows.set(view, row);
  return row;
}

/** Of actions, those that the host offers the reader. */
function offersOf(view: string): Load<Offered> {
  return ownLoad({
    async batch({ offers }, wanted) {
      const readers = [...new Set(wanted.map(({ userId }) => userId))];
      const found = new Map(
        await Promise.all(readers.map(async (userId) => [userId, await offers.of(view, userId)] as const)),
      );
      return wanted.flatMap(({ userId, id }) =>
        (found.get(userId) ?? null)?.has(id) === false ? [] : { userId, actionId: id },
      );
    },
    key: ({ userId, actionId }) => [userId, actionId],
  });
}

/** Entries of all actions that the host offers and the reader may see, in feed order: also of those that are not in the feed. */
async function offeredEntries(
  { core, session }: { readonly core: FeedReads; readonly session: ReaderSession },
  reader: ReaderProfile,
  view: string,
): Promise<readonly FeedEntry[]> {
  const offer = await core.offers.of(view, reader.userId);
  return offer === null ? [] : entriesOffered({ core, session }, reader, offer);
}

/** The entry of one action that the host offers in a view; `null`: it does not, or the reader may not see the action. */
export async function findOffered(
  core: FeedReads,
  session: ReaderSession,
  { name, source }: FeedView,
  actionId: ActionId,
): Promise<FeedEntry | null> {
  const { userId } = session.identity;
  const offer = source === null ? null : await core.offers.of(name, userId);
  const score = offer?.get(actionId);
  if (score === undefined) return null;
  const [entry = null] = await entriesOffered(
    { core, session },
    await session.profile(),
    new Map([[actionId, score]]),
  );
  return entry;
}

async function entriesOffered(
  { core, session }: { readonly core: FeedReads; readonly session: ReaderSession },
  reader: ReaderProfile,
  offer: Offer,
): Promise<readonly FeedEntry[]> {
  const ids = [...offer.keys()];
  const [entries, actions] = await Promise.all([entriesOf(core, reader, ids), session.loadMany(ACTION, ids)]);
  const inFeed = new Map(entries.map((entry) => [entry.actionId, entry]));
  const entitled = await entitledActions(
    session,
    actions.filter((action) => action !== null),
  );
  return entitled
    .map((action) => ({ ...(inFeed.get(action.id) ?? outside(action)), offered: offer.get(action.id) ?? 0 }))
    .sort(compareFeedPositions);
}

/** The place of an action that is not in the reader's feed. */
function outside(action: Action): FeedEntry {
  return { actionId: action.id, relevancy: baseRelevancy(action), reasons: [] };
}

/**
 * A view with a source as it can be read now: while its host does not answer, it is as if it had none. Others are as they are. At most as
 * long as the source may take.
 * @param isOffered whether it has to be read as what is offered: a page goes on as the first one began
 */
export async function asOffered(
  { offers }: Pick<FeedReads, 'offers'>,
  userId: UserId,
  filter: CheckedFeedFilter,
  isOffered: (view: FeedView) => boolean | null = () => null,
): Promise<CheckedFeedFilter> {
  const { view } = filter;
  if (view?.source == null) return filter;
  const has = isOffered(view) ?? (await offers.of(view.name, userId)) !== null;
  if (has) return filter;
  const order = view.source.fallback as ListOrder;
  return {
    ...filter,
    view: { ...view, order },
    asked: filter.asked.filter(({ row }) => row !== offeredRow(view)),
  };
}
