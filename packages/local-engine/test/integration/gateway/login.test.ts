import { Binary, MongoClient, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../../../src/gateway/gateway.ts';
import { freshSocket, hasEngine, ownEngine, uriOf, type OwnEngine } from './own-engine.ts';
import { framed, message, rawClient } from './raw-client.ts';

const suite = test.skipIf(!hasEngine);
const credentials = { user: 'fanfare', password: 'p@ss, word=1' };
let engine: OwnEngine | undefined;
let gateway: AsyncDisposable | undefined;
const socket = freshSocket();

beforeAll(async () => {
  if (!hasEngine) return;
  engine = await ownEngine();
  const { postgres } = engine;
  gateway = await startGateway({ postgres, socket, poolSize: 4, credentials });
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await engine?.[Symbol.asyncDispose]();
});

function uri(user: string, password: string, options = ''): string {
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
  return `mongodb://${login}${encodeURIComponent(socket)}/?directConnection=true${options}`;
}

async function insertWith(address: string): Promise<unknown> {
  const client = new MongoClient(address);
  try {
    return await client.db('login').collection('c').insertOne({ n: 1 });
  } finally {
    await client.close();
  }
}

suite.for(['', '&authMechanism=SCRAM-SHA-256'])('accepts a driver with the password%s', async (options) => {
  await expect(insertWith(uri(credentials.user, credentials.password, options))).resolves.toMatchObject({
    acknowledged: true,
  });
});

suite.for([
  ['another password', 'fanfare', 'guess', ''],
  ['another user', 'root', credentials.password, ''],
  ['another mechanism', credentials.user, credentials.password, '&authMechanism=SCRAM-SHA-1'],
] as const)('rejects a driver with %s', async ([, user, password, options]) => {
  await expect(insertWith(uri(user, password, options))).rejects.toMatchObject({
    name: 'MongoServerError',
    code: options === '' ? 18 : 334,
  });
});

suite('rejects a driver without a password, whatever it sends', async () => {
  await expect(insertWith(uriOf(socket))).rejects.toMatchObject({
    code: 13,
    codeName: 'Unauthorized',
  });
});

suite('before login a client may only send the handshake, ping and login', async () => {
  using client = await rawClient(socket);
  const outcomeOf = async (command: Document): Promise<unknown> => {
    client.send(message({ ...command, $db: 'admin' }));
    return (await client.reply()).body['codeName'] ?? 'done';
  };
  for (const name of ['hello', 'isMaster', 'ping', 'buildInfo', 'connectionStatus'])
    expect([name, await outcomeOf({ [name]: 1 })]).toEqual([name, 'done']);
  for (const name of [
    ...[
      'find',
      'insert',
      'update',
      'delete',
      'aggregate',
      'getMore',
      'killCursors',
      'create',
      'dropDatabase',
    ],
    ...[
      'listDatabases',
      'listCollections',
      'serverStatus',
      'getLog',
      'endSessions',
      'explain',
      'noSuchCommand',
    ],
  ])
    expect([name, await outcomeOf({ [name]: 'c' })]).toEqual([name, 'Unauthorized']);
});

const first = { saslStart: 1, mechanism: 'SCRAM-SHA-256', $db: 'admin' };

suite('an invented, repeated or interrupted login conversation fails', async () => {
  using client = await rawClient(socket);
  const say = async (command: Document): Promise<Document> => {
    client.send(message({ ...command, $db: 'admin' }));
    return (await client.reply()).body;
  };
  const final = (text: string) => ({
    saslContinue: 1,
    conversationId: 1,
    payload: new Binary(Buffer.from(text)),
  });
  expect(await say(final('c=biws,r=x,p=AAAA'))).toMatchObject({ code: 18 });
  for (const payload of ['', 'n,,', 'p=tls-unique,,n=fanfare,r=abc', 'n,,n=fanfare', 'n,,n=fanfare,r='])
    expect(await say({ ...first, payload: new Binary(Buffer.from(payload)) })).toMatchObject({ code: 18 });
  const begun = await say({ ...first, payload: new Binary(Buffer.from('n,,n=fanfare,r=abc')) });
  expect(begun).toMatchObject({ ok: 1, done: false });
  const challenge = Buffer.from((begun['payload'] as Binary).buffer).toString();
  const nonce = /^r=([^,]+)/.exec(challenge)?.[1] ?? '';
  const zeros = Buffer.alloc(32).toString('base64');
  const proof = (text: string) => ({ ...final(text), conversationId: begun['conversationId'] as unknown });
  expect(await say(proof(`c=biws,r=${nonce},p=${zeros}`))).toMatchObject({ code: 18 });
  expect(await say(proof(`c=biws,r=${nonce},p=${zeros}`))).toMatchObject({ code: 18 });
  expect(await say({ find: 'c' })).toMatchObject({ code: 13 });
});

suite('a client that has not logged in cannot make the gateway buffer a large message', async () => {
  using client = await rawClient(socket);
  client.send(framed(2013, Buffer.alloc(64), 1, 40_000_000));
  await client.closed;
});

suite('reports the logged-in user', async () => {
  await using client = new MongoClient(uri(credentials.user, credentials.password));
  const { authInfo } = await client.db('admin').command({ connectionStatus: 1 });
  expect(authInfo).toMatchObject({ authenticatedUsers: [{ user: 'fanfare', db: 'admin' }] });
});
