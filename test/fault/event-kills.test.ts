import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FEED_MODEL_NAMES } from '../../src/app/feed-models.ts';
import { encodeActionId } from '../../src/domain/node-ids.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { IS_DEEP, SEED, someOf } from '../support/seed.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { startWebhookTarget, type WebhookTarget } from '../support/webhook-receiver.ts';
import { call, type As } from './chaos/call.ts';
import { startFleet, type Fleet } from './chaos/fleet.ts';

// Each deed that was acknowledged is followed to its arrival at a receiver, while APIs and workers are killed every 6 to 10
// seconds, with the leases that an installation has unless it sets others.

/** `FANFARE_KILLS=12` kills so many, with all models of `FANFARE_KILL_MODELS`, by default each. `FANFARE_ARRIVES_WITHIN=60` says how soon. */
const GIVEN = process.env['FANFARE_KILLS'];
const KILLS = Number(GIVEN ?? (IS_DEEP ? 12 : 2));
const MODELS =
  process.env['FANFARE_KILL_MODELS']?.split(',') ??
  (GIVEN === undefined ? someOf(FEED_MODEL_NAMES, 1) : FEED_MODEL_NAMES);
/** How soon all has to have arrived after the last kill, where that is asked for: nothing else may run on the machine then. */
const ARRIVES_WITHIN_MS = Number(process.env['FANFARE_ARRIVES_WITHIN'] ?? Infinity) * 1_000;
const CLIENTS = 4;
const BREATH_MS = 100;
const FOLLOWERS = Array.from({ length: 60 }, (_, n) => `follower-${String(n)}`);
const MENTIONED = ['ann', 'bob'];
const HOST: As = { sub: 'host', roles: ['service', 'admin'] };

/** What has to arrive: the type of the event, and what it is about. */
type Deed = readonly [type: string, about: string];

interface Scene {
  readonly app: TestApp;
  readonly fleet: Fleet;
  readonly acknowledged: Deed[];
}

/** Asks until it is acknowledged, as a client does that has a key for what it does. */
async function insist<T>(scene: Scene, document: string, variables: object, as: As): Promise<T> {
  for (;;) {
    const outcome = await call<T>(scene, document, { ...variables }, as);
    if ('data' in outcome) return outcome.data;
    if (!['NO_ANSWER', 'NO_DATA', 'UNAVAILABLE', 'INTERNAL_SERVER_ERROR'].includes(outcome.code))
      throw new Error(`${outcome.code}: ${outcome.message}`);
    await delay(BREATH_MS);
  }
}

const PUBLISH = 'mutation ($input: PublishActionInput!) { publishAction(input: $input) { action { id } } }';
const INTERACT =
  'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }';
const HIDE = 'mutation ($id: ID!) { hideAction(id: $id) { id } }';
const FOLLOW = 'mutation ($refId: String!) { follow(refId: $refId) { refId } }';

/** @param key of what is done now and of nothing else */
async function doSomething(scene: Scene, key: string, random: SeededRandom): Promise<void> {
  const { acknowledged } = scene;
  const { publishAction } = await insist<{ publishAction: { action: { id: string } } }>(
    scene,
    PUBLISH,
    {
      input: {
        ...{ idempotencyKey: key, actorId: 'actor', scope: 'FOLLOWERS', mentions: MENTIONED },
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: key } },
      },
    },
    HOST,
  );
  const { id } = publishAction.action;
  acknowledged.push(['action.published', id]);
  const isHidden = random.next() < 0.2;
  // A pass that finds an action hidden delivers it to nobody.
  if (!isHidden)
    acknowledged.push(...MENTIONED.map((reader) => ['item.delivered', `${id} ${reader}`] as const));
  for (const kind of ['LIKE', 'COMMENT']) {
    const input = { actionId: id, kind, actorId: 'ann', idempotencyKey: `${key} ${kind}` };
    const text = kind === 'COMMENT' ? { text: key } : {};
    await insist(scene, INTERACT, { input: { ...input, ...text } }, HOST);
    acknowledged.push(['interaction.recorded', `${id} ${kind}`]);
  }
  if (isHidden) {
    await insist(scene, HIDE, { id }, HOST);
    acknowledged.push(['action.hidden', id]);
  }
  await insist(scene, FOLLOW, { refId: key }, { sub: 'ann' });
  acknowledged.push(['follow.opened', key]);
}

function arrived({ taken }: WebhookTarget): ReadonlySet<string> {
  const all = new Set<string>();
  for (const { type, data } of taken.values()) {
    const about = String(data['actionId'] ?? data['refId']);
    if (type === 'item.delivered')
      for (const { memberId } of data['readers'] as readonly { readonly memberId: string }[])
        all.add(`${type} ${about} ${memberId}`);
    else if (type === 'interaction.recorded') all.add(`${type} ${about} ${String(data['kind'])}`);
    else all.add(`${type} ${about}`);
  }
  return all;
}

/** How long others take to go on with what a killed worker was at, in milliseconds. */
async function takenOver({ app }: Scene, worker: string): Promise<number> {
  const { actions } = app.app.database.collections;
  const killedAt = performance.now();
  const its = { 'fanOut.state': 'IN_PROGRESS', 'fanOut.worker': { $regex: `^${worker}` } } as const;
  await expect.poll(() => actions.countDocuments(its), { timeout: PATIENCE_MS }).toBe(0);
  return performance.now() - killedAt;
}

test.each(MODELS)(
  `with feeds by %s every event arrives although APIs and workers are killed, ${String(KILLS)} times, seed ${String(SEED)}`,
  async (model) => {
    const random = seededRandom(SEED);
    await using target = await startWebhookTarget();
    await using app = await startTestApp({
      ...{ api: false, worker: false },
      env: {
        FEED_MODEL: model,
        FAN_OUT_LEASE: '30s',
        FAN_OUT_CHUNK: '10',
        FAN_OUT_ATTEMPTS: '100',
        WEBHOOKS: JSON.stringify([{ url: target.url, secrets: [target.secret], allowPrivateAddress: true }]),
      },
    });
    await app.services.followMany(
      app.identity('host', 'service'),
      FOLLOWERS.map((followerId) => ({ followerId, refId: 'actor' })),
    );
    await using fleet = await startFleet(app.env, { api: 2, worker: 2 });
    const { webhookReceivers } = app.app.database.collections;
    await expect.poll(() => webhookReceivers.countDocuments(), { timeout: PATIENCE_MS }).toBe(1);
    const scene: Scene = { app, fleet, acknowledged: [] };
    let isOver = false;
    const client = async (lane: number): Promise<void> => {
      const own = seededRandom(SEED + 1 + lane);
      for (let n = 0; !isOver; n += 1) {
        await doSomething(scene, `${String(lane)}-${String(n)}`, own);
        await delay(own.below(BREATH_MS));
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, lane) => client(lane)));
    const takeovers: Promise<number>[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await Promise.race([delay(6_000 + random.below(4_000)), clients]);
      const kind = random.pick(['api', 'worker', 'worker'] as const);
      const killed = fleet.kill(kind, (count) => random.below(count));
      if (killed?.worker !== undefined) takeovers.push(takenOver(scene, killed.worker));
    }
    const lastKill = performance.now();
    isOver = true;
    await clients;
    const missing = (): string[] => {
      const there = arrived(target);
      return scene.acknowledged.map((deed) => deed.join(' ')).filter((deed) => !there.has(deed));
    };
    await expect.poll(missing, { timeout: PATIENCE_MS * 2, interval: 200 }).toEqual([]);
    const within = performance.now() - lastKill;
    // What came twice came under one id.
    const published = [...target.taken.values()].filter(({ type }) => type === 'action.published');
    expect(new Set(published.map(({ data }) => data['actionId'])).size).toBe(published.length);
    const all = await app.app.database.collections.actions.find().project({ _id: 1 }).toArray();
    expect(published.map(({ data }) => data['actionId']).sort()).toEqual(
      all.map(({ _id }) => encodeActionId(String(_id))).sort(),
    );
    const slowest = Math.max(0, ...(await Promise.all(takeovers)));
    console.log(
      `${model}: ${String(KILLS)} kills, ${String(scene.acknowledged.length)} deeds, all arrived ${(within / 1_000).toFixed(1)} s after the last kill,`,
      `a killed worker's actions were taken over within ${(slowest / 1_000).toFixed(1)} s`,
    );
    expect(within).toBeLessThan(ARRIVES_WITHIN_MS);
  },
  PATIENCE_MS * 4 + KILLS * 15_000,
);
