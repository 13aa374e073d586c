import { actionOf, watch, watchRoom, type Watcher } from '../harness/watcher.ts';
import { answer } from './answer.ts';

export interface Subscriber {
  readonly url: string;
  readonly token: string | null;
  readonly query: string;
  /** Default: graphql-transport-ws. */
  readonly protocol?: 'socket.io';
}

/** What has come since `forget`. */
export interface Seen {
  /** When each new action came, at every socket that it came to: milliseconds of the clock of the machine. */
  readonly added: readonly { readonly action: string; readonly at: readonly number[] }[];
  /** How many other events of each type. */
  readonly others: Readonly<Record<string, number>>;
}

/** The sockets of many subscribers, in a process of their own. */
export interface SocketsApi {
  readonly [name: string]: (argument: never) => unknown;
  /** Opens further sockets; resolves when all of them are subscribed. */
  readonly connect: (subscribers: readonly Subscriber[]) => Promise<void>;
  /** Drops all connections at once. */
  readonly drop: (argument: null) => void;
  /** Opens all that were dropped, each behind the last event it saw; resolves when all of them are subscribed. */
  readonly reopen: (argument: null) => Promise<void>;
  /** Resolves when so many new actions have come since `forget`. Rejects when more come, or anything goes wrong. */
  readonly received: (actions: number) => Promise<void>;
  readonly seen: (argument: null) => Seen;
  readonly forget: (argument: null) => void;
  /** The text of the latest new action. */
  readonly latest: (argument: null) => string | null;
  /** Rejects with the first thing that went wrong: a socket that was closed, a message that makes no sense. */
  readonly healthy: (argument: null) => void;
}

interface Open {
  readonly subscriber: Subscriber;
  watcher: Watcher | null;
  cursor: string | null;
}

/** Sockets opened at a time. */
const AT_ONCE = 50;
/** Longest wait for events that are on their way. */
const GIVE_UP_MS = 300_000;
const sockets: Open[] = [];
let added = new Map<string, number[]>();
let others = new Map<string, number>();
let actions = 0;
let latest: string | null = null;
let trouble: Error | null = null;
let onEvent: () => void = () => undefined;

const api: SocketsApi = {
  connect: async (subscribers) => {
    const opened = subscribers.map((subscriber): Open => ({ subscriber, watcher: null, cursor: null }));
    sockets.push(...opened);
    await open(opened);
  },
  drop: () => {
    for (const socket of sockets) {
      socket.watcher?.close();
      socket.watcher = null;
    }
  },
  reopen: () => open(sockets),
  received: (wanted) =>
    new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => {
        clearTimeout(patience);
        onEvent = () => undefined;
        if (error === null) resolve();
        else reject(error);
      };
      const patience = setTimeout(() => {
        const beside = JSON.stringify(Object.fromEntries(others));
        settle(
          new Error(
            `Only ${String(actions)} came of ${String(wanted)}, and ${beside}; the latest: ${latest ?? ''}`,
          ),
        );
      }, GIVE_UP_MS);
      onEvent = () => {
        if (trouble !== null) settle(trouble);
        else if (actions > wanted) settle(new Error(`${String(actions)} came instead of ${String(wanted)}`));
        else if (actions === wanted) settle(null);
      };
      onEvent();
    }),
  seen: () => ({
    added: [...added].map(([action, at]) => ({ action, at })),
    others: Object.fromEntries(others),
  }),
  forget: () => {
    added = new Map();
    others = new Map();
    actions = 0;
  },
  latest: () => latest,
  healthy: () => {
    if (trouble !== null) throw trouble;
  },
};
answer(api);
// Waiting to be told what to do is all there is to do at first.
process.channel?.ref();

async function open(wanted: readonly Open[]): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let socket = wanted[next++]; socket !== undefined; socket = wanted[next++])
      socket.watcher ??= await openOne(socket);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

function openOne(socket: Open): Promise<Watcher> {
  const { protocol, ...subscriber } = socket.subscriber;
  const options = {
    ...{ ...subscriber, after: socket.cursor },
    onEvent: (text: string, at: number) => {
      socket.cursor = /"cursor":"([^"]+)"/.exec(text)?.[1] ?? socket.cursor;
      receive(text, at);
    },
    onTrouble: (error: Error) => {
      trouble ??= error;
      onEvent();
    },
  };
  return protocol === 'socket.io' ? watchRoom(options) : watch(options);
}

function receive(text: string, at: number): void {
  const action = actionOf(text);
  if (action === null) {
    const type = /"__typename":"(\w+)"/.exec(text)?.[1] ?? 'other';
    others.set(type, (others.get(type) ?? 0) + 1);
    return;
  }
  actions += 1;
  latest = text;
  const times = added.get(action);
  if (times === undefined) added.set(action, [at]);
  else times.push(at);
  onEvent();
}
