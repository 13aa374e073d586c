import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { Lane } from '../../../src/domain/lane.ts';
import { clock } from '../../../src/lib/clock.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { watching, type Watching } from '../../support/watching.ts';
import { claimOne } from '../../support/claim-one.ts';

const PATIENTLY = { timeout: PATIENCE_MS };

const descriptor = { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } };

async function laneOf(parts: Parts, id: string): Promise<[string, Lane]> {
  const [action] = await parts.repositories.actions.findByIds([id]);
  if (action === undefined) throw new Error('The action is gone');
  return [action.fanOut.state, action.fanOut.lane];
}

async function publishBulk(parts: Parts, count: number, actorId = 'importer'): Promise<string[]> {
  const inputs = Array.from({ length: count }, () => ({ actorId, mentions: ['reader'], descriptor }));
  const outcomes = await parts.services.publishActions(parts.service, inputs, { isBulk: true });
  return outcomes.flatMap(({ action }) => action?.id ?? []);
}

/** Asks for a pass as an interaction does. */
function mark(parts: Parts, id: string): Promise<unknown> {
  const now = clock.now();
  return parts.repositories.engagement.markInteraction(
    id,
    { change: { kind: 'none' }, boost: now, now },
    null,
  );
}

function comment(parts: Parts, actionId: string): Promise<unknown> {
  const service = parts.session('service', 'service');
  return parts.services.addInteraction(service, { actionId, kind: 'COMMENT', actorId: 'actor' });
}

function watchAs(parts: Parts, userId: string): Promise<Watching> {
  return watching(parts.services, parts.session(userId).identity, { withUnread: false });
}

async function claimed(parts: Parts, token = 'w') {
  return claimOne(parts.repositories.fanOuts, token, new Date(Date.now() + 60_000), 60_000);
}

describe('the lane of a fan-out', () => {
  test('is BULK for what an actor publishes or edits while a hundred of their own wait in LIVE', async () => {
    await using parts = await openParts({ monitorCommands: true });
    const { services, session } = parts;
    const lanes = async (identity: Identity, actorIds: readonly string[]): Promise<Lane[]> => {
      const inputs = actorIds.map((actorId) => ({ actorId, descriptor }));
      const outcomes = await services.publishActions(identity, inputs);
      return outcomes.flatMap(({ action }) => action?.fanOut.lane ?? []);
    };
    const flood = Array.from({ length: 20 }, () => 'flood');
    const one = async (identity: Identity): Promise<Lane | undefined> =>
      (await services.publishAction(identity, { descriptor })).action.fanOut.lane;
    const { action: first } = await services.publishAction(session('flood').identity, { descriptor });
    await parts.fanOut();
    for (let call = 0; call < 5; call += 1)
      expect(new Set(await lanes(session('flood').identity, flood))).toEqual(new Set(['LIVE']));
    expect(await one(session('flood').identity)).toBe('BULK');
    expect(new Set(await lanes(session('flood').identity, flood))).toEqual(new Set(['BULK']));
    const edit = { descriptor: { custom: { ...descriptor.custom, verb: 'wrote' } } };
    await services.updateAction(session('flood'), first.id, edit);
    expect(await laneOf(parts, first.id)).toEqual(['PENDING', 'BULK']);
    const commands = await commandsOf(parts.database, async () => {
      expect(await one(session('other').identity)).toBe('LIVE');
    });
    expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual([
      'find blocks',
      'insert actions',
    ]);
    // Also if a service publishes it for them.
    expect(await lanes(parts.service, ['flood', 'other', 'flood'])).toEqual(['BULK', 'LIVE', 'BULK']);
    await parts.fanOut();
    const after = [];
    for (let n = 0; n < 11; n += 1) after.push(await one(session('flood').identity));
    expect(after.at(-1)).toBe('LIVE');
  });

  test('lets the single action of somebody else be claimed at once, however many of one actor wait', async () => {
    await using parts = await openParts();
    const { services, service } = parts;
    const many = Array.from({ length: 20 }, () => ({ actorId: 'flood', descriptor }));
    for (let call = 0; call < 20; call += 1) await services.publishActions(service, many);
    const { action } = await services.publishAction(service, { actorId: 'other', descriptor });
    const lanes = (['URGENT', 'LIVE', 'BULK'] as const).map((lane) => ({ lane, most: 64 }));
    const now = new Date(Date.now() + 60_000);
    const ids = [];
    for (const token of ['a', 'b'])
      ids.push(...(await parts.repositories.fanOuts.claim(token, now, 60_000, { lanes })).claims);
    expect(ids.map((claim) => claim.action.id)).toContain(action.id);
  });

  test('holds until the first delivery has ended, whatever people do with the action', async () => {
    await using parts = await openParts();
    const { services, session, repositories } = parts;
    const publish = async (): Promise<string> => {
      const input = { actorId: 'ann', scope: 'PUBLIC' as const, descriptor };
      const [outcome] = await services.publishActions(parts.service, [input], { isBulk: true });
      return outcome?.action?.id ?? '';
    };
    const waiting = await publish();
    const meddle = async (id: string): Promise<void> => {
      const [ann, bob] = [session('ann'), session('bob')];
      await services.addInteraction(ann, { actionId: id, kind: 'LIKE' });
      await services.addInteraction(bob, { actionId: id, kind: 'COMMENT' });
      await services.addInteraction(bob, { actionId: id, kind: 'RESHARE' });
      await services.removeInteraction(bob, { own: { actionId: id, kind: 'RESHARE' } });
      await services.updateAction(ann, id, { mentions: ['cid'] });
      await services.updateAction(ann, id, { scope: 'FOLLOWERS' });
    };
    await meddle(waiting);
    expect(await laneOf(parts, waiting)).toEqual(['PENDING', 'BULK']);

    const claim = await claimed(parts);
    expect([claim?.action.id, claim?.lane]).toEqual([waiting, 'BULK']);
    await mark(parts, waiting);
    expect(await laneOf(parts, waiting)).toEqual(['IN_PROGRESS', 'BULK']);
    const done = { delivered: 0, notBefore: new Date() };
    expect(claim !== null && (await repositories.fanOuts.passOn(claim, done))).toBe(true);
    expect(await laneOf(parts, waiting)).toEqual(['PENDING', 'LIVE']);

    const delivered = await publish();
    await parts.fanOut();
    await meddle(delivered);
    expect(await laneOf(parts, delivered)).toEqual(['PENDING', 'URGENT']);
  });

  test('is set by the request, the most urgent wins, and it is reset at the end', async () => {
    await using parts = await openParts();
    const { action } = await parts.publish({});
    expect(await laneOf(parts, action.id)).toEqual(['PENDING', 'LIVE']);
    const [bulk = ''] = await publishBulk(parts, 1);
    expect(await laneOf(parts, bulk)).toEqual(['PENDING', 'BULK']);
    await parts.services.hideAction(parts.session('admin', 'admin'), bulk, null);
    await parts.services.unhideAction(parts.session('admin', 'admin'), bulk);
    await mark(parts, bulk);
    expect(await laneOf(parts, bulk)).toEqual(['PENDING', 'URGENT']);
    await parts.fanOut();
    expect(await laneOf(parts, bulk)).toEqual(['DONE', 'LIVE']);
    expect(
      await parts.database.collections.actions.countDocuments({ 'fanOut.lane': { $exists: true } }),
    ).toBe(0);
    await parts.services.deleteAction(parts.session('admin', 'admin'), bulk);
    const deleted = await parts.database.collections.actions.findOne({ _id: new ObjectId(bulk) });
    expect(deleted?.fanOut.lane).toBe('URGENT');
  });

  test('is bulk for more than twenty actions in one call, whatever the call says', async () => {
    await using parts = await openParts();
    const publish = (count: number) =>
      parts.services.publishActions(
        parts.service,
        Array.from({ length: count }, () => ({ descriptor })),
        { isBulk: false },
      );
    const lanes = async (count: number) =>
      new Set((await publish(count)).map(({ action }) => action?.fanOut.lane));
    expect(await lanes(20)).toEqual(new Set(['LIVE']));
    expect(await lanes(21)).toEqual(new Set(['BULK']));
  });

  test('is that of the changes during a pass, after the pass has ended', async () => {
    await using parts = await openParts();
    const { fanOuts } = parts.repositories;
    const { action } = await parts.publish({});
    await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
    const claim = await claimed(parts);
    expect(claim?.lane).toBe('URGENT');
    await mark(parts, action.id);
    expect(await laneOf(parts, action.id)).toEqual(['IN_PROGRESS', 'URGENT']);
    const notBefore = new Date();
    expect(claim !== null && (await fanOuts.passOn(claim, { delivered: 0, notBefore }))).toBe(true);
    expect(await laneOf(parts, action.id)).toEqual(['PENDING', 'LIVE']);
  });

  test('rises during a pass when something more urgent is requested', async () => {
    await using parts = await openParts();
    const [bulk = ''] = await publishBulk(parts, 1);
    await parts.fanOut();
    const { fanOuts } = parts.repositories;
    await fanOuts.requestPass(bulk, new Date(), 'BULK');
    const claim = await claimed(parts);
    if (claim === null) throw new Error('There is nothing to claim');
    const progress = { afterUserId: 'a', delivered: 1 };
    expect(await fanOuts.checkpoint(claim, progress, new Date())).toBe('BULK');
    await mark(parts, bulk);
    expect(await fanOuts.checkpoint(claim, progress, new Date(Date.now() + 60_000))).toBe('LIVE');
  });
});

describe('claims', () => {
  test('take the most urgent first and within a lane the oldest', async () => {
    await using parts = await openParts();
    const [first, second] = await publishBulk(parts, 2);
    const { action: live } = await parts.publish({});
    const { action: hidden } = await parts.publish({});
    await parts.services.hideAction(parts.session('admin', 'admin'), hidden.id, null);
    const order = [];
    for (let n = 0; n < 4; n++) order.push((await claimed(parts, String(n)))?.action.id);
    expect(order.slice(0, 2)).toEqual([hidden.id, live.id]);
    expect(order.slice(2).sort()).toEqual([first, second].sort());
  });

  test('of some lanes do not touch the others, and take as many as are asked for', async () => {
    await using parts = await openParts();
    await publishBulk(parts, 5);
    const { fanOuts } = parts.repositories;
    const now = new Date(Date.now() + 60_000);
    const some = async (...lanes: readonly Lane[]) => {
      const room = lanes.map((lane) => ({ lane, most: 3 }));
      const { claims, isAll } = await fanOuts.claim('w', now, 60_000, { lanes: room });
      return [...claims.map(({ lane }) => lane), isAll];
    };
    expect(await some('URGENT', 'LIVE')).toEqual([true]);
    expect(await some('URGENT', 'BULK')).toEqual(['BULK', 'BULK', 'BULK', false]);
    expect(await some('URGENT', 'BULK')).toEqual(['BULK', 'BULK', true]);
  });

  interface Look {
    readonly more?: readonly Lane[];
    readonly after?: number;
  }

  /** So many that wait, in order of time. */
  async function queue(parts: Parts, count: number) {
    const ids = await publishBulk(parts, count);
    const { actions } = parts.database.collections;
    const from = clock.time() - 60_000;
    const isDueAt = (id: string, at: number) =>
      actions.updateOne({ _id: new ObjectId(id) }, { $set: { 'fanOut.leaseUntil': new Date(from + at) } });
    for (const [index, id] of ids.entries()) await isDueAt(id, index);
    const now = clock.time();
    const claim = async (most: number, { more = [], after = 0 }: Look = {}): Promise<number[]> => {
      const lanes = [...more, 'BULK' as const].map((lane) => ({ lane, most }));
      const at = new Date(now + after);
      const { claims } = await parts.repositories.fanOuts.claim('w', at, 60_000, { lanes });
      return claims.map(({ action: { id } }) => ids.indexOf(id)).sort((a, b) => a - b);
    };
    return { claim, ids, becomesFirst: (id = '') => isDueAt(id, -1) };
  }

  test('find what became due before the others once no more than they take is left behind these', async () => {
    await using parts = await openParts();
    const { claim, ids, becomesFirst } = await queue(parts, 6);
    expect(await claim(2)).toEqual([0, 1]);
    await becomesFirst(ids[5]);
    expect(await claim(2)).toEqual([2, 3]);
    expect(await claim(2)).toEqual([4, 5]);
    expect(await claim(2)).toEqual([]);
  });

  test('find what became due before the others within a second, although more wait behind these', async () => {
    await using parts = await openParts();
    const { claim, ids, becomesFirst } = await queue(parts, 6);
    expect(await claim(1)).toEqual([0]);
    await becomesFirst(ids[5]);
    expect(await claim(1, { after: 900 })).toEqual([1]);
    expect(await claim(1, { after: 1_100 })).toEqual([5]);
    expect(await claim(1, { after: 1_200 })).toEqual([2]);
  });

  test('go on in a lane whose place is known, after one of a more urgent lane', async () => {
    await using parts = await openParts();
    const { claim, becomesFirst } = await queue(parts, 5);
    const more: readonly Lane[] = ['LIVE'];
    expect(await claim(1, { more })).toEqual([0]);
    await becomesFirst((await parts.publish({})).action.id);
    // Not one of the queue.
    expect(await claim(1, { more })).toEqual([-1]);
    expect([await claim(3, { more }), await claim(3, { more })]).toEqual([[1, 2, 3], [4]]);
  });
});

describe('with bulk fan-outs that do not end', () => {
  async function scene(parts: Parts) {
    const { action } = await parts.publish({ mentions: ['ann'] });
    await parts.fanOut();
    const bulk = new Set(await publishBulk(parts, 100));
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let underWay = 0;
    const worker = parts.worker(
      { concurrency: 2, pollMs: 600_000 },
      {
        feedStore: {
          ...parts.feedStore,
          deliver: async (chunks) => {
            if (chunks.some(({ actionId }) => bulk.has(actionId))) {
              underWay += 1;
              await released;
            }
            return parts.feedStore.deliver(chunks);
          },
        },
      },
    );
    worker.start();
    await expect.poll(() => underWay, PATIENTLY).toBe(2);
    return { action, worker, release, bulk };
  }

  test('a comment reaches its watchers, an action is published, and a hidden action leaves the feeds', async () => {
    await using parts = await openParts();
    await using ann = await watchAs(parts, 'ann');
    const { action, worker, release, bulk } = await scene(parts);
    expect((await ann.next()).kind).toBe('added');
    await comment(parts, action.id);
    expect(await ann.next()).toMatchObject({ kind: 'updated', item: { actionId: action.id } });
    const { action: next } = await parts.publish({ mentions: ['ann'] });
    expect(await ann.next()).toMatchObject({ kind: 'added', item: { actionId: next.id } });
    await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
    expect(await ann.next()).toMatchObject({ kind: 'removed', actionId: action.id });
    await expect.poll(() => laneOf(parts, action.id), PATIENTLY).toEqual(['DONE', 'LIVE']);
    expect(await parts.feedStore.holders(action.id, { limit: 10 })).toEqual([]);
    release();
    await parts.idle();
    await worker.stop();
    expect((await parts.feedOf('reader')).length).toBe(bulk.size);
  });

  test('other bulk fan-outs wait for a free place, and none is forgotten', async () => {
    await using parts = await openParts();
    const { worker, release, bulk } = await scene(parts);
    // As many as there are places, and since all of them were small, a whole batch.
    expect((await parts.repositories.actions.openFanOuts()).IN_PROGRESS).toBe(2 + 64);
    expect(await parts.repositories.actions.pendingByLane()).toEqual({ URGENT: 0, LIVE: 0, BULK: 100 });
    release();
    await parts.idle();
    await worker.stop();
    expect((await parts.feedOf('reader')).length).toBe(bulk.size);
  });
});

describe('during a live pass', () => {
  test('bulk continues with one chunk at a time, and afterwards with two', async () => {
    await using parts = await openParts();
    const bulk = new Set(await publishBulk(parts, 300));
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let underWay = 0;
    let delivered = 0;
    let most = 0;
    let liveBegan = false;
    let isLiveThrough = false;
    const worker = parts.worker(
      { concurrency: 4, pollMs: 600_000 },
      {
        feedStore: {
          ...parts.feedStore,
          deliver: async (chunks) => {
            if (!chunks.some(({ actionId }) => bulk.has(actionId))) {
              liveBegan = true;
              await released;
              return parts.feedStore.deliver(chunks);
            }
            underWay += 1;
            most = Math.max(most, underWay);
            // However fast the machine is, most of bulk is left when the live pass ends, and then its next chunk is not
            // through before there is a second one beside it.
            if (delivered > 5) await released;
            if (isLiveThrough) await expect.poll(() => most, PATIENTLY).toBe(2);
            const outcomes = await parts.feedStore.deliver(chunks);
            underWay -= 1;
            delivered += chunks.length;
            return outcomes;
          },
        },
      },
    );
    await parts.publish({ mentions: ['ann'] });
    worker.start();
    await expect.poll(() => liveBegan, PATIENTLY).toBe(true);
    await expect.poll(() => delivered, PATIENTLY).toBeGreaterThan(5);
    expect(most).toBe(1);
    expect(delivered).toBeLessThan(bulk.size);
    isLiveThrough = true;
    release();
    await parts.idle();
    await worker.stop();
    expect(most).toBe(2);
    expect((await parts.feedOf('reader')).length).toBe(bulk.size);
  });
});

describe('watchers of an action that is hidden or deleted', () => {
  test.each(['hide', 'delete'] as const)('are notified at once and once: %s', async (what) => {
    await using parts = await openParts();
    await parts.services.follow(parts.session('bob'), 'actor', 0);
    const { action } = await parts.publish({ mentions: ['ann'] });
    await parts.fanOut();
    await using ann = await watchAs(parts, 'ann');
    await using bob = await watchAs(parts, 'bob');
    await using cid = await watchAs(parts, 'cid');
    const admin = parts.session('admin', 'admin');
    if (what === 'hide') await parts.services.hideAction(admin, action.id, null);
    else await parts.services.deleteAction(admin, action.id);
    // No worker runs.
    for (const watch of [ann, bob])
      expect(await watch.next()).toMatchObject({ kind: 'removed', actionId: action.id });
    await parts.fanOut();
    const { action: next } = await parts.publish({ mentions: ['ann', 'bob', 'cid'] });
    await parts.fanOut();
    for (const watch of [ann, bob, cid])
      expect(await watch.next()).toMatchObject({ kind: 'added', item: { actionId: next.id } });
  });

  test('are notified by the pass if they have it for a former reason', async () => {
    await using parts = await openParts();
    const { action } = await parts.publish({ mentions: ['ann'] });
    await parts.fanOut();
    await parts.feedStore.fill('bob', [
      { actionId: action.id, relevancy: action.latest, reasons: ['FOLLOW'] },
    ]);
    await using bob = await watchAs(parts, 'bob');
    await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
    await parts.fanOut();
    expect(await bob.next()).toMatchObject({ kind: 'removed', actionId: action.id });
  });
});
