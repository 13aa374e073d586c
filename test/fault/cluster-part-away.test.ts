import { expect, test } from 'vitest';
import { partIndex } from '../../src/connections/redis-parts.ts';
import type { ActionId } from '../../src/domain/action.ts';
import { encodeNewsfeedItemId } from '../../src/graphql/global-id.ts';
import { threadLog } from '../../src/live/live-log.ts';
import { startTestApp } from '../support/app.ts';
import { clientOf } from '../support/client-watches.ts';
import { openMirror } from '../support/mirror.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { startValkeyCluster } from '../support/valkey-cluster.ts';

const WAIT = { timeout: PATIENCE_MS, interval: 50 };
const PARTS = 16;
/** Parts are spread over the slots in order, and the last of three nodes has the last third of them. */
const isOfLastNode = (name: string): boolean => partIndex(name, PARTS) >= 11;
const isOfOthers = (name: string): boolean => partIndex(name, PARTS) < 10;

const findName = (is: (name: string) => boolean): string => {
  for (let n = 0; ; n += 1) if (is(`reader-${String(n)}`)) return `reader-${String(n)}`;
};

test('while a node of a cluster is away, what is hidden leaves the feeds of all whose own node is there', async () => {
  await using cluster = await startValkeyCluster();
  await using app = await startTestApp({ env: { REDIS_URL: cluster.url } });
  const reader = findName(isOfOthers);
  await app.services.follow(app.session(reader), 'actor', 0);
  const shown: ActionId[] = [];
  // Its thread is watched by nobody, but its log belongs to the node that goes.
  while (!shown.some((id) => isOfLastNode(threadLog(id)))) {
    const { action } = await app.services.publishAction(app.identity('importer', 'service'), {
      actorId: 'actor',
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
    });
    shown.push(action.id);
  }
  await app.idle();
  await using mirror = openMirror(await clientOf(app, reader), reader, { unread: false });
  await expect.poll(() => mirror.shown.size, WAIT).toBe(shown.length);
  await cluster.nodes[2]?.kill();
  const id = shown.find((one) => isOfLastNode(threadLog(one))) ?? '';
  await app.services.hideAction(app.session('admin', 'admin'), id, 'Because');
  await expect.poll(() => mirror.shown.has(encodeNewsfeedItemId(reader, id)), WAIT).toBe(false);
  expect(mirror.resyncs).toEqual(['opened']);
});
