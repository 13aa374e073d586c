import type { ActionState } from '@fanfare/client';
import type { FanfareAction } from '../item.ts';
import { Signal } from './signal.ts';

/** Which lists an own write has taken an action out of. */
export type Gone = 'feed' | 'archived' | 'snoozed' | 'everywhere';

/** A write of the reader that the server has not confirmed. Applied again to whatever is confirmed meanwhile. */
export interface Write {
  readonly apply?: (action: FanfareAction) => FanfareAction;
  readonly gone?: Gone;
  /** Its event has come before its answer. */
  isSettled?: boolean;
}

/**
 * The actions that any list shows, each once: the confirmed state, and on top of it the reader's own writes in their
 * order.
 */
export class Actions extends Signal {
  readonly #confirmed = new Map<string, FanfareAction>();
  readonly #writes = new Map<string, readonly Write[]>();
  readonly #shown = new Map<string, FanfareAction>();
  readonly #sending = new Map<string, Promise<unknown>>();
  /** When an event or an answer to a write was last heard of each, as `now` counts. */
  readonly #heard = new Map<string, number>();
  #now = 0;
  /** Taken out and confirmed. An event from before may still come, and must not bring it back. */
  readonly #gone = new Map<string, Gone>();
  /** The last interaction that the answer to an own write had. */
  readonly #own = new Map<string, string>();
  #version = 0;
  /** Whether something else keeps the order in which writes are sent. */
  isOrdered = false;

  /** Another one after each change. */
  readonly getVersion = (): number => this.#version;

  override emit(): void {
    this.#version += 1;
    super.emit();
  }

  /** Counts what is heard. Take it before a page is asked for. */
  get now(): number {
    return this.#now;
  }

  /** As an event or the answer to a write has it. Call `emit` after it. */
  confirm(action: FanfareAction): void {
    this.#heard.set(action.id, (this.#now += 1));
    this.#set(action);
  }

  /**
   * As a page has it. What was heard since may be later, so that stays. Call `emit` after the last of a page.
   * @param asked `now` of before the page was asked for
   */
  confirmRead(action: FanfareAction, asked: number): void {
    if ((this.#heard.get(action.id) ?? 0) <= asked) this.#set(action);
  }

  #set(action: FanfareAction): void {
    this.#confirmed.set(action.id, action);
    this.#shown.delete(action.id);
  }

  /** The part of it that a mutation gives. */
  confirmState(state: ActionState): void {
    const { lastInteraction } = state.engagement;
    if (lastInteraction !== null) this.#own.set(state.id, lastInteraction);
    const action = this.#confirmed.get(state.id);
    if (action !== undefined) this.confirm({ ...action, ...state });
  }

  /** The same object until it changes; undefined for an action that no list has had. */
  readonly get = (id: string): FanfareAction | undefined => {
    const shown = this.#shown.get(id);
    if (shown !== undefined) return shown;
    const confirmed = this.#confirmed.get(id);
    if (confirmed === undefined) return undefined;
    const writes = this.#writes.get(id) ?? [];
    const action = writes.reduce((state, { apply }) => apply?.(state) ?? state, confirmed);
    this.#shown.set(id, action);
    return action;
  };

  /** Without the writes that are under way. */
  confirmed(id: string): FanfareAction | undefined {
    return this.#confirmed.get(id);
  }

  /** Whether nothing has happened to it but what the reader did here: that is no news to them. */
  isOwnWrite({ id, engagement: { lastInteraction } }: FanfareAction): boolean {
    return this.isPending(id) || (this.#own.get(id) ?? '') >= (lastInteraction ?? '~');
  }

  isPending(id: string): boolean {
    return (this.#writes.get(id) ?? []).length > 0;
  }

  isGone(id: string, from: Gone): boolean {
    if (this.#gone.size === 0 && this.#writes.size === 0) return false;
    const written = (this.#writes.get(id) ?? []).findLast(({ gone }) => gone !== undefined)?.gone;
    const gone = written ?? this.#gone.get(id);
    return gone === from || gone === 'everywhere';
  }

  /** The server has said that it went: what comes from now on is true again. */
  settleGone(id: string): void {
    if (this.#gone.get(id) !== 'everywhere') this.bringBack(id);
    const [sent] = this.#writes.get(id) ?? [];
    if (sent !== undefined) sent.isSettled = true;
  }

  bringBack(id: string): void {
    this.#gone.delete(id);
  }

  /**
   * Shows a write at once and takes it back when it fails. Sent when those of before on the same action are answered, unless
   * something else sees to it: the last of them is what the server has in the end.
   * @throws what `send` threw
   */
  async write<Result>(id: string, write: Write, send: () => Promise<Result>): Promise<Result> {
    this.#setWrites(id, [...(this.#writes.get(id) ?? []), write]);
    const before = this.isOrdered ? undefined : this.#sending.get(id);
    const sent = (before ?? Promise.resolve()).then(send);
    const over = sent.catch(() => undefined);
    this.#sending.set(id, over);
    try {
      const result = await sent;
      const { gone, isSettled } = write;
      if (gone === 'everywhere' || (gone !== undefined && isSettled !== true)) this.#gone.set(id, gone);
      return result;
    } finally {
      if (this.#sending.get(id) === over) this.#sending.delete(id);
      this.#setWrites(
        id,
        (this.#writes.get(id) ?? []).filter((other) => other !== write),
      );
    }
  }

  #setWrites(id: string, writes: readonly Write[]): void {
    if (writes.length === 0) this.#writes.delete(id);
    else this.#writes.set(id, writes);
    this.#shown.delete(id);
    this.emit();
  }
}
