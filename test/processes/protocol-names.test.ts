import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFeedClient } from '@fanfare/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { FanfareItem } from '../../packages/react/src/item.ts';
import { ItemList } from '../../packages/react/src/store/item-list.ts';
import { testItem } from '../../packages/react/src/testing.ts';
import { runOffload, runRestore } from '../../parts/archive/src/run-offload.ts';
import { archiveOf } from '../../parts/archive/src/store/offloads.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { CLIENT_TRANSPORTS, isLive, startWatch } from '../support/client-watches.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { CARRIED, PROTOCOL_NAMES, REFUSED, THEN, useProtocolNames } from '../support/protocol-names.ts';
import { runCli } from '../support/run-cli.ts';
import { openGreetedSocket } from '../support/socket.ts';

const SERVICE = { sub: 'service', roles: ['service'] } as const;
const ADMIN = { sub: 'admin', roles: ['admin'] } as const;
const EVE = { sub: 'eve' };

let app: TestApp;
beforeAll(async () => {
  useProtocolNames();
  app = await startTestApp({ env: { POLL_INTERVAL: '20ms' } });
  await upsert(app, {
    members: [
      { memberId: 'ann', name: 'Ann', data: CARRIED },
      { memberId: 'eve', name: 'eve' },
    ],
    refs: [{ id: 'site', type: 'site', label: 'Site', data: CARRIED }],
    pairs: [{ followerId: 'eve', refId: 'ann' }],
  });
});
afterAll(() => app[Symbol.asyncDispose]());

/** As text: the assertions of the tests have a protocol of names, too. */
const JSON_OF = JSON.stringify;
const SITE = { id: 'site', type: 'site', label: 'Site' };
const CUSTOM = { verb: 'posted', objectType: 'post', objectId: 'then', data: CARRIED };

/** The free JSON and the declared fields of an action. */
const ACTION = `id actor { data } refs { data }
  interactions(first: 5) { edges { node { data } } }
  descriptor { summary ... on CustomDescriptor { data } ... on ThenDescriptor { ${Object.keys(THEN).join(' ')} } }`;
interface Shown {
  readonly id: string;
  readonly actor: { readonly data: unknown };
  readonly refs: readonly { readonly data: unknown }[];
  readonly interactions: { readonly edges: readonly { readonly node: { readonly data: unknown } }[] };
  readonly descriptor: { readonly summary: string; readonly data?: unknown };
}

/** Everything that was given with the two actions. */
function expectAllOf(actions: readonly Shown[], [custom, then]: readonly [string, string]): void {
  const byId = new Map(actions.map((action) => [action.id, action]));
  for (const action of [byId.get(custom), byId.get(then)]) {
    expect(JSON_OF(action?.actor.data)).toBe(JSON_OF(CARRIED));
    expect(JSON_OF(action?.refs[0]?.data)).toBe(JSON_OF(CARRIED));
    expect(JSON_OF(action?.interactions.edges)).toBe(JSON_OF([{ node: { data: CARRIED } }]));
  }
  expect(JSON_OF(byId.get(custom)?.descriptor.data)).toBe(JSON_OF(CARRIED));
  expect(JSON_OF(byId.get(then)?.descriptor)).toBe(JSON_OF({ summary: 'Ann said toString', ...THEN }));
}

/** An action of either type, each with a comment with data. */
async function publishBoth(at?: string): Promise<readonly [string, string]> {
  const when = at === undefined ? {} : { at };
  const input = {
    actorId: 'ann',
    scope: 'PUBLIC',
    refs: [SITE],
    ...(at === undefined ? {} : { conducted: at }),
  };
  const ids = [
    await publish(app, { ...input, descriptor: { custom: CUSTOM } }),
    await publish(app, { ...input, descriptor: { then: THEN } }),
  ] as const;
  const comment = `mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { data } } }`;
  for (const actionId of ids) {
    const given = { actionId, actorId: 'eve', kind: 'COMMENT', text: 'then', data: CARRIED, ...when };
    expect(JSON_OF(await ask(app, comment, { input: given }, SERVICE))).toContain(JSON_OF({ data: CARRIED }));
  }
  return ids;
}

const WAYS: readonly (readonly [way: string, selection: string])[] = [
  ['feed', `feed(first: 2) { edges { node { action { ${ACTION} } } } }`],
  ['groups', `feedGroups(first: 2) { edges { node { items(first: 2) { action { ${ACTION} } } } } }`],
  ['slice', `slice(refId: "site", first: 2) { edges { node { ${ACTION} } } }`],
  ['nodes', `nodes(ids: $ids) { ... on Action { ${ACTION} } }`],
  ['action', `a: action(id: $custom) { ${ACTION} } then: action(id: $then) { ${ACTION} }`],
  [
    'node',
    `a: node(id: $custom) { ... on Action { ${ACTION} } } b: node(id: $then) { ... on Action { ${ACTION} } }`,
  ],
];

/** The actions in an answer, wherever they are. */
function actionsIn(answer: unknown): Shown[] {
  if (typeof answer !== 'object' || answer === null) return [];
  return 'descriptor' in answer ? [answer as Shown] : Object.values(answer).flatMap(actionsIn);
}

test('data and fields named like protocol members are returned unchanged by every query', async () => {
  const ids = await publishBoth();
  await app.idle();
  const [custom, then] = ids;
  for (const [way, selection] of WAYS) {
    const uses = (name: string): boolean => selection.includes(`$${name}`);
    const declared = [
      ...(uses('ids') ? ['$ids: [ID!]!'] : []),
      ...(uses('custom') ? ['$custom: ID!', '$then: ID!'] : []),
    ].join(' ');
    const query = `query ${way}${declared === '' ? '' : `(${declared})`} { ${selection} }`;
    const variables = { ...(uses('ids') ? { ids } : {}), ...(uses('custom') ? { custom, then } : {}) };
    expectAllOf(actionsIn(await ask(app, query, variables, EVE)), ids);
    if (way !== 'feed') continue;
    // Interpreted at first, then compiled, with parts that were rendered before in the end.
    for (let run = 0; run < 28; run += 1) expectAllOf(actionsIn(await ask(app, query, variables, EVE)), ids);
  }
  const { memberExport } = await ask<{ memberExport: object }>(
    app,
    '{ memberExport(memberId: "ann") }',
    {},
    ADMIN,
  );
  const { actions } = memberExport as { actions: { descriptor: { data?: unknown; toJSON?: unknown } }[] };
  expect(actions.map(({ descriptor }) => JSON_OF(descriptor.data ?? descriptor.toJSON))).toEqual([
    JSON_OF(CARRIED),
    JSON_OF(CARRIED),
  ]);
});

test.each(CLIENT_TRANSPORTS)(
  'a live list over %s contains them, and so do the client and the React list',
  async (transport) => {
    interface Item {
      readonly action: Shown;
    }
    const client = createFeedClient<Item>({
      ...{ url: `${app.url}/graphql`, token: await app.token('eve'), webSocket: WebSocket, transport },
      fields: `action { ${ACTION} }`,
    });
    const seen = new Map<string, Shown>();
    await using watch = startWatch(client as never, {
      onEvent(event) {
        const { item } = event as unknown as { readonly item?: Item };
        if (item !== undefined) seen.set(item.action.id, item.action);
      },
    });
    await watch.until(isLive);
    const ids = await publishBoth();
    await watch.until(() => ids.every((id) => seen.get(id)?.interactions.edges.length === 1));
    expectAllOf([...seen.values()], ids);
    const { edges } = await client.feed({ first: 2 });
    expectAllOf(
      edges.map(({ node }) => node.action),
      ids,
    );
    const list = new ItemList<FanfareItem>(({ relevancy }) => relevancy);
    const item = testItem('then', '2024-01-31T12:00:00.000Z', {
      action: { descriptor: { data: CARRIED } as never },
    });
    list.apply({ item, isNew: true }, false);
    expect(JSON_OF(list.entries.map((entry) => entry.item))).toBe(JSON_OF([item]));
  },
);

test('an archive and an import keep them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-names-'));
  try {
    const ids = await publishBoth('2024-01-01T00:00:00.000Z');
    await app.idle();
    const run = {
      core: archiveOf(app.core),
      path: join(folder, 'old.ndjson'),
      now: () => new Date(),
      onProgress: () => undefined,
    };
    expect(await runOffload(run, { before: new Date('2024-01-02'), graceMs: 0 })).toMatchObject({ taken: 2 });
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Action { ${ACTION} } } }`;
    await runRestore(run);
    await app.idle();
    expectAllOf(actionsIn(await ask(app, query, { ids }, EVE)), ids);
    // The command knows the shipped types alone.
    const line = { actorId: 'ann', descriptor: { custom: { ...CUSTOM, objectId: 'imported' } } };
    const path = join(folder, 'actions.ndjson');
    await writeFile(
      path,
      [
        JSON_OF(line),
        '{"actorId":"ann","descriptor":{"custom":{"verb":"v","objectType":"o","objectId":"i","data":{"_bsontype":"Long"}}}}',
      ].join('\n'),
    );
    const { stderr } = await runCli(['import', '--actions', path], app.env);
    expect(stderr).toContain('actions.ndjson:2: ');
    expect(stderr).toContain('custom.data: Must not have a property named "_bsontype"');
    await app.idle();
    const newest = `{ ${WAYS[0]?.[1].replace('first: 2', 'first: 1, order: RECENT') ?? ''} }`;
    const [imported] = actionsIn(await ask(app, newest, {}, EVE));
    expect(imported?.descriptor.summary).toContain('imported');
    expect(JSON_OF(imported?.descriptor.data)).toBe(JSON_OF(CARRIED));
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Every input with free JSON, with the path to it in the input. */
const FIELDS: readonly (readonly [
  name: string,
  mutation: string,
  path: readonly (string | number)[],
  input: (data: string) => string,
])[] = [
  [
    'an action',
    'mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay } }',
    ['input', 'descriptor', 'custom', 'data'],
    (data) =>
      `{"actorId":"ann","descriptor":{"custom":{"verb":"v","objectType":"o","objectId":"i","data":${data}}}}`,
  ],
  [
    'a declared field',
    'mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay } }',
    ['input', 'descriptor', 'then', 'toJSON'],
    (data) =>
      `{"actorId":"ann","descriptor":{"then":{"then":"a","catch":1,"toBSON":"b","length":"c","finally":"then","toJSON":${data}}}}`,
  ],
  [
    'an interaction',
    'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }',
    ['input', 'data'],
    (data) => `{"actionId":"$action","kind":"COMMENT","text":"c","data":${data}}`,
  ],
  [
    'a member',
    'mutation ($input: [MemberInput!]!) { upsertMembers(members: $input) }',
    ['members', 0, 'data'],
    (data) => `[{"memberId":"ann","name":"Ann","data":${data}}]`,
  ],
  [
    'a ref',
    'mutation ($input: [RefInput!]!) { upsertRefs(refs: $input) }',
    ['refs', 0, 'data'],
    (data) => `[{"id":"site","type":"site","label":"Site","data":${data}}]`,
  ],
];

/** The answer to a request as it is written. */
async function post(
  body: string,
  as: { readonly sub: string; readonly roles?: readonly ['service'] },
): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${await app.token(as.sub, as.roles)}`,
  };
  return (await fetch(`${app.url}/graphql`, { method: 'POST', headers, body })).text();
}

test.each(FIELDS)(
  'what JSON cannot carry safely is rejected in %s, with its path',
  async (_name, mutation, path, inputOf) => {
    const action = await publish(app);
    for (const [json, inside] of REFUSED) {
      const input = inputOf(json).replace('$action', action);
      const answer = await post(`{"query":${JSON_OF(mutation)},"variables":{"input":${input}}}`, SERVICE);
      expect([json, JSON.parse(answer)]).toMatchObject([
        json,
        { errors: [{ extensions: { code: 'BAD_USER_INPUT', issues: [{ path: [...path, ...inside] }] } }] },
      ]);
    }
  },
);

test('they are ordinary names in a document, and not request parameters', async () => {
  const names = [...PROTOCOL_NAMES, '__proto__', '_bsontype'];
  // What is compiled is tested without a server.
  const document = `query then($__proto__: Int, $then: Int) {
    ${names.map((name) => `${name}: viewer { ${name}: member { ${name}: name } }`).join(' ')}
    list: feed(first: $__proto__) { pageInfo { hasPreviousPage: hasNextPage } }
    other: feed(first: $then) { then: edges { then: node { then: action { then: actor { memberId } } } } }
    ...constructor
  }
  fragment constructor on Query { shared: viewer { then: memberId } }`;
  const variables = '{"__proto__":2,"then":1}';
  const body = `{"query":${JSON_OF(document)},"operationName":"then","variables":${variables},"extensions":{"then":{"then":1}}}`;
  const answer = await post(body, EVE);
  const shown = names.map((name) => `"${name}":{"${name}":{"${name}":"eve"}}`).join(',');
  const other = '"other":{"then":[{"then":{"then":{"then":{"memberId":"ann"}}}}]}';
  expect(answer).toBe(
    `{"data":{${shown},"list":{"pageInfo":{"hasPreviousPage":true}},${other},"shared":{"then":"eve"}}}`,
  );
  await using socket = await openGreetedSocket(app.wsUrl, await app.token('eve'));
  socket.send(`{"id":"then","type":"subscribe","payload":${body.replace(/\}$/, ',"then":1}')}}`);
  expect(JSON_OF(await socket.next())).toBe(`{"id":"then","type":"next","payload":${answer}}`);
  for (const name of names) {
    if (name === 'extensions') continue;
    const surplus = await post(`{"query":"{ viewer { memberId } }","${name}":{"${name}":1}}`, EVE);
    expect([name, surplus]).toEqual([name, expect.stringContaining('"code":"BAD_USER_INPUT"')]);
  }
});
