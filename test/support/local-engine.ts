import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedEvent } from '../../packages/local-engine/src/events.ts';
import { startEmbeddedServices } from '../../packages/local-engine/src/services.ts';
import type { Role } from '../../src/domain/viewer.ts';
import { startTestApp, type TestApp } from './app.ts';
import { testCacheDir } from './engine.ts';

interface Recorded {
  readonly keeper: { readonly pid: number };
  readonly services: readonly { readonly name: string; readonly identity: { readonly pid: number } }[];
}

/** An app on databases of its own, which a test may kill. */
export interface AppOnLocalEngine extends AsyncDisposable {
  readonly app: TestApp;
  readonly events: readonly EmbeddedEvent[];
  readonly isDocumentDb: boolean;
  /** The process of a service that runs now; undefined while it is down. */
  pidOf(service: string): number | undefined;
  readonly services: readonly string[];
  readonly keeperPid: number;
}

/** @param folder where the data lies; by default a folder that goes with it */
export async function startAppOnLocalEngine(folder?: string): Promise<AppOnLocalEngine> {
  const dataDir = mkdtempSync(join(folder ?? tmpdir(), 'fanfare-outage-'));
  const { PATH: path = '' } = process.env;
  const events: EmbeddedEvent[] = [];
  const databases = await startEmbeddedServices({
    dataDir,
    path,
    cacheDir: testCacheDir(),
    durability: 'durable',
    onEvent: (event) => events.push(event),
  });
  const close = async (): Promise<void> => {
    await databases[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const record = (): Recorded =>
    JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as Recorded;
  try {
    const env = { MONGODB_URI: databases.mongodbUri, REDIS_URL: databases.redisUrl };
    const app = await startTestApp({ env, database: 'outage' });
    return {
      app,
      events,
      isDocumentDb: databases.mongodbKind === 'documentdb',
      pidOf: (service) => record().services.find(({ name }) => name === service)?.identity.pid,
      get services() {
        return record().services.map(({ name }) => name);
      },
      get keeperPid() {
        return record().keeper.pid;
      },
      async [Symbol.asyncDispose]() {
        try {
          await app[Symbol.asyncDispose]();
        } finally {
          await close();
        }
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const PUBLISH = /* GraphQL */ `
  mutation ($postId: String!, $text: String!) {
    publishAction(
      input: {
        actorId: "author"
        scope: PUBLIC
        refs: [{ id: "author", type: "member", label: "Author" }]
        descriptor: { posted: { postId: $postId, text: $text } }
      }
    ) {
      action {
        id
      }
    }
  }
`;

/** What a client of each kind is answered: `ok` or the code of the first error. */
export async function tryEverything(app: TestApp, text = 'text'): Promise<Readonly<Record<string, string>>> {
  const outcomeOf = async (document: string, variables: object, roles: readonly Role[]) => {
    const answer = await app.query(document, { ...variables }, { sub: 'reader', roles });
    return answer.errors[0]?.extensions.code ?? 'ok';
  };
  const [publish, follow, unfollow, feed] = await Promise.all([
    outcomeOf(PUBLISH, { postId: crypto.randomUUID(), text }, ['user', 'service']),
    outcomeOf('mutation { follow(refId: "author") { __typename } }', {}, ['user']),
    outcomeOf('mutation { unfollow(refId: "other") { __typename } }', {}, ['user']),
    outcomeOf('{ feed(first: 5) { edges { node { id } } } }', {}, ['user']),
  ]);
  return { publish, follow, unfollow, feed };
}

export const ALL_FINE = { publish: 'ok', follow: 'ok', unfollow: 'ok', feed: 'ok' };

export async function readiness(app: TestApp): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${app.url}/ready`);
  return { status: response.status, body: await response.json() };
}
