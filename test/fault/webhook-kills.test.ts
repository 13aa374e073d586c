import { expect, test } from 'vitest';
import { encodeActionId } from '../../src/domain/node-ids.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { ask, KilledServer } from '../support/killed-server.ts';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startWebhookTarget, type WebhookTarget } from '../support/webhook-receiver.ts';

/** `FANFARE_KILLS=50` kills the server so many times, and so does a deep run. */
const KILLS = Number(process.env['FANFARE_KILLS'] ?? (IS_DEEP ? 50 : repeats(2)));
/** Actions of one kill, each published, liked and hidden. */
const ACTIONS = 4;
/** Webhooks of one kill: those three for each action, and its delivery. */
const WEBHOOKS = ACTIONS * 4;
const MENTIONED = ['ann', 'bob', 'cid'];

interface Teller {
  readonly server: KilledServer;
  readonly target: WebhookTarget;
  readonly token: string;
}

/** @param isSeen whether it is hidden once its receiver knows that it was delivered, and not at once. */
async function tellStory({ server, target, token }: Teller, key: string, isSeen: boolean): Promise<void> {
  const { publishAction } = await ask<{ publishAction: { action: { id: string } } }>(
    server,
    token,
    `mutation ($input: PublishActionInput!) { publishAction(input: $input) { action { id } } }`,
    {
      input: {
        ...{ idempotencyKey: key, actorId: 'actor', scope: 'PUBLIC', mentions: MENTIONED },
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: key } },
      },
    },
  );
  const { id } = publishAction.action;
  const like = { actionId: id, kind: 'LIKE', actorId: 'ann', idempotencyKey: key };
  await ask(
    server,
    token,
    `mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }`,
    { input: like },
  );
  if (isSeen)
    await expect.poll(() => readersOf(target, id).length, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
  await ask(server, token, `mutation ($id: ID!) { hideAction(id: $id) { id } }`, { id });
}

/** Of which readers the receiver knows that an action came to them. */
function readersOf(target: WebhookTarget, actionId: string): string[] {
  const delivered = [...target.taken.values()].filter(
    ({ type, data }) => type === 'item.delivered' && data['actionId'] === actionId,
  );
  const readers = delivered.flatMap(
    ({ data }) => data['readers'] as readonly { readonly memberId: string }[],
  );
  return [...new Set(readers.map(({ memberId }) => memberId))].sort();
}

/** Kills the server when the receiver has got so many requests more; that one is answered or not. */
async function killAfter(server: KilledServer, target: WebhookTarget, requests: number, isAnswered: boolean) {
  if (requests === 0) {
    await server.killAndReplace();
    return;
  }
  await new Promise<void>((resolve, reject) => {
    let left = requests;
    target.answer = ({ payload }, response) => {
      left -= 1;
      if (left !== 0 || isAnswered) {
        target.take(payload);
        response.writeHead(200).end();
      }
      if (left === 0) server.killAndReplace().then(resolve, reject);
    };
  });
  target.answer = 200;
}

async function isQuiet(app: TestApp): Promise<boolean> {
  const { collections } = app.app.database;
  const { actions, interactions, eventOutbox, hostEvents, webhookReceivers, webhookDeliveries } = collections;
  if ((await app.app.openFanOuts()) > 0) return false;
  const unsent = { unsentAt: { $exists: true } };
  const counts = await Promise.all([
    actions.countDocuments(unsent),
    interactions.countDocuments(unsent),
    eventOutbox.countDocuments(),
    webhookDeliveries.countDocuments(),
  ]);
  if (counts.some((count) => count > 0)) return false;
  const [last, receiver] = await Promise.all([
    hostEvents.findOne({}, { sort: { seq: -1 } }),
    webhookReceivers.findOne(),
  ]);
  return last !== null && last.seq === receiver?.seq;
}

test(
  `every event arrives at least once under one id although the server is killed, ${String(KILLS)} times, seed ${String(SEED)}`,
  async () => {
    const random = seededRandom(SEED);
    await using target = await startWebhookTarget();
    const webhooks = [{ url: target.url, secrets: [target.secret], allowPrivateAddress: true }];
    await using app = await startTestApp({
      ...{ api: false, worker: false },
      env: {
        WEBHOOKS: JSON.stringify(webhooks),
        ...{ FAN_OUT_LEASE: '1s', POLL_INTERVAL: '50ms', FAN_OUT_ATTEMPTS: '100' },
      },
    });
    const { collections } = app.app.database;
    await using server = new KilledServer(app.env);
    const token = await app.token('service', ['service', 'admin']);
    await expect.poll(() => collections.webhookReceivers.countDocuments(), { timeout: PATIENCE_MS }).toBe(1);
    let verified = 0;
    const seen = new Set<string>();
    // Soon, as a receiver does it: a signature is good for five minutes.
    const verifyNew = () => {
      for (const request of target.received.slice(verified)) target.verify(request);
      verified = target.received.length;
    };
    for (let kill = 0; kill < KILLS; kill++) {
      const stories = Array.from({ length: ACTIONS }, (_, n) => {
        const key = `${String(kill)}-${String(n)}`;
        if (n % 2 === 0) seen.add(key);
        return tellStory({ server, target, token }, key, seen.has(key));
      });
      await killAfter(server, target, random.below(WEBHOOKS), random.next() < 0.5);
      await Promise.all(stories);
      verifyNew();
    }
    await expect.poll(() => isQuiet(app), { timeout: PATIENCE_MS * 2, interval: 100 }).toBe(true);

    const log = await collections.hostEvents.find().sort({ seq: 1 }).toArray();
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, n) => n + 1));
    // What the receiver has, without doubles, is what happened; and each request was signed.
    expect([...target.taken.keys()].sort()).toEqual(log.map(({ _id }) => _id).sort());
    verifyNew();
    const all = await collections.actions.find().toArray();
    expect(all).toHaveLength(KILLS * ACTIONS);
    const payloads = [...target.taken.values()];
    for (const { _id, idempotencyKey } of all) {
      const actionId = encodeActionId(_id.toHexString());
      const story = payloads.filter(({ data }) => data['actionId'] === actionId);
      const count = (type: string): number => story.filter((one) => one.type === type).length;
      expect(
        ['action.published', 'interaction.recorded', 'action.hidden'].map((type) => count(type)),
      ).toEqual([1, 1, 1]);
      // A pass that finds the action hidden already delivers it to nobody.
      const readers = readersOf(target, actionId);
      const isHiddenAtOnce = !seen.has(idempotencyKey ?? '');
      expect(readers).toEqual(isHiddenAtOnce && readers.length === 0 ? [] : MENTIONED);
    }
    const doubles = target.received.length - target.taken.size;
    console.log(
      `${String(KILLS)} kills, ${String(log.length)} events, ${String(doubles)} requests beyond them`,
    );
  },
  PATIENCE_MS * (4 + 2 * KILLS),
);
