import { expect, test } from 'vitest';
import type { DeliveryChunk } from '../../../src/feed/feed-store.ts';
import type { FanOutObserver, FanOutWorkerOptions } from '../../../src/fan-out/fan-out-worker.ts';
import type { Core } from '../../../src/core/core.ts';
import { FAN_OUT_STATES, reportedFanOut } from '../../../src/domain/action.ts';
import { clock } from '../../../src/lib/clock.ts';
import { openParts, silentObserver, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { watching } from '../../support/watching.ts';
import { claimOne } from '../../support/claim-one.ts';

const PATIENTLY = { timeout: PATIENCE_MS };

const READERS = ['ann', 'bob', 'cid', 'dan', 'eve'];
const LATER = 3_600_000;

function noting(): { readonly observer: FanOutObserver; readonly notes: string[] } {
  const notes: string[] = [];
  return {
    notes,
    observer: {
      ...silentObserver,
      finished: (claim, { isDone, delivered }) =>
        notes.push(`${isDone ? 'done' : 'passed on'} ${String(claim.version)}: ${String(delivered)}`),
      overtaken: () => notes.push('overtaken'),
      leaseLost: () => notes.push('lease lost'),
      failed: (_claim, error) => notes.push(String(error)),
    },
  };
}

/** A worker that delivers to one reader at a time, and does something when it delivers. */
function slowly(
  parts: Parts,
  whenDelivering: (chunk: DeliveryChunk) => Promise<unknown>,
  options: Partial<FanOutWorkerOptions> = {},
  dependencies: Partial<Core> = {},
) {
  const { feedStore } = parts;
  const deliver: typeof feedStore.deliver = async (chunks) => {
    for (const chunk of chunks) await whenDelivering(chunk);
    return feedStore.deliver(chunks);
  };
  const { observer, notes } = noting();
  const worker = parts.worker(
    { chunkSize: 1, observer, ...options },
    { feedStore: { ...feedStore, deliver }, ...dependencies },
  );
  return { worker, notes };
}

/** Does it the first time only; everybody waits for it. */
function once(work: () => Promise<unknown>): () => Promise<unknown> {
  let done: Promise<unknown> | null = null;
  return () => (done ??= work());
}

const isFor = (chunk: DeliveryChunk, userId: string): boolean =>
  chunk.readers.some((reader) => reader.userId === userId);

async function fanOutOf(parts: Parts, id: string) {
  const [action] = await parts.repositories.actions.findByIds([id]);
  if (action === undefined) throw new Error('The action is gone');
  return action.fanOut;
}

function like(parts: Parts, actionId: string, at?: Date): Promise<unknown> {
  return parts.services.addInteraction(parts.session('service', 'service'), {
    ...{ actionId, kind: 'COMMENT', actorId: 'actor' },
    ...(at === undefined ? {} : { at }),
  });
}

test('a pass continues after its lease expired, as long as no other worker has claimed the action', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  const { action } = await parts.publish({ mentions: READERS });
  let letGo: () => void = () => undefined;
  const hasRunOut = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { worker, notes } = slowly(
    parts,
    () => hasRunOut,
    { leaseMs: 60 },
    {
      // As if the database took its time to answer.
      fanOuts: { ...fanOuts, renew: (claim, leaseMs) => hasRunOut.then(() => fanOuts.renew(claim, leaseMs)) },
    },
  );
  worker.start();
  const countRunOut = (): Promise<number> =>
    parts.database.collections.actions.countDocuments({
      'fanOut.state': 'IN_PROGRESS',
      'fanOut.leaseUntil': { $lt: clock.now() },
    });
  await expect.poll(countRunOut, PATIENTLY).toBe(1);
  letGo();
  await parts.idle();
  await worker.stop();
  expect(notes).toEqual(['done 1: 5']);
  expect(await fanOutOf(parts, action.id)).toMatchObject({ state: 'DONE', attempts: 1, delivered: 5 });
});

test('a worker that lost its lease undoes nothing that another one has done since', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  const { action } = await parts.publish({ mentions: READERS });
  const other = once(async () => {
    const claim = await claimOne(fanOuts, 'other', new Date(Date.now() + LATER), LATER);
    if (claim === null) throw new Error('There is nothing to take over');
    await fanOuts.checkpoint(claim, { afterUserId: 'dan', delivered: 4 }, new Date(Date.now() + LATER));
    return claim;
  });
  const { worker, notes } = slowly(parts, other);
  worker.start();
  await expect.poll(() => notes, PATIENTLY).toEqual(['lease lost']);
  await worker.stop();
  expect(await fanOutOf(parts, action.id)).toMatchObject({ state: 'IN_PROGRESS', version: 1 });
  const next = await claimOne(fanOuts, 'next', new Date(Date.now() + 3 * LATER), LATER);
  expect(next).toMatchObject({ version: 1, afterUserId: 'dan', delivered: 4 });
});

test('work done by a worker that lost its lease is not repeated, and is no failed attempt', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  await parts.publish({ mentions: READERS });
  const other = once(() => claimOne(fanOuts, 'other', new Date(Date.now() + LATER), LATER));
  const { worker, notes } = slowly(parts, other);
  worker.start();
  await expect.poll(() => notes, PATIENTLY).toEqual(['lease lost']);
  await worker.stop();
  const next = await claimOne(fanOuts, 'next', new Date(Date.now() + 3 * LATER), LATER);
  expect(next).toMatchObject({ afterUserId: 'ann', delivered: 1, attempts: 2 });
});

test('a pass that has served everybody is complete, whichever worker has the lease by then', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  const { action } = await parts.publish({ mentions: READERS });
  const other = once(() => claimOne(fanOuts, 'other', new Date(Date.now() + LATER), LATER));
  const { worker, notes } = slowly(parts, other, { chunkSize: 10 });
  worker.start();
  await parts.idle();
  await worker.stop();
  expect(notes).toEqual(['done 1: 5']);
  expect(await fanOutOf(parts, action.id)).toMatchObject({ state: 'DONE', delivered: 5 });
});

test('a worker that lost its lease and may have written against a change requests a pass', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  const { action } = await parts.publish({ mentions: READERS });
  const change = once(async () => {
    await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
    await claimOne(fanOuts, 'other', new Date(Date.now() + LATER), LATER);
  });
  const { worker, notes } = slowly(parts, change);
  worker.start();
  await expect.poll(() => notes, PATIENTLY).toEqual(['lease lost']);
  await worker.stop();
  expect(await fanOutOf(parts, action.id)).toMatchObject({ version: 3 });
});

test('an interrupted pass continues from its checkpoint though the action has changed, and another follows', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  const { action } = await parts.publish({ mentions: READERS });
  const dead = await claimOne(fanOuts, 'dead', new Date(), 0);
  if (dead === null) throw new Error('There is nothing to claim');
  await fanOuts.checkpoint(dead, { afterUserId: 'cid', delivered: 3 }, new Date());
  await like(parts, action.id);
  const served: string[] = [];
  const { worker, notes } = slowly(parts, ({ readers }) => {
    served.push(...readers.map(({ userId }) => userId));
    return Promise.resolve();
  });
  worker.start();
  await parts.idle();
  await worker.stop();
  expect(notes).toEqual(['passed on 1: 5', 'done 2: 5']);
  expect(served.slice(0, 2).sort()).toEqual(['dan', 'eve']);
  expect(served.slice(2).sort()).toEqual(READERS);
});

test('an action that is hidden after an interrupted pass is withdrawn in one pass from everybody who had it', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  const { action } = await parts.publish({ mentions: READERS });
  await parts.fanOut();
  await like(parts, action.id);
  const dead = await claimOne(fanOuts, 'dead', new Date(Date.now() + LATER), 0);
  if (dead === null) throw new Error('There is nothing to claim');
  await fanOuts.checkpoint(dead, { afterUserId: 'cid', delivered: 3 }, new Date());
  await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
  const { worker, notes } = slowly(parts, () => Promise.resolve());
  worker.start();
  await parts.idle();
  await worker.stop();
  expect(notes).toEqual(['done 3: 0']);
  expect(await parts.feedStore.holders(action.id, { limit: 10 })).toEqual([]);
});

test('an action that changes during every pass is delivered by every pass, and each notifies its watchers', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ mentions: READERS });
  await parts.fanOut();
  await using eve = await watching(parts.services, parts.session('eve').identity, { withUnread: false });
  const state = { isLively: true };
  const { worker, notes } = slowly(parts, (chunk) =>
    state.isLively && isFor(chunk, 'eve') ? like(parts, action.id) : Promise.resolve(),
  );
  await like(parts, action.id);
  worker.start();
  for (let pass = 0; pass < 3; pass++)
    expect(await eve.next()).toMatchObject({ kind: 'updated', item: { actionId: action.id } });
  await expect.poll(() => notes.length, PATIENTLY).toBeGreaterThanOrEqual(3);
  expect(new Set(notes.map((note) => note.replace(/\d+:/, 'n:')))).toEqual(new Set(['passed on n: 5']));
  expect(await fanOutOf(parts, action.id)).toMatchObject({ delivered: 5, error: null });
  state.isLively = false;
  await parts.idle();
  await worker.stop();
  expect(notes.at(-1)).toMatch(/^done/);
});

test('an action that is liked during every pass is DONE as of the last one, until something else changes', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ mentions: READERS });
  const state = { isLively: true };
  const { worker, notes } = slowly(parts, (chunk) =>
    state.isLively && isFor(chunk, 'eve') ? like(parts, action.id) : Promise.resolve(),
  );
  const { actions, fanOuts } = parts.repositories;
  const reported = async () => {
    const fanOut = await fanOutOf(parts, action.id);
    return { ...reportedFanOut(fanOut), isOpen: fanOut.state !== 'DONE' };
  };
  const listed = async () => {
    const lists = await Promise.all(
      FAN_OUT_STATES.map(async (listedState) => {
        const query = {
          beside: 'ann',
          state: listedState,
          includeHidden: true,
          from: null,
          isUp: false,
          limit: 10,
        };
        return (await actions.list(query)).map(() => listedState);
      }),
    );
    return lists.flat();
  };
  expect(await reported()).toEqual({ state: 'PENDING', version: 1, isOpen: true });
  worker.start();
  await expect.poll(() => notes.length, PATIENTLY).toBeGreaterThanOrEqual(2);
  await worker.stop();
  const { version } = await reported();
  expect(notes).toContain(`passed on ${String(version)}: 5`);
  expect(await reported()).toEqual({ state: 'DONE', version, isOpen: true });
  await like(parts, action.id);
  expect(await reported()).toEqual({ state: 'DONE', version, isOpen: true });
  expect(await listed()).toEqual(['DONE']);
  const claim = await claimOne(fanOuts, 'w', new Date(Date.now() + LATER), 60_000);
  if (claim === null) throw new Error('There is nothing to claim');
  expect(await reported()).toMatchObject({ state: 'DONE', version });
  const admin = parts.session('admin', 'admin');
  await parts.services.hideAction(admin, action.id, null);
  expect(await reported()).toMatchObject({ state: 'IN_PROGRESS' });
  expect(await fanOuts.passOn(claim, { delivered: 5, notBefore: new Date() })).toBe(true);
  expect(await reported()).toMatchObject({ state: 'PENDING' });
  expect(await listed()).toEqual(['PENDING']);
  state.isLively = false;
  await parts.fanOut();
  expect(await reported()).toMatchObject({ state: 'DONE', isOpen: false });
});

test('a change that ends a pass is not treated as a lost lease', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ mentions: READERS });
  const hide = once(() => parts.services.hideAction(parts.session('admin', 'admin'), action.id, null));
  const { worker, notes } = slowly(parts, hide);
  worker.start();
  await parts.idle();
  await worker.stop();
  expect(notes).toEqual(['overtaken', 'done 2: 0']);
  expect(await parts.feedStore.holders(action.id, { limit: 10 })).toEqual([]);
});

test('a worker does not take over its own action after a late renewal', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  const { action } = await parts.publish({});
  await claimOne(fanOuts, 'w', new Date(), 0);
  expect(await claimOne(fanOuts, 'w', new Date(Date.now() + LATER), 0, { except: [action.id] })).toBeNull();
  expect(await claimOne(fanOuts, 'x', new Date(Date.now() + LATER), 0)).not.toBeNull();
});

test('an action that is taken over again and again has a longer lease each time, so that slow workers do not take it from each other', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  await parts.publish({});
  const leases: (number | undefined)[] = [];
  let now = clock.time();
  for (let turn = 0; turn < 6; turn += 1) {
    const claim = await claimOne(fanOuts, String(turn), new Date(now), 3_000, { longestLeaseMs: 20_000 });
    leases.push(claim?.leaseMs);
    const early = new Date(now + (claim?.leaseMs ?? 0) - 1_000);
    expect(await claimOne(fanOuts, 'early', early, 3_000)).toBeNull();
    now += (claim?.leaseMs ?? 0) + 1_000;
  }
  // One that has died twice within seconds goes on within seconds, too.
  expect(leases).toEqual([3_000, 3_000, 6_000, 12_000, 20_000, 20_000]);
});

test('what was lost once is taken over apart from what was lost more often', async () => {
  await using parts = await openParts();
  const { fanOuts } = parts.repositories;
  await parts.publish({});
  const now = clock.now();
  await claimOne(fanOuts, 'first', now, 0);
  await claimOne(fanOuts, 'second', new Date(now.getTime() + 1_000), 0);
  await parts.publish({});
  await claimOne(fanOuts, 'third', clock.now(), 0, { takesOver: false });
  const lanes = [{ lane: 'LIVE', most: 10 }] as const;
  const later = new Date(now.getTime() + LATER);
  const counts: number[][] = [];
  for (const token of ['a', 'b']) {
    const { claims } = await fanOuts.claim(token, later, 3_000, { lanes, longestLeaseMs: 30_000 });
    counts.push(claims.map(({ leaseMs }) => leaseMs));
  }
  expect(counts.sort((one, other) => (one[0] ?? 0) - (other[0] ?? 0))).toEqual([[3_000], [6_000]]);
});
