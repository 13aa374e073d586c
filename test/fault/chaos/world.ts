import { Closer } from '../../../src/lib/closer.ts';
import { startTcpProxy, type TcpProxy } from '../../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { clientOf } from '../../support/client-watches.ts';
import { openMirror, type Mirror } from '../../support/mirror.ts';
import type { As } from './call.ts';
import { startChaosEngine, type ChaosEngine } from './engine.ts';
import { startFleet, type Fleet } from './fleet.ts';

const WATCHERS = 12;
const PUBLISHERS = 6;
const SITES = 5;
const WIRES = 3;
const DEPARTMENTS = ['d0', 'd1', 'd2'] as const;
const TEAMS = ['t0', 't1'] as const;
/** Whom everybody follows and nobody takes back. */
export const HERALD = 'herald';
export const BOSS = 'boss';
export const ADMIN: As = { sub: 'admin', roles: ['admin'] };

export interface Roster {
  /** Each of them watches. */
  readonly readers: readonly string[];
  readonly publishers: readonly string[];
  readonly sites: readonly string[];
  readonly departments: readonly string[];
  readonly teams: readonly string[];
}

/** Two APIs and two workers on one database and one Redis, with a watcher for each reader. */
export interface World extends Roster, AsyncDisposable {
  /** Neither API nor worker: reads what is stored. */
  readonly app: TestApp;
  readonly engine: ChaosEngine;
  readonly fleet: Fleet;
  readonly mirrors: readonly Mirror[];
  /** Between watchers and APIs. Every connection leads to an API picked by chance. */
  readonly wires: readonly TcpProxy[];
}

/** Some keep the list of what they have not read. */
export function watchesUnreadOnly(reader: string): boolean {
  return /[37]$/.test(reader);
}

export interface WorldOptions {
  readonly model: string;
  readonly feedCap: number;
}

export async function openWorld({ model, feedCap }: WorldOptions): Promise<World> {
  const closer = new Closer();
  try {
    const engine = closer.own(await startChaosEngine());
    const app = closer.own(
      await startTestApp({
        api: false,
        worker: false,
        database: 'chaos',
        env: {
          MONGODB_URI: engine.mongodbUri,
          REDIS_URL: engine.redisUrl,
          FEED_MODEL: model,
          FEED_CAP: String(feedCap),
          FAN_OUT_CHUNK: '3',
          FAN_OUT_LEASE: '2s',
          // What dies or stands still again and again is not the action's fault.
          FAN_OUT_ATTEMPTS: '100',
          POLL_INTERVAL: '100ms',
        },
      }),
    );
    const roster = rosterOf();
    await populate(app, roster);
    const fleet = closer.own(await startFleet(app.env, { api: 2, worker: 2 }));
    const wires: TcpProxy[] = [];
    for (let n = 0; n < WIRES; n += 1) wires.push(closer.own(await startTcpProxy(() => fleet.apiUrl())));
    const mirrors: Mirror[] = [];
    for (const [n, reader] of roster.readers.entries()) {
      const url = `http://127.0.0.1:${String(wires[n % WIRES]?.port)}`;
      const client = await clientOf({ token: app.token, url }, reader, { transport: 'websocket' });
      const filter = watchesUnreadOnly(reader) ? { filter: { unreadOnly: true } } : {};
      mirrors.push(closer.own(openMirror(client, reader, { unread: n % 2 === 0, ...filter })));
    }
    return { ...roster, app, engine, fleet, mirrors, wires, [Symbol.asyncDispose]: () => closer.close() };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

function rosterOf(): Roster {
  const named = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${name}-${String(n)}`);
  return {
    readers: named('reader', WATCHERS),
    publishers: named('publisher', PUBLISHERS),
    sites: named('site', SITES),
    departments: DEPARTMENTS,
    teams: TEAMS,
  };
}

async function populate({ services, identity }: TestApp, roster: Roster): Promise<void> {
  const service = identity('importer', 'service');
  const { readers, publishers, sites, departments, teams } = roster;
  const people = [BOSS, HERALD, ...publishers, ...readers];
  await services.upsertMembers(
    service,
    people.map((memberId, n) => ({
      memberId,
      name: memberId,
      departmentId: departments[n % departments.length] ?? null,
      teamId: teams[n % teams.length] ?? null,
      supervisorId: n % 4 === 0 && memberId !== BOSS ? BOSS : null,
    })),
  );
  await services.upsertRefs(
    service,
    sites.map((id) => ({ id, type: 'site', label: id })),
  );
  await services.followMany(
    service,
    readers.flatMap((followerId, n) =>
      [HERALD, publishers[n % publishers.length] ?? '', sites[n % sites.length] ?? ''].map((refId) => ({
        followerId,
        refId,
      })),
    ),
  );
}
