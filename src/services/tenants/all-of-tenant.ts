import type { UserId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { FeedPosition } from '../../domain/newsfeed-item.ts';
import { plainId, tenantOf, type Tenant } from '../../domain/tenant.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { FeedStore } from '../../feeds/feed-store.ts';
import { clock } from '../../lib/clock.ts';
import type { TenantSummary } from '../../storage/tenants/tenant-data.ts';
import { requireRole } from '../roles.ts';
import type { TenantDependencies } from '../service-parts.ts';

export interface TenantProgress {
  /** The collection, or `feeds of readers`. */
  readonly section: string;
  readonly count: number;
}

/** A piece of an export: lines of JSON of one section. */
export interface TenantLines {
  readonly section: string;
  readonly lines: readonly string[];
}

const FORMAT = 'fanfare-tenant-export/1';
const FEED_BATCH = 500;

/** Every tenant of which anything is stored. @throws FanfareError FORBIDDEN */
export async function* listTenants(
  { tenantData }: Pick<TenantDependencies, 'tenantData'>,
  identity: Identity,
): AsyncGenerator<TenantSummary, void, undefined> {
  requireOperator(identity);
  yield* tenantData.list();
}

/**
 * Removes everything that is stored of a tenant, and ends the streams of its members. A hash of its name stays, by which
 * `restoreActions` knows files from before. What another process does for the tenant
 * at this moment may come after it: repeated when that is over, nothing is left. Cut off anywhere and repeated, it comes to
 * the same end.
 * @throws FanfareError FORBIDDEN
 */
export async function* eraseTenant(
  dependencies: TenantDependencies,
  identity: Identity,
  tenant: Tenant,
): AsyncGenerator<TenantProgress, void, undefined> {
  requireOperator(identity);
  const { tenantData, feedStore, erasedTenants, sessionEnds, liveLog, onLiveLogError } = dependencies;
  // From here on no file from before brings it back, and at the end none that was written meanwhile.
  await erasedTenants.note(tenant, clock.now());
  for await (const readers of tenantData.readers(tenant)) {
    for (const userId of readers) {
      await sessionEnds.endSessions(userId);
      await feedStore.drop(userId);
      // What is there ends on its own some minutes after the last watcher left.
      await liveLog.forget(userId).catch(onLiveLogError);
    }
    yield { section: READERS, count: readers.length };
  }
  for (const part of tenantData.parts)
    for (let count = await remove(part); count > 0; count = await remove(part))
      yield { section: part.collection, count };
  await erasedTenants.note(tenant, clock.now());

  function remove(part: (typeof tenantData.parts)[number]): Promise<number> {
    return tenantData.remove(part, tenant);
  }
}

/** What the feeds of readers are called, whatever model holds them. */
export const READERS = 'feeds of readers';

/**
 * Everything that is stored of a tenant, as lines of JSON: a head, one for each document and each entry of a stored feed,
 * and an end that says how many there are. Ids are those of the host application. In bounded memory, but for the ids of its
 * members. Not of one moment: what changes meanwhile may be in it or not.
 * @throws FanfareError FORBIDDEN
 */
export async function* exportTenant(
  { tenantData, feedStore }: TenantDependencies,
  identity: Identity,
  tenant: Tenant,
): AsyncGenerator<TenantLines, void, undefined> {
  requireOperator(identity);
  const counts: Record<string, number> = {};
  const counted = (section: string, lines: readonly string[]): TenantLines => {
    counts[section] = (counts[section] ?? 0) + lines.length;
    return { section, lines };
  };
  const head = { format: FORMAT, tenant, exportedAt: clock.now() };
  yield { section: 'head', lines: [JSON.stringify(head)] };
  for (const part of tenantData.parts)
    if (part.isFeed !== true)
      for await (const lines of tenantData.lines(part, tenant)) yield counted(part.collection, lines);
  const known = new Set<UserId>();
  for await (const readers of tenantData.readers(tenant))
    for (const userId of readers) {
      if (known.has(userId)) continue;
      known.add(userId);
      for await (const lines of feedLines(feedStore, userId)) yield counted('feed', lines);
    }
  yield { section: 'end', lines: [JSON.stringify({ end: counts })] };
}

async function* feedLines(
  feedStore: Pick<FeedStore, 'page'>,
  userId: UserId,
): AsyncGenerator<string[], void, undefined> {
  let after: FeedPosition | undefined;
  for (;;) {
    const { entries } = await feedStore.page({
      ...{ userId, limit: FEED_BATCH },
      ...(after === undefined ? {} : { after }),
    });
    if (entries.length === 0) return;
    yield entries.map((entry) => JSON.stringify({ in: 'feed', doc: { userId: plainId(userId), ...entry } }));
    if (entries.length < FEED_BATCH) return;
    after = entries.at(-1);
  }
}

/** Who has the databases, and is of no tenant. */
function requireOperator(identity: Identity): void {
  requireRole(identity, 'admin');
  if (tenantOf(identity.userId) !== null)
    throw new FanfareError('FORBIDDEN', 'This is for who runs the installation');
}
