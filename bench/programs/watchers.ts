import { actionOf, watch, type Watcher } from '../harness/watcher.ts';
import { answer } from './answer.ts';
import type { Receipts, Subscriber } from './push-client.ts';

/** What has come to the sockets since the last look. */
export interface Seen {
  /** How many events of each type. */
  readonly events: Readonly<Record<string, number>>;
  /** When each new item came, at every socket it came to. */
  readonly added: readonly Receipts[];
  /** What went wrong: sockets that the server closed, messages that make no sense. */
  readonly troubles: readonly string[];
}

/** Sockets of readers who watch while others work, in a process of their own. */
export interface WatchersApi {
  readonly [name: string]: (argument: never) => unknown;
  /** Opens further sockets; resolves when all of them are subscribed. */
  readonly connect: (subscribers: readonly Subscriber[]) => Promise<void>;
  /** Closes as many sockets, those open longest first, and opens them again. */
  readonly reopen: (count: number) => Promise<void>;
  readonly look: (argument: null) => Seen;
}

interface OpenWatcher {
  readonly subscriber: Subscriber;
  readonly watcher: Watcher;
}

/** Sockets opened at a time. */
const AT_ONCE = 25;
const MOST_TROUBLES = 20;
const watchers: OpenWatcher[] = [];
let events = new Map<string, number>();
let added = new Map<string, number[]>();
let troubles: string[] = [];

const api: WatchersApi = {
  connect,
  reopen: async (count) => {
    const leaving = watchers.splice(0, count);
    for (const { watcher } of leaving) watcher.close();
    await connect(leaving.map(({ subscriber }) => subscriber));
  },
  look: () => {
    const seen = {
      events: Object.fromEntries(events),
      added: [...added].map(([action, at]) => ({ action, at })),
      troubles,
    };
    events = new Map();
    added = new Map();
    troubles = [];
    return seen;
  },
};
answer(api);
// Waiting to be told what to do is all there is to do at first.
process.channel?.ref();

async function connect(subscribers: readonly Subscriber[]): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let subscriber = subscribers[next++]; subscriber !== undefined; subscriber = subscribers[next++])
      watchers.push({
        subscriber,
        watcher: await watch({ ...subscriber, onEvent: receive, onTrouble: (error) => note(error.message) }),
      });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

function receive(text: string, at: number): void {
  const type = /"__typename":"(\w+)"/.exec(text)?.[1];
  if (type === undefined) {
    note(`Instead of an event came ${text.slice(0, 500)}`);
    return;
  }
  events.set(type, (events.get(type) ?? 0) + 1);
  if (type !== 'FeedItemAdded') return;
  const action = actionOf(text);
  if (action === null) {
    note(`An item tells of no action: ${text.slice(0, 500)}`);
    return;
  }
  const times = added.get(action);
  if (times === undefined) added.set(action, [at]);
  else times.push(at);
}

function note(trouble: string): void {
  if (troubles.length < MOST_TROUBLES) troubles.push(trouble);
}
