import type { UserId } from '../../../domain/action.ts';
import type { Identity } from '../../../domain/viewer.ts';
import { SharedLoads } from '../../../lib/shared-loads.ts';
import type { UnreadCount } from '../../shapes.ts';

/** Concurrent counts: each one reads a feed. */
const COUNTS_AT_ONCE = 25;

/** Counts for watchers. Tabs of a reader that ask before a count begins share it, and few counts run at once. */
export function createSharedUnread(
  count: (identity: Identity) => Promise<UnreadCount>,
): (identity: Identity) => Promise<UnreadCount> {
  const counts = new SharedLoads<Identity, { readonly name: string; readonly unread: UnreadCount }>({
    load: (identities) =>
      Promise.all(
        identities.map(async (identity) => ({
          name: nameOf(identity),
          unread: await count(identity),
        })),
      ),
    nameOf,
    resultName: ({ name }) => name,
    maxBatch: COUNTS_AT_ONCE,
  });
  return async (identity) => {
    const counted = await counts.load(identity);
    if (counted === null) throw new Error('A count has no result');
    return counted.unread;
  };
}

function nameOf({ userId, roles }: { readonly userId: UserId; readonly roles: ReadonlySet<string> }): string {
  return JSON.stringify([userId, ...[...roles].sort()]);
}
