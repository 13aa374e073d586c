import { afterAll, beforeAll, expect, expectTypeOf, inject, test } from 'vitest';
import { createFanfare, defineConfig, defineDescriptor, FanfareError, field } from '../../src/index.ts';
import { checkHostConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { connectDatabase } from '../../src/app/collections.ts';
import { borrowDatabase, returnDatabase } from '../support/spare-databases.ts';
import { uniqueName } from '../support/unique-name.ts';

const config = defineConfig({
  packs: ['social'],
  reactions: ['👍'],
  descriptors: [
    defineDescriptor('Deployed', {
      description: 'A version went live.',
      fields: {
        serviceId: field.ref('service', { label: 'serviceName' }),
        serviceName: field.text(),
        stage: field.enum(['TEST', 'LIVE']),
        minutes: field.int({ optional: true }),
      },
      summary: { en: '{actor} deployed {serviceId}', de: '{actor} hat {serviceId} ausgeliefert' },
    }),
  ],
});

let settings: { MONGODB_URI: string; REDIS_URL: string; MONGODB_DB: string; LOG_LEVEL: string };
beforeAll(async () => {
  // Before anything asks for the indexes of this process.
  useDescriptors(checkHostConfig(config, 'test/alone/library.test.ts'));
  settings = {
    MONGODB_URI: inject('mongodbUri'),
    REDIS_URL: inject('redisUrl'),
    MONGODB_DB: await borrowDatabase(),
    LOG_LEVEL: 'silent',
  };
});
afterAll(async () => {
  await using emptied = await connectDatabase({ uri: settings.MONGODB_URI, db: settings.MONGODB_DB });
  await returnDatabase(emptied);
});

const DEPLOYED = { serviceId: 'shop', serviceName: 'Shop', stage: 'LIVE' } as const;

test('a host process publishes and reads, with the types of its configuration', async () => {
  await using fanfare = createFanfare(config, { settings });
  await fanfare.start();
  const eve = uniqueName('eve');
  expect(await fanfare.follow([{ followerId: eve, refId: 'shop' }])).toBe(1);
  await fanfare.upsertMembers([{ memberId: 'ann', name: 'Ann' }]);
  const { action, isReplay } = await fanfare.publish({
    actorId: 'ann',
    descriptor: { deployed: DEPLOYED },
  });
  expect(isReplay).toBe(false);
  if (action.descriptor.type === 'Deployed')
    expectTypeOf(action.descriptor.stage).toEqualTypeOf<'TEST' | 'LIVE'>();
  await fanfare.delivered();
  const { items, hasNextPage } = await fanfare.read(eve, { locale: 'de-AT' });
  expect(hasNextPage).toBe(false);
  expect(items).toMatchObject([
    {
      summary: 'Ann hat Shop ausgeliefert',
      reasons: ['FOLLOW'],
      isUnread: true,
      action: {
        id: action.id,
        refs: [{ id: 'shop', type: 'service', label: 'Shop' }],
        descriptor: { type: 'Deployed', ...DEPLOYED },
      },
    },
  ]);
});

test('values that its TypeScript types forbid are rejected at run time too', async () => {
  await using fanfare = createFanfare(config, { settings, worker: false });
  await fanfare.start();
  const wrong = fanfare.publish({
    actorId: 'ann',
    // @ts-expect-error No such stage.
    descriptor: { deployed: { ...DEPLOYED, stage: 'NIGHT' } },
  });
  await expect(wrong).rejects.toThrow(FanfareError);
  await expect(wrong).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  await expect(fanfare.read('eve', { first: 0 })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  // @ts-expect-error The pack is not in the configuration.
  await expect(fanfare.publish({ actorId: 'a', descriptor: { newApplicant: {} } })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
});

test('its API is only open on request', async () => {
  await using closed = createFanfare(config, { settings });
  await closed.start();
  expect(closed.url).toBeNull();
  const api = { ...settings, JWT_SECRET: 'a-secret-that-is-only-for-tests-0123456789', PORT: '0' };
  await using open = createFanfare(config, { settings: api, api: true, worker: false });
  await open.start();
  expect((await fetch(`${open.url ?? ''}/health`)).status).toBe(200);
  expect(await open.schema()).toContain('enum DeployedStage');
});

test('its metrics are on the configured port if it has an API, as with the command', async () => {
  const log: string[] = [];
  const logger = createLogger({ level: 'info', sink: { write: (line) => log.push(line) } });
  const settingsOfApi = {
    ...settings,
    ...{ JWT_SECRET: 'a-secret-that-is-only-for-tests-0123456789', PORT: '0', METRICS_PORT: '0' },
  };
  await using open = createFanfare(config, { settings: settingsOfApi, api: true, worker: false, logger });
  await open.start();
  expect((await fetch(`${open.url ?? ''}/metrics`)).status).toBe(404);
  const [, url] = /"url":"([^"]+\/metrics)"/.exec(log.join('')) ?? [];
  expect(await (await fetch(url ?? '')).text()).toContain('fanfare_graphql_requests_total');
});

test('its start is reported step by step, and another environment replaces that of the process', async () => {
  const steps: string[] = [];
  const environment = {
    ...settings,
    ...{ JWT_SECRET: 'a-secret-that-is-only-for-tests-0123456789', METRICS_PORT: '0' },
  };
  await using fanfare = createFanfare(config, {
    ...{ environment, settings: { PORT: '0' }, api: true, worker: false, metrics: false },
    onStep: ({ message }) => steps.push(message),
    pages: { token: 'a-token' },
    group: {
      readiness: () => Promise.resolve({ isReady: false, checks: { others: 'failed' } }),
      metrics: () => Promise.resolve('of all'),
    },
  });
  await fanfare.start();
  expect(steps).toEqual([
    'MongoDB: the given address',
    'Redis: the given address',
    'Preparing collections and indexes',
  ]);
  const ready = await fetch(`${fanfare.url ?? ''}/ready`);
  expect(await ready.json()).toMatchObject({ checks: { others: 'failed' } });
  expect(await (await fetch(`${fanfare.url ?? ''}/console`)).text()).toContain('a-token');
  expect(() => createFanfare(config, { environment: { PORT: 'x' } })).toThrow('PORT: got "x"');
});

test('it can be started once, and closed any number of times', async () => {
  const fanfare = createFanfare(config, { settings, worker: false });
  await expect(fanfare.read('eve')).rejects.toThrow('The server has not been started, or is closed');
  await fanfare.start();
  await expect(fanfare.start()).rejects.toThrow('start() can be called only once');
  await Promise.all([fanfare.close(), fanfare.close()]);
  await expect(fanfare.read('eve')).rejects.toThrow('The server has not been started, or is closed');
});

test('an invalid configuration, or a different one in the same process, is rejected before anything is opened', () => {
  const wrong = { packs: ['none'] } as unknown as typeof config;
  expect(() => createFanfare(wrong)).toThrow(
    'The configuration has a fault:\n  packs[0]: Unknown pack "none"',
  );
  expect(() => createFanfare(defineConfig({}), { settings })).toThrow(
    'declares other types or languages than this process',
  );
  expect(() => createFanfare(config, { settings: { ...settings, PORT: 'x' } })).toThrow('PORT: got "x"');
});
