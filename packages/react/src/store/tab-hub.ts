import { FeedClientError, type WatchState } from '@fanfare/client';
import { asError } from './as-error.ts';
import { watchFor, type Watched, type WatchingClient } from './connection.ts';
import { insist } from './insist.ts';
import type { TabMember } from './tab-member.ts';
import { PROTOCOL, type LeaderMessage, type TabMessage } from './tab-messages.ts';
import { randomKey } from './random-key.ts';

/** Interval at which each tab says what it wants, and the leader what it has, in ms. */
const TICK_MS = 1_000;
/**
 * After so many ticks of another tab a leader that has said nothing stands still, and that tab takes over; and what a tab
 * has not asked for any more is not watched for it. They are its own: who has stood still itself has not heard the others.
 */
const SILENT_TICKS = 10;
/** What the leader watches, and for which tabs. */
interface Topic {
  readonly abort: AbortController;
  /** With the ticks since each has asked for it. */
  readonly tabs: Map<string, number>;
  cursor: string | undefined;
  state: WatchState;
  cause?: string | undefined;
}

/** What one tab has to do with the others. Over when no list is left, or when its token is refused. A list that is refused ends alone. */
export class TabHub {
  readonly #client: WatchingClient;
  readonly #tab: string = randomKey();
  readonly #members = new Set<TabMember>();
  readonly #topics = new Map<string, Topic>();
  readonly #tell: (isLeader: boolean) => void;
  readonly #end = new AbortController();
  /** Of channel and locks. */
  #name = '';
  /** Null: this tab shares with nobody, or does not know yet with whom. */
  #channel: BroadcastChannel | null = null;
  /** Ends the wait for the lock, or lets go of it. */
  #turn = new AbortController();
  #isLeader = false;
  /** Of the latest leader. */
  #term = 0;
  #silentTicks = 0;

  constructor(
    client: WatchingClient,
    whoAmI: () => Promise<string | null>,
    tell: (isLeader: boolean) => void,
  ) {
    this.#client = client;
    this.#tell = tell;
    void this.#begin(whoAmI);
  }

  get isOver(): boolean {
    return this.#end.signal.aborted;
  }

  join(member: TabMember): void {
    this.#members.add(member);
    this.#want(member, true);
  }

  leave(member: TabMember): void {
    if (this.isOver) return;
    this.#members.delete(member);
    if (![...this.#members].some(({ topic }) => topic === member.topic))
      this.#post({ kind: 'leave', tab: this.#tab, topic: member.topic });
    if (this.#members.size === 0) this.#close();
  }

  /** Nothing is taken from another tab before the server has said whom this one's own token is of. */
  async #begin(whoAmI: () => Promise<string | null>): Promise<void> {
    const who = await insist(
      whoAmI,
      () => this.isOver,
      (error) => {
        if (error instanceof FeedClientError && !error.isTemporary) throw error;
        for (const member of this.#members) member.tell('waiting', asError(error).message);
      },
    ).catch(() => null);
    if (this.isOver) return;
    // Its own watch then says why it is nobody.
    if (who == null) {
      this.#lead();
      return;
    }
    this.#name = `fanfare ${String(PROTOCOL)} ${who}`;
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      this.#take(data);
    };
    const { signal } = this.#end;
    this.#seek(false);
    this.#wantAll(true);
    const timer = setInterval(() => {
      this.#tick();
    }, TICK_MS);
    signal.addEventListener('abort', () => {
      clearInterval(timer);
    });
  }

  /** Leads when its turn has come; by force it takes the turn of a leader that stands still. */
  #seek(isForced: boolean): void {
    this.#turn.abort();
    const { signal } = (this.#turn = new AbortController());
    let hasLed = false;
    navigator.locks
      .request(this.#name, isForced ? { steal: true } : { signal }, () => {
        if (signal.aborted) return undefined;
        hasLed = true;
        this.#lead();
        return endOf(signal);
      })
      .catch(() => {
        if (signal.aborted) return;
        if (hasLed) {
          // It stood still, and another has taken over.
          this.#follow();
          this.#seek(false);
        } else {
          // A page that may store nothing gets no locks. It leads itself alone, where no other tab hears it.
          this.#channel?.close();
          this.#channel = null;
          this.#lead();
        }
      });
  }

  #lead(): void {
    this.#isLeader = true;
    this.#term = Math.max(performance.timeOrigin + performance.now(), this.#term + 1);
    this.#tell(true);
    this.#wantAll();
  }

  #follow(): void {
    for (const { abort } of this.#topics.values()) abort.abort();
    this.#topics.clear();
    this.#isLeader = false;
    this.#tell(false);
    this.#wantAll();
  }

  #close(): void {
    this.#end.abort();
    this.#turn.abort();
    this.#members.clear();
    this.#follow();
    this.#channel?.close();
    this.#channel = null;
  }

  #tick(): void {
    for (const [topic, { tabs }] of this.#topics)
      for (const [tab, ticks] of tabs) {
        tabs.set(tab, ticks + 1);
        if (ticks > SILENT_TICKS) this.#drop(topic, tab);
      }
    if (!this.#isLeader && (this.#silentTicks += 1) > SILENT_TICKS) {
      this.#silentTicks = 0;
      this.#seek(true);
    }
    this.#wantAll();
  }

  /** Members with a cursor come first: a topic starts at the cursor of the first member that wants it. */
  #wantAll(isNow = false): void {
    for (const isKnown of [true, false])
      for (const member of this.#members)
        if (!member.isOver && (member.received !== undefined) === isKnown) this.#want(member, isNow);
  }

  #want({ topic, watched, received: cursor }: TabMember, isNow: boolean): void {
    this.#post({ kind: 'want', tab: this.#tab, topic, watched, cursor, isNow });
  }

  /** To the leader, which may be this tab. */
  #post(message: TabMessage): void {
    if (this.#isLeader) this.#take(message);
    else this.#channel?.postMessage(message);
  }

  /** From the leader, to this tab and all others. */
  #send(message: LeaderMessage): void {
    const sent = { ...message, term: this.#term };
    this.#channel?.postMessage(sent);
    this.#take(sent);
  }

  #take(message: TabMessage): void {
    if (message.kind === 'want') {
      if (this.#isLeader) this.#serve(message);
    } else if (message.kind === 'leave') this.#drop(message.topic, message.tab);
    else if (message.term >= this.#term) {
      this.#silentTicks = 0;
      if (message.term > this.#term) {
        this.#term = message.term;
        this.#follow();
      }
      for (const member of this.#members) if (member.topic === message.topic) member.take(message);
    }
  }

  #serve({ tab, topic: name, watched, cursor, isNow }: Extract<TabMessage, { readonly kind: 'want' }>): void {
    let topic = this.#topics.get(name);
    if (topic === undefined) topic = this.#watch(name, watched, cursor);
    else if (isNow && topic.state === 'waiting') {
      topic.abort.abort();
      topic = this.#watch(name, watched, topic.cursor, topic.tabs);
    }
    topic.tabs.set(tab, 0);
    this.#sendHave(name, topic);
  }

  #sendHave(name: string, { cursor, state, cause }: Topic): void {
    this.#send({ kind: 'have', topic: name, cursor, state, cause });
  }

  #drop(name: string, tab: string): void {
    const topic = this.#topics.get(name);
    if (topic?.tabs.delete(tab) !== true || topic.tabs.size > 0) return;
    this.#topics.delete(name);
    topic.abort.abort();
  }

  #watch(name: string, watched: Watched, cursor: string | undefined, tabs: Topic['tabs'] = new Map()): Topic {
    const topic: Topic = { abort: new AbortController(), tabs, cursor, state: 'connecting' };
    this.#topics.set(name, topic);
    watchFor(this.#client, watched, cursor, {
      signal: topic.abort.signal,
      onState: (state, cause) => {
        topic.state = state;
        topic.cause = cause?.message;
        this.#sendHave(name, topic);
      },
      onEvent: (event) => {
        topic.cursor = event.cursor;
        this.#send({ kind: 'event', topic: name, event });
      },
      onResync: (reason, next) => {
        topic.cursor = next;
        this.#send({ kind: 'resync', topic: name, reason, cursor: next });
      },
    }).catch((error: unknown) => {
      this.#fail(
        name,
        error instanceof FeedClientError ? error : new FeedClientError('PROTOCOL', asError(error).message),
      );
    });
    return topic;
  }

  #fail(topic: string, error: FeedClientError): void {
    const { code, message } = error;
    this.#topics.delete(topic);
    if (code !== 'UNAUTHENTICATED') {
      this.#send({ kind: 'error', topic, code, message });
      return;
    }
    // The other tabs have tokens of their own, which may still be good: one of them goes on.
    for (const member of this.#members) member.fail(error);
    this.#close();
  }
}

function endOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
