import { describe, expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { EVENT_STREAM_KINDS } from '../support/event-streams.ts';
import { ask, KilledServer } from '../support/killed-server.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** `FANFARE_KILLS=50` kills the server so many times, and so does a deep run. */
const KILLS = Number(process.env['FANFARE_KILLS'] ?? (IS_DEEP ? 50 : repeats(2)));
const ACTIONS = 4;

describe.each(EVENT_STREAM_KINDS)('$kind', ({ has, start, dropsKnown }) => {
  test.runIf(has)(
    `has every event, twice only under the same id, although both servers are killed, ${String(KILLS)} times, seed ${String(SEED)}`,
    async () => {
      const random = seededRandom(SEED);
      await using stream = await start();
      await using app = await startTestApp({
        ...{ api: false, worker: false },
        env: {
          WEBHOOKS: JSON.stringify([{ url: stream.receiver.url }]),
          ...{ FAN_OUT_LEASE: '1s', POLL_INTERVAL: '50ms', FAN_OUT_ATTEMPTS: '100' },
        },
      });
      const { hostEvents, webhookReceivers, webhookDeliveries, actions, eventOutbox } =
        app.app.database.collections;
      await using server = new KilledServer(app.env);
      const token = await app.token('service', ['service', 'admin']);
      await expect.poll(() => webhookReceivers.countDocuments(), { timeout: PATIENCE_MS }).toBe(1);
      const publish = async (key: string): Promise<void> => {
        const descriptor = { custom: { verb: 'posted', objectType: 'post', objectId: key } };
        const { publishAction } = await ask<{ publishAction: { action: { id: string } } }>(
          ...([server, token] as const),
          `mutation ($input: PublishActionInput!) { publishAction(input: $input) { action { id } } }`,
          { input: { idempotencyKey: key, actorId: 'actor', scope: 'PUBLIC', descriptor } },
        );
        const { id } = publishAction.action;
        await ask(server, token, `mutation ($id: ID!) { hideAction(id: $id) { id } }`, { id });
      };
      for (let kill = 0; kill < KILLS; kill++) {
        const before = (await stream.events()).length;
        const stories = Array.from({ length: ACTIONS }, (_, n) => publish(`${String(kill)}-${String(n)}`));
        const more = random.below(ACTIONS * 2);
        await expect
          .poll(async () => (await stream.events()).length, { timeout: PATIENCE_MS, interval: 1 })
          .toBeGreaterThanOrEqual(before + more);
        await server.killAndReplace();
        if (random.below(2) === 0) {
          await stream.kill();
          await stream.start();
        }
        await Promise.all(stories);
      }
      const isQuiet = async (): Promise<boolean> => {
        const counts = await Promise.all([
          actions.countDocuments({ unsentAt: { $exists: true } }),
          eventOutbox.countDocuments(),
          webhookDeliveries.countDocuments(),
        ]);
        const [last, receiver] = await Promise.all([
          hostEvents.findOne({}, { sort: { seq: -1 } }),
          webhookReceivers.findOne(),
        ]);
        return counts.every((count) => count === 0) && last !== null && last.seq === receiver?.seq;
      };
      await expect.poll(isQuiet, { timeout: PATIENCE_MS * 2, interval: 100 }).toBe(true);

      const log = await hostEvents.find().sort({ seq: 1 }).toArray();
      const events = await stream.events();
      const ids = events.map(({ id }) => id);
      expect([...new Set(ids)].sort()).toEqual(log.map(({ _id }) => _id).sort());
      expect(events.every(({ id, payload }) => payload.id === id)).toBe(true);
      if (dropsKnown) expect(ids).toHaveLength(log.length);
      const doubles = ids.length - log.length;
      console.log(`${String(KILLS)} kills, ${String(log.length)} events, ${String(doubles)} beyond them`);
    },
    PATIENCE_MS * (4 + 2 * KILLS),
  );
});
