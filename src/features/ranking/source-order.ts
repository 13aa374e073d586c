import type { DeclaredView } from '../../descriptors/host-views.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { FeedReads } from '../../feed/feed-reader.ts';
import {
  DECLARED,
  type FeedOrderRow,
  type FeedView,
  type ScoreExplanation,
} from '../../feed/page/declared.ts';
import { BY_RELEVANCY } from '../../feed/page/orders.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { ALWAYS, type Ranking, lessened, lessIn, readRanked, tasteOf } from './ranked-page.ts';

function sourceFaults({ name, source }: DeclaredView) {
  const path = `views.${name}.order`;
  if (source === null) return [{ path, message: 'Must have a source' }];
  const known = DECLARED.offeredOrders.map((offered) => offered.name);
  return known.some((order) => order === source.fallback)
    ? []
    : [{ path, message: `Unknown order ${JSON.stringify(source.fallback)}; known are ${known.join(', ')}` }];
}

/** The score that the host gave, and what the reader wants less of. Two round trips. */
async function explainOffered(
  core: FeedReads,
  item: NewsfeedItem,
  { reader, view }: { readonly reader: ReaderProfile; readonly view: FeedView | null },
): Promise<ScoreExplanation | null> {
  const offer = view === null ? null : await core.offers.of(view.name, item.userId);
  const offered = offer?.get(item.actionId);
  if (offered === undefined) return null;
  const { actorId, descriptor } = item.action;
  const of = { actorId, type: descriptor.type };
  const taste = await tasteOf(core, reader);
  return { score: lessened(offered, taste, of), vars: { offered, ...lessIn(taste, of) } };
}

/** The scores are those of the answer that the entries are of. */
const BY_HOST: Ranking = {
  name: 'SOURCE',
  earliest: () => ALWAYS,
  ...{ withContent: false, withShown: false },
  scoring: () => (entry) => entry.offered ?? 0,
};

/** What a host offers, by its scores. */
export const SOURCE: FeedOrderRow = {
  ...{ name: 'SOURCE', description: 'By the scores of a host, highest first.', ...BY_RELEVANCY },
  ofViews: sourceFaults,
  // All that is offered is ranked as a whole.
  reads: 100,
  read: (core, page) => readRanked(core, page, BY_HOST),
  explain: explainOffered,
};
