import { watchRoom } from '../harness/room-watcher.ts';
import { actionOf, watch, type Watcher } from '../harness/watcher.ts';
import { answer } from './answer.ts';

export interface Subscriber {
  readonly url: string;
  readonly token: string | null;
  readonly query: string;
  /** Default: graphql-transport-ws. */
  readonly protocol?: 'socket.io';
}

/** When one action has come to how many sockets. */
export interface Receipts {
  readonly action: string;
  /** Milliseconds of the clock of the machine, one for each socket. */
  readonly at: readonly number[];
}

/** The sockets of many subscribers, in a process of their own. */
export interface PushClientApi {
  readonly [name: string]: (argument: never) => unknown;
  /** Opens further sockets; resolves when all of them are subscribed. */
  readonly connect: (subscribers: readonly Subscriber[]) => Promise<void>;
  /** Resolves when so many events have come since `forget`. */
  readonly received: (events: number) => Promise<void>;
  /** What has come since `forget`. */
  readonly receipts: (argument: null) => readonly Receipts[];
  readonly forget: (argument: null) => void;
  /** The text of the latest event. */
  readonly latest: (argument: null) => string | null;
  readonly close: (argument: null) => void;
}

/** Sockets opened at a time. */
const AT_ONCE = 50;
/** Longest wait for events that are on their way. */
const GIVE_UP_MS = 300_000;
let watchers: Watcher[] = [];
let receipts = new Map<string, number[]>();
let events = 0;
let latest: string | null = null;
let trouble: Error | null = null;
let onEvent: () => void = () => undefined;

const api: PushClientApi = {
  connect: async (subscribers) => {
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let subscriber = subscribers[next++]; subscriber !== undefined; subscriber = subscribers[next++])
        watchers.push(await open({ ...subscriber, onEvent: receive, onTrouble: fail }));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  },
  received: (wanted) =>
    new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => {
        clearTimeout(patience);
        onEvent = () => undefined;
        if (error === null) resolve();
        else reject(error);
      };
      const patience = setTimeout(() => {
        settle(
          new Error(`Only ${String(events)} events came of ${String(wanted)}; the latest: ${latest ?? ''}`),
        );
      }, GIVE_UP_MS);
      onEvent = () => {
        if (trouble !== null) settle(trouble);
        else if (events > wanted)
          settle(new Error(`${String(events)} events came instead of ${String(wanted)}`));
        else if (events === wanted) settle(null);
      };
      onEvent();
    }),
  receipts: () => [...receipts].map(([action, at]) => ({ action, at })),
  forget: () => {
    receipts = new Map();
    events = 0;
  },
  latest: () => latest,
  close: () => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  },
};
answer(api);
// Waiting to be told what to do is all there is to do at first.
process.channel?.ref();

function open(options: Parameters<typeof watch>[0] & Pick<Subscriber, 'protocol'>): Promise<Watcher> {
  return options.protocol === 'socket.io' ? watchRoom(options) : watch(options);
}

function receive(text: string, at: number): void {
  events += 1;
  latest = text;
  const action = actionOf(text);
  if (action === null) {
    fail(new Error(`An event tells of no action: ${text}`));
    return;
  }
  const times = receipts.get(action);
  if (times === undefined) receipts.set(action, [at]);
  else times.push(at);
  onEvent();
}

function fail(error: Error): void {
  trouble ??= error;
  onEvent();
}
