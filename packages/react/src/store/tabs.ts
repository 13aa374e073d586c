import { FeedClientError, type FeedClient, type FeedFilter, type WatchState } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import { asError } from './as-error.ts';
import { ownSource, type LiveSource } from './connection.ts';
import { TabMember } from './tab-member.ts';
import { hashOf, type TabMessage } from './tab-messages.ts';
import { randomKey } from './random-key.ts';

/** Interval at which a tab repeats an unanswered question to the leader, in ms: a suspended tab may miss messages. */
const ASK_AGAIN_MS = 1_000;

/** What the leader watches, and for which tabs. */
interface Topic {
  readonly abort: AbortController;
  readonly tabs: Set<string>;
  cursor: string | undefined;
  state: WatchState;
}

/**
 * One connection for all tabs of a browser: the tab that has the lock watches for all of them and forwards by a channel.
 * When it closes, the next one that gets the lock continues from the cursors.
 */
export function sharedSource(client: Pick<FeedClient<FanfareItem>, 'watch'>, name: string): LiveSource {
  // Browsers that have locks have channels. There are none on servers, nor in pages that came over plain http.
  const { navigator: of } = globalThis as { readonly navigator?: Partial<Navigator> };
  if (of?.locks === undefined) return ownSource(client);
  let hub: TabHub | null = null;
  let tell: (isLeader: boolean) => void = () => undefined;
  return {
    onLeader: (listener) => {
      tell = listener;
    },
    watch(subscriber, onState) {
      const mine = (hub ??= new TabHub(client, `fanfare-${hashOf(name)}`, (isLeader) => {
        tell(isLeader);
      }));
      const topic = JSON.stringify(subscriber.filter ?? {});
      const member = new TabMember(topic, subscriber, onState);
      mine.join(member);
      return {
        done: member.done,
        end: () => {
          member.end();
          mine.leave(member);
          if (!mine.isEmpty) return;
          mine.close();
          if (hub === mine) hub = null;
        },
      };
    },
  };
}

class TabHub {
  readonly #client: Pick<FeedClient<FanfareItem>, 'watch'>;
  readonly #name: string;
  readonly #tab: string = randomKey();
  #channel: BroadcastChannel;
  readonly #members = new Set<TabMember>();
  readonly #topics = new Map<string, Topic>();
  readonly #end = new AbortController();
  readonly #tell: (isLeader: boolean) => void;
  #isLeader = false;
  #asking: ReturnType<typeof setInterval> | undefined;

  constructor(
    client: Pick<FeedClient<FanfareItem>, 'watch'>,
    name: string,
    onLeader: (isLeader: boolean) => void,
  ) {
    this.#client = client;
    this.#name = name;
    this.#tell = onLeader;
    this.#channel = this.#open(name);
    // Held for the lifetime of this tab: the leader requests the same lock, to notice when the tab is gone.
    this.#hold(this.#lockOf(this.#tab), () => undefined);
    this.#hold(
      name,
      () => {
        this.#lead();
      },
      () => {
        // A page that may store nothing gets no locks. It leads itself alone, where no other tab hears it.
        this.#channel.close();
        this.#channel = this.#open(this.#tab);
        this.#lead();
      },
    );
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  join(member: TabMember): void {
    this.#members.add(member);
    this.#want(member);
    this.#asking ??= setInterval(() => {
      this.#askAgain();
    }, ASK_AGAIN_MS);
  }

  leave(member: TabMember): void {
    this.#members.delete(member);
    if ([...this.#members].some(({ topic }) => topic === member.topic)) return;
    const message: TabMessage = { kind: 'leave', tab: this.#tab, topic: member.topic };
    this.#channel.postMessage(message);
    this.#take(message);
  }

  close(): void {
    for (const { abort } of this.#topics.values()) abort.abort();
    this.#topics.clear();
    this.#end.abort();
    this.#stopAsking();
    this.#channel.close();
    this.#tell(false);
  }

  #lockOf(tab: string): string {
    return `${this.#name}-${tab}`;
  }

  #open(name: string): BroadcastChannel {
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      this.#take(data);
    };
    return channel;
  }

  #hold(name: string, onHeld: () => void, onDenied?: () => void): void {
    const { signal } = this.#end;
    const untilEnd = (): Promise<void> | undefined => {
      if (signal.aborted) return undefined;
      onHeld();
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          resolve();
        });
      });
    };
    // Rejects also if aborted before it is granted.
    navigator.locks.request(name, { signal }, untilEnd).catch(() => {
      if (!signal.aborted) onDenied?.();
    });
  }

  #lead(): void {
    this.#isLeader = true;
    this.#tell(true);
    this.#wantAll();
    this.#channel.postMessage({ kind: 'leader' } satisfies TabMessage);
  }

  #askAgain(): void {
    const unanswered = [...this.#members].filter(({ isAnswered }) => !isAnswered);
    for (const member of unanswered) this.#want(member);
    if (unanswered.length === 0) this.#stopAsking();
  }

  #stopAsking(): void {
    clearInterval(this.#asking);
    this.#asking = undefined;
  }

  /** Members with a cursor come first: a topic starts at the cursor of the first member that wants it. */
  #wantAll(): void {
    for (const isKnown of [true, false])
      for (const member of this.#members) if ((member.received !== undefined) === isKnown) this.#want(member);
  }

  #want({ topic, subscriber: { filter }, received }: TabMember): void {
    const message: TabMessage = { kind: 'want', tab: this.#tab, topic, filter, cursor: received };
    if (this.#isLeader) this.#take(message);
    else this.#channel.postMessage(message);
  }

  #take(message: TabMessage): void {
    switch (message.kind) {
      case 'leader':
        this.#wantAll();
        break;
      case 'want':
        if (this.#isLeader) this.#serve(message);
        break;
      case 'leave':
        this.#drop(message.topic, message.tab);
        break;
      case 'have':
        if (message.tab === this.#tab) this.#deliver(message);
        break;
      case 'event':
      case 'resync':
      case 'state':
      case 'error':
        this.#deliver(message);
    }
  }

  #deliver(message: Extract<TabMessage, { readonly topic: string }>): void {
    for (const member of this.#members) if (member.topic === message.topic) member.take(message);
  }

  /** To this tab and all others. */
  #send(message: TabMessage): void {
    this.#channel.postMessage(message);
    this.#take(message);
  }

  #serve({ tab, topic: name, filter, cursor }: Extract<TabMessage, { readonly kind: 'want' }>): void {
    const known = this.#topics.get(name);
    // Who asks now, such as by "Try now", does not wait for the next attempt.
    const isDue = known?.state === 'waiting';
    if (isDue) known.abort.abort();
    const topic = known && !isDue ? known : this.#watch(name, filter, known?.cursor ?? cursor);
    for (const one of [tab, ...(known?.tabs ?? [])]) if (!topic.tabs.has(one)) this.#notice(name, topic, one);
    this.#send({ kind: 'have', tab, topic: name, cursor: topic.cursor, state: topic.state });
  }

  #notice(name: string, topic: Topic, tab: string): void {
    topic.tabs.add(tab);
    if (tab === this.#tab) return;
    const { signal } = topic.abort;
    navigator.locks
      .request(this.#lockOf(tab), { signal }, () => {
        this.#drop(name, tab);
      })
      .catch(() => undefined);
  }

  #drop(name: string, tab: string): void {
    const topic = this.#topics.get(name);
    if (topic?.tabs.delete(tab) !== true || topic.tabs.size > 0) return;
    this.#topics.delete(name);
    topic.abort.abort();
  }

  #watch(name: string, filter: FeedFilter | undefined, cursor: string | undefined): Topic {
    const topic: Topic = { abort: new AbortController(), tabs: new Set(), cursor, state: 'connecting' };
    this.#topics.set(name, topic);
    this.#client
      .watch({
        ...(filter === undefined ? {} : { filter }),
        ...(cursor === undefined ? {} : { after: cursor }),
        unread: true,
        signal: topic.abort.signal,
        onState: (state, cause) => {
          topic.state = state;
          this.#send({ kind: 'state', topic: name, state, ...(cause && { cause: cause.message }) });
        },
        onEvent: (event) => {
          topic.cursor = event.cursor;
          this.#send({ kind: 'event', topic: name, event });
        },
        onResync: (reason, next) => {
          topic.cursor = next;
          this.#send({ kind: 'resync', topic: name, reason, cursor: next });
        },
      })
      .catch((error: unknown) => {
        this.#topics.delete(name);
        const code = error instanceof FeedClientError ? error.code : 'PROTOCOL';
        const { message } = asError(error);
        this.#send({ kind: 'error', topic: name, code, message });
      });
    return topic;
  }
}
