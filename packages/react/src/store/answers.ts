import type { FeedClient } from '@fanfare/client';
import { asError } from './as-error.ts';
import { kept } from './kept.ts';
import { Signal } from './signal.ts';

export interface AnswerState<Data> {
  /** With the reader's own writes on it; undefined until it is known. */
  readonly data: Data | undefined;
  readonly error: Error | null;
}

interface Write<Data> {
  readonly apply: (data: Data | undefined) => Data;
}

/**
 * What a query says of the reader, such as whether they follow somebody or whom they mute: read once for all who show it,
 * and on top of it what they have changed since, in order.
 */
export class Answer<Data> extends Signal {
  readonly #ask: () => Promise<Data>;
  #confirmed: Data | undefined;
  #writes: readonly Write<Data>[] = [];
  #sending: Promise<unknown> = Promise.resolve();
  /** Writes that were confirmed so far: what was read before one says nothing about it. */
  #version = 0;
  #isAsked = false;
  #error: Error | null = null;
  #state: AnswerState<Data> = { data: undefined, error: null };

  constructor(ask: () => Promise<Data>) {
    super();
    this.#ask = ask;
  }

  readonly getSnapshot = (): AnswerState<Data> => this.#state;

  /** Asks for it, unless it is known or on its way. What failed is asked for again by the next who shows it. */
  readonly use = (listener: () => void): (() => void) => {
    const leave = this.subscribe(listener);
    if (!this.#isAsked) void this.reload();
    return leave;
  };

  /** Reads it again behind what is shown. Never rejects: what fails is `error`. */
  readonly reload = async (): Promise<void> => {
    this.#isAsked = true;
    const version = this.#version;
    try {
      const data = await this.#ask();
      if (version === this.#version) this.#confirmed = data;
      else if (this.#confirmed === undefined) {
        await this.reload();
        return;
      }
      this.#error = null;
    } catch (reason) {
      this.#isAsked = false;
      this.#error = asError(reason);
    }
    this.#show();
  };

  /**
   * Shown at once, and taken back when it fails. Sent when those of before are answered: the last of them is what the server has
   * in the end.
   * @param confirm what is so after the answer, also if nothing was known before; absent: as it was shown
   * @throws what `send` threw
   */
  async write<Result>(
    apply: Write<Data>['apply'],
    send: () => Promise<Result>,
    confirm?: (result: Result) => Data,
  ): Promise<Result> {
    const write = { apply };
    this.#writes = [...this.#writes, write];
    this.#show();
    const sent = this.#sending.then(send);
    this.#sending = sent.catch(() => undefined);
    try {
      const result = await sent;
      this.#version += 1;
      if (confirm !== undefined) this.#confirmed = confirm(result);
      else if (this.#confirmed !== undefined) this.#confirmed = apply(this.#confirmed);
      return result;
    } finally {
      this.#writes = this.#writes.filter((other) => other !== write);
      this.#show();
    }
  }

  #show(): void {
    let data = this.#confirmed;
    for (const { apply } of this.#writes) data = apply(data);
    this.#state = { data, error: this.#error };
    this.emit();
  }
}

/** A reader. */
export interface Asker {
  readonly client: Pick<FeedClient, 'request'>;
}

const known = kept<unknown>();

/** Equal questions of one reader share an answer. @param query must always give what `Data` says */
export function answerOf<Data>(
  reader: Asker,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Answer<Data> {
  const make = (): Answer<Data> => new Answer<Data>(() => reader.client.request<Data>(query, variables));
  return known(reader, `${query} ${JSON.stringify(variables)}`, make) as Answer<Data>;
}
