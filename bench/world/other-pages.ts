import { hammer, graphqlRequest } from '../harness/http-lanes.ts';
import { tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import type { Measure } from '../harness/rounds.ts';
import { quantile } from '../harness/statistics.ts';
import { FEED_REF } from './feed.ts';
import { expectPage } from './pages.ts';
import { SHOWN_ACTION } from '../harness/watcher.ts';
import { SHOWN_NODE } from './queries.ts';

const INFO = 'pageInfo { hasNextPage endCursor }';
const NODES = `edges { cursor node { ${SHOWN_NODE} } } ${INFO}`;
const UNREAD = 'unread { count isExact }';
const OF_GROUP = `id relevancy isUnread count { count isExact } actors { memberId name } items(first: 1) { ${SHOWN_NODE} }`;

const OF_NOTIFICATION =
  'id kind at summary isSeen isRead count { count isExact } actorCount { count } actors { memberId name } action { id }';

/** The page of a feed, and that which others are measured by. */
export const FEED = 'feed';
export const COUNTED = 'feed with unread count';

/** What an application asks for, by name. Each but the badge has 25 entries. */
export const PAGES: Readonly<Record<string, string>> = {
  [COUNTED]: `{ feed { ${NODES} ${UNREAD} } }`,
  [FEED]: `{ feed { ${NODES} } }`,
  RECENT: `{ feed(order: RECENT) { ${NODES} ${UNREAD} } }`,
  TOP: `{ feed(order: TOP) { ${NODES} ${UNREAD} } }`,
  'types with total': `{ feed(filter: { types: ["ApplicationRating"] }) { ${NODES} total { count } } }`,
  groups: `{ feedGroups { edges { cursor node { ${OF_GROUP} } } ${INFO} } }`,
  slice: `{ slice(refId: "${FEED_REF}") { edges { cursor node { ${SHOWN_ACTION} } } ${INFO} } }`,
  badge: '{ viewer { unreadCount { count isExact } } }',
  notifications: `{ notifications { edges { cursor node { ${OF_NOTIFICATION} } } ${INFO} ${UNREAD} unseen { count isExact } } }`,
};

/** Names of what is measured of a page. */
export const MEASURED = {
  p50: 'p50, ms',
  api: 'CPU of the API, ms',
  all: 'CPU of all processes, ms',
  rate: 'pages/s, 10 at a time',
} as const;

export function measureOf(page: string, what: keyof typeof MEASURED, side = ''): string {
  return `${page}: ${MEASURED[what]}${side}`;
}

/** A page of these readers, in turn: one at a time, then 10 at a time. CPU is that of one at a time. */
export async function measurePage(
  page: string,
  of: { readonly api: FanfareApi; readonly readers: readonly string[]; count: number; side?: string },
): Promise<Measure> {
  const { api, readers, count, side } = of;
  const query = PAGES[page] ?? '';
  const tokens = await Promise.all(readers.map((reader) => tokenFor(reader)));
  const requests = tokens.map((token) => graphqlRequest(api.url, token, query));
  for (const request of requests) await expectPage(request, query.includes('edges') ? 25 : 0);
  const kinds = new Map([
    [process.pid, 'benchmark'],
    [api.pid, 'api'],
  ]);
  return async () => {
    const before = cpuByKind(kinds);
    const { latencies } = await hammer(requests, { count, concurrency: 1 });
    const used = Array.from(cpuByKind(kinds), ([kind, seconds]) => ({
      ...{ kind, ms: ((seconds - (before.get(kind) ?? 0)) * 1_000) / count },
    })).filter(({ kind }) => kind !== 'benchmark');
    const { total } = await hammer(requests, { count, concurrency: 10 });
    return {
      [measureOf(page, 'p50', side)]: quantile(latencies, 0.5),
      [measureOf(page, 'api', side)]: used.find(({ kind }) => kind === 'api')?.ms ?? NaN,
      [measureOf(page, 'all', side)]: used.reduce((sum, { ms }) => sum + ms, 0),
      [measureOf(page, 'rate', side)]: count / (total / 1_000),
    };
  };
}
