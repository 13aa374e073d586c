import { startTestApp, type TestApp } from './app.ts';
import { publish, upsert } from './feed-api.ts';

export const PUBLIC_URL = 'https://feed.example';
export const ACCEPT = { accept: 'application/activity+json' };
export const POST = { id: 'post/1', type: 'post', label: 'Launch & <i>more</i>' };
const ROOM = { id: 'room', type: 'site', label: 'Room' };
/** More than a page of the outbox has. */
export const MANY = 120;

export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Public actions about a post and a busy site, and others. */
export interface ActivityWorld extends AsyncDisposable {
  readonly app: TestApp;
  /** With a text, a target and a time. */
  readonly posted: string;
  /** Not public. */
  readonly hidden: string;
  get(path: string, headers?: Record<string, string>): Promise<Got>;
}

export async function openActivityWorld(): Promise<ActivityWorld> {
  const app = await startTestApp({ env: { SYNDICATION: 'on', PUBLIC_URL }, monitorCommands: true });
  await upsert(app, {
    members: [{ memberId: 'ann', name: 'Ann <b>Lee</b>', teamId: 'red', url: 'https://app.example/ann' }],
    refs: [{ ...POST, url: 'https://app.example/post?a=1&b=2' }],
  });
  const posted = await publish(app, {
    ...{ actorId: 'ann', scope: 'PUBLIC', refs: [POST, ROOM], conducted: '2026-01-02T03:04:05.678Z' },
    descriptor: {
      posted: { postId: 'post/1', postTitle: 'Launch', text: '<script>alert(1)</script>\nline' },
    },
  });
  await publish(app, {
    ...{ actorId: 'bob', scope: 'PUBLIC', refs: [POST], conducted: '2026-01-03T03:04:05Z' },
    descriptor: { liked: { objectId: 'post/1', objectType: 'post' } },
  });
  for (const [n, verb] of ['ANNOUNCE', 'painted', 'Undo'].entries())
    await publish(app, {
      ...{ actorId: 'bob', scope: 'PUBLIC', refs: [POST], conducted: `2026-01-04T03:04:0${String(n)}Z` },
      descriptor: { custom: { verb, objectType: 'post', objectId: 'post/1' } },
    });
  let hidden = '';
  for (const scope of ['FOLLOWERS', 'TEAM', 'RESTRICTED'])
    hidden = await publish(app, {
      ...{ actorId: 'ann', scope, refs: [POST] },
      ...(scope === 'RESTRICTED' ? { recipients: ['cid'] } : {}),
      descriptor: { posted: { postId: 'post/1', postTitle: 'Launch', text: `only ${scope}` } },
    });
  for (let n = 0; n < MANY; n++)
    await publish(app, {
      ...{ actorId: 'eve', scope: 'PUBLIC', refs: [{ id: 'busy', type: 'site', label: 'Busy' }] },
      descriptor: { custom: { verb: 'view', objectType: 'site', objectId: String(n) } },
    });
  await app.idle();
  return {
    ...{ app, posted, hidden },
    async get(path, headers = ACCEPT) {
      const response = await fetch(`${app.url}${path}`, { headers });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

export const actionPath = (id: string) => `/actions/${encodeURIComponent(id)}`;
export const OUTBOX = '/refs/post%2F1/outbox';
