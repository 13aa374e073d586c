import { ObjectId } from 'mongodb';
import { tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, type WireRequest, type LanePool } from '../harness/http-lanes.ts';
import type { Share } from '../harness/open-loop.ts';
import { zipf } from '../harness/random.ts';
import { now } from '../harness/statistics.ts';
import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { FOLLOW, INTERACT, NEXT_PAGE, PUBLISH, SHOWN_PAGE } from './queries.ts';
import type { RawWorld } from './raw.ts';
import type { TraceAction } from '../../parts/demo/src/trace.ts';
import { asOfNow } from './trace.ts';

export const PUBLISHING = 'publish';
export const RAW_INSERT = 'raw insertOne by the driver';

/** A member whose requests are part of the load. */
export interface LoadReader {
  readonly userId: string;
  readonly token: string;
}

export interface LoadMixOptions {
  readonly url: string;
  readonly pool: LanePool;
  readonly readers: readonly LoadReader[];
  /** So many of them, the first, watch; they follow nothing new: what comes with a follow was published long before. */
  readonly watching: number;
  readonly actions: readonly TraceAction[];
  readonly refIds: readonly string[];
  readonly random: () => number;
  /** Where the plain driver inserts as often as the server is asked to publish, and documents as the server writes them. */
  readonly raw: { readonly world: RawWorld; readonly documents: readonly ActionDocument[] };
}

const FIRST = 25;
/** People react to the newest actions, most of all to the very newest. */
const RECENT = 200;
/** Readers who scroll on. */
const MOST_CURSORS = 1_000;

/** Nine reads to one write: first pages, further pages, publishing, likes, comments, follows; and the raw insert. */
export async function createLoadMix(options: LoadMixOptions) {
  const { url, pool, readers, watching, actions, refIds, random, raw } = options;
  const service = await tokenFor('publisher', ['service']);
  const firstPages = new Map<LoadReader, WireRequest>();
  const openPages: { readonly reader: LoadReader; readonly cursor: string }[] = [];
  const recent: string[] = [];
  /** When the mutation of each published action was sent. */
  const published = new Map<string, number>();
  const rankOfRecent = zipf(RECENT);
  const rankOfRef = zipf(refIds.length);
  let sent = 0;
  const anyOf = <T>(list: readonly T[]): T => {
    const chosen = list[Math.floor(random() * list.length)];
    if (chosen === undefined) throw new Error('There is nothing to choose from');
    return chosen;
  };
  const noteCursor = (reader: LoadReader, body: string): void => {
    const [, cursor] = /"pageInfo":\{"hasNextPage":true,"endCursor":"([^"]+)"/.exec(body) ?? [];
    if (cursor !== undefined && openPages.length < MOST_CURSORS) openPages.push({ reader, cursor });
  };
  const firstPage = async (): Promise<void> => {
    const reader = anyOf(readers);
    const request = firstPages.get(reader) ?? graphqlRequest(url, reader.token, SHOWN_PAGE, { first: FIRST });
    firstPages.set(reader, request);
    noteCursor(reader, await pool.ask(request));
  };
  const furtherPage = async (): Promise<void> => {
    const index = Math.floor(random() * openPages.length);
    const [open] = openPages.splice(index, 1);
    // Nobody has read a page yet that goes on.
    if (open === undefined) return firstPage();
    const { reader, cursor: after } = open;
    noteCursor(reader, await pool.ask(graphqlRequest(url, reader.token, NEXT_PAGE, { first: FIRST, after })));
  };
  const publish = async (): Promise<void> => {
    const input = asOfNow(actions[sent % actions.length] ?? anyOf(actions), `load-${String(sent++)}`);
    const at = now();
    const body = await pool.ask(graphqlRequest(url, service, PUBLISH, { input }));
    const [, id] = /"action":\{"id":"([^"]+)"\},"isReplay":false/.exec(body) ?? [];
    if (id === undefined) throw new Error(`Not published: ${body}`);
    published.set(id, at);
    recent.unshift(id);
    recent.length = Math.min(recent.length, RECENT);
  };
  const interact = (kind: 'LIKE' | 'COMMENT') => async (): Promise<void> => {
    const actionId = recent[rankOfRecent(random()) % Math.max(1, recent.length)];
    // Nothing has been published yet that one could react to.
    if (actionId === undefined) return publish();
    await pool.ask(graphqlRequest(url, anyOf(readers).token, INTERACT, { input: { actionId, kind } }));
  };
  const followers = readers.slice(watching);
  const follow = async (): Promise<void> => {
    const refId = refIds[rankOfRef(random())] ?? anyOf(refIds);
    await pool.ask(graphqlRequest(url, anyOf(followers).token, FOLLOW, { refId }));
  };
  const insert = async (): Promise<void> => {
    const time = new Date();
    const _id = new ObjectId();
    const document = anyOf(raw.documents);
    const times = { conducted: time, recorded: time, latest: time };
    await raw.world.actions.insertOne({ ...document, _id, idempotencyKey: _id.toHexString(), ...times });
  };
  const one = (name: string, share: number, run: () => Promise<void>): Share => ({
    share,
    turns: [{ name, run }],
  });
  return {
    published,
    shares: [
      one('feed, first page', 60, firstPage),
      one('feed, further page', 30, furtherPage),
      {
        // Each as often as its share of ten writes says, and turn about.
        share: 6,
        turns: [
          { name: PUBLISHING, run: publish },
          { name: RAW_INSERT, run: insert, isLimit: true },
        ],
      },
      one('like', 3, interact('LIKE')),
      one('comment', 2, interact('COMMENT')),
      one('follow', 2, follow),
    ],
  };
}
