import { setTimeout } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { Closer } from '../../../src/lib/closer.ts';
import type { Environment } from '../../../bench/harness/environment.ts';
import { startApi, startWorker, tokenFor, type FanfareApi } from '../../../bench/harness/fanfare.ts';
import type { ProbeApi } from '../../../bench/programs/probe.ts';
import type { Child } from '../../../bench/harness/child.ts';
import { graphqlRequest, LanePool } from '../../../bench/harness/http-lanes.ts';
import { cpuByKind } from '../../../bench/harness/process-usage.ts';
import { ratingInput } from '../../../bench/world/actions.ts';
import { loadFollowers } from '../../../bench/world/people.ts';
import { PUBLISH } from '../../../bench/world/queries.ts';
import { openRawWorld, type RawWorld } from '../../../bench/world/raw.ts';

/** A fan-out that has come to its end. */
export interface Fanned {
  readonly refId: string;
  /** Milliseconds from when it should have been published to when the last follower had it. */
  readonly lag: number;
}

/** CPU seconds of the parts of an installation. */
export interface PartsCpu {
  readonly api: number;
  readonly worker: number;
  readonly database: number;
  readonly redis: number;
  /** What publishes and measures. */
  readonly benchmark: number;
}

export function cpuOfAll({ api, worker, database, redis, benchmark }: PartsCpu): number {
  return api + worker + database + redis + benchmark;
}

/** API, workers and refs with followers: what is published is delivered by real processes, and looked at afterwards. */
export interface FanOutWorld extends AsyncDisposable {
  readonly world: RawWorld;
  readonly api: FanfareApi;
  /** Loads as many followers of a ref. */
  follow(refId: string, followers: number): Promise<void>;
  /** @param dueAt when it should have been published, by `Date.now()`; default: now. @returns milliseconds of the request. */
  publish(refId: string, dueAt?: number): Promise<number>;
  /** Resolves when everything that was published since the last call has been delivered. */
  drained(): Promise<readonly Fanned[]>;
  cpu(): PartsCpu;
  /** The first worker is gone at once, without a word. */
  killWorker(): Promise<void>;
  /** Another one in its place. */
  replaceWorker(): Promise<void>;
}

export interface FanOutWorldOptions {
  readonly environment: Environment;
  readonly database: string;
  readonly workers?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const CONNECTIONS = 64;
const LOOK_MS = 50;

export async function openFanOutWorld(options: FanOutWorldOptions): Promise<FanOutWorld> {
  const { environment, database, workers = 1, env } = options;
  const closer = new Closer();
  const world = closer.own(await openRawWorld(environment, database));
  const of = { environment, database, env };
  const api = closer.own(await startApi(of));
  const start = async (): Promise<Child<ProbeApi>> => closer.own(await startWorker(of));
  const running = await Promise.all(Array.from({ length: workers }, start));
  const pool = closer.own(new LanePool(api.url, CONNECTIONS));
  const token = await tokenFor('publisher', ['service']);
  const kinds = new Map([
    [process.pid, 'benchmark'],
    [api.pid, 'api'],
    ...running.map(({ pid }): [number, string] => [pid, 'worker']),
  ]);
  let published = 0;
  let open: { readonly id: string; readonly refId: string; readonly dueAt: number }[] = [];
  return {
    ...{ world, api },
    follow: (refId, followers) => loadFollowers(world.follows, refId, followers),
    publish: async (refId, dueAt = Date.now()) => {
      const input = ratingInput(published++, [{ id: refId }]);
      const from = performance.now();
      const body = await pool.ask(graphqlRequest(api.url, token, PUBLISH, { input }));
      const took = performance.now() - from;
      const [, globalId = ''] = /"id":"([^"]+)"/.exec(body) ?? [];
      const id = Buffer.from(globalId, 'base64').toString().slice('Action:'.length);
      if (!ObjectId.isValid(id)) throw new Error(`Not published: ${body.slice(0, 500)}`);
      open.push({ id, refId, dueAt });
      return took;
    },
    drained: async () => {
      const mine = open;
      open = [];
      const left = { 'fanOut.state': { $ne: 'DONE' as const } };
      while ((await world.actions.countDocuments(left)) > 0) await setTimeout(LOOK_MS);
      const done = await world.actions
        .find({ _id: { $in: mine.map(({ id }) => new ObjectId(id)) } })
        .project<{ _id: ObjectId; fanOut: { doneAt: Date } }>({ 'fanOut.doneAt': 1 })
        .toArray();
      const doneAt = new Map(done.map(({ _id, fanOut }) => [_id.toHexString(), fanOut.doneAt.getTime()]));
      return mine.map(({ id, refId, dueAt }) => ({ refId, lag: (doneAt.get(id) ?? NaN) - dueAt }));
    },
    cpu: () => {
      const of = cpuByKind(kinds);
      const sum = (...names: string[]): number => names.reduce((all, name) => all + (of.get(name) ?? 0), 0);
      return {
        api: sum('api'),
        worker: sum('worker'),
        database: sum('engine', 'gateway'),
        redis: sum('redis'),
        benchmark: sum('benchmark'),
      };
    },
    killWorker: async () => {
      const [first] = running;
      if (first === undefined) throw new Error('There is no worker');
      process.kill(first.pid, 'SIGKILL');
      await first[Symbol.asyncDispose]();
    },
    replaceWorker: async () => {
      running[0] = await start();
      kinds.set(running[0].pid, 'worker');
    },
    [Symbol.asyncDispose]: () => closer.close(),
  };
}
