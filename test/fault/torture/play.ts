import { expect } from 'vitest';
import { encodeNewsfeedItemId } from '../../../src/graphql/global-id.ts';
import { LIST_CHANGES } from '../../../src/live/live-log.ts';
import { clientOf } from '../../support/client-watches.ts';
import { wholeFeed, type Mirror } from '../../support/mirror.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { Deed } from './deeds.ts';
import { HERALD, type World } from './world.ts';

const AT_ONCE = 4;

export interface Trouble {
  /** After how many deeds Redis dies, and comes back. */
  readonly redis: readonly [number, number] | null;
}

interface PhaseOptions {
  readonly deeds: number;
  readonly trouble: Trouble;
}

/** Deeds one after the other, some at once, and troubles in between. */
export async function phase(
  world: World,
  deed: Deed,
  random: SeededRandom,
  { deeds, trouble: { redis } }: PhaseOptions,
): Promise<void> {
  let restarting: Promise<void> | null = null;
  for (let done = 0; done < deeds; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, deed));
    const isNow = (moment: number): boolean => done <= moment && moment < done + AT_ONCE;
    if (redis !== null && isNow(redis[0])) await world.redis.kill();
    if (redis !== null && isNow(redis[1])) restarting = world.redis.restart();
    if (random.next() < 0.3) {
      const wire = random.pick(world.wires);
      wire.cut();
      wire.heal();
    }
    if (random.next() < 0.02) world.replace('api', random.pick(['SIGKILL', 'SIGKILL', 'SIGTERM']));
    if (random.next() < 0.03) world.replace('worker', random.pick(['SIGKILL', 'SIGKILL', 'SIGTERM']));
  }
  await restarting;
  await world.isWhole();
}

export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  what: () => string,
  patienceMs: number,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`It did not come to be so: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until everything has been delivered and told, and expects every client to show what the query gives. */
export async function settle(world: World, journal: readonly string[], patienceMs: number): Promise<void> {
  const { app, mirrors, readers } = world;
  await app.idle();
  const { action } = await app.services.publishAction(app.identity('importer', 'service'), {
    actorId: HERALD,
    descriptor: { custom: { verb: 'called', objectType: 'end', objectId: 'end' } },
  });
  await app.idle();
  const missing = (): Mirror[] =>
    mirrors.filter(({ reader, shown }) => !shown.has(encodeNewsfeedItemId(reader, action.id)));
  await eventually(
    () => missing().length === 0,
    () =>
      `Clients were not told of the last action; their resyncs so far: ${missing()
        .map(({ resyncs }) => resyncs.length)
        .join(' ')}`,
    patienceMs,
  );
  let differences: string[] = [];
  await eventually(
    async () => {
      differences = [];
      for (const reader of readers) {
        const client = await clientOf({ token: app.token, url: world.apiUrl() }, reader);
        const [whole, unread] = [await wholeFeed(client), await wholeFeed(client, { unreadOnly: true })];
        for (const mirror of mirrors.filter((one) => one.reader === reader)) {
          const feed = mirror.filter === undefined ? whole : unread;
          const ids = new Set([...feed.shown.keys(), ...mirror.shown.keys()]);
          for (const id of ids)
            if (mirror.shown.get(id) !== feed.shown.get(id))
              differences.push(
                [
                  `${reader} sees ${actionOf(id)} at ${String(mirror.shown.get(id))}, not ${String(feed.shown.get(id))}, after ${mirror.resyncs.join(' ')}`,
                  ...journal.filter(
                    (line) =>
                      line.includes(actionOf(id)) || (line.includes(`follow`) && line.includes(`${reader} `)),
                  ),
                ].join('\n  '),
              );
          if (mirror.unread !== undefined && mirror.unread !== feed.unread.count)
            differences.push(`${reader}: unread ${String(mirror.unread)}, not ${String(feed.unread.count)}`);
        }
      }
      return differences.length === 0;
    },
    () => differences.slice(0, 10).join('\n'),
    patienceMs,
  );
  expect(mirrors.flatMap(({ faults }) => faults)).toEqual([]);
}

/** Not one by which the reader changed the list. */
export function isOfNoChange(reason: string): boolean {
  return !(LIST_CHANGES as readonly string[]).includes(reason);
}

function actionOf(itemId: string): string {
  return Buffer.from(itemId, 'base64').toString().slice(-24);
}
