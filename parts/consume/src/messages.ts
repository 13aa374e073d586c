import type { ErrorCode } from '../../../src/domain/errors.ts';

export interface Message {
  /** Unique for all time: the key of an action whose line has none is made of it. */
  readonly id: string;
  /** `null`: it has no text where one is expected. */
  readonly text: string | null;
}

export interface Refused<M> {
  readonly message: M;
  readonly code: ErrorCode;
  readonly reason: string;
}

/** What became of messages that were read together. */
export interface Conclusion<M> {
  /** Recorded, now or before. */
  readonly recorded: readonly M[];
  /** Never to be recorded. */
  readonly refused: readonly Refused<M>[];
  /** To be read again later. */
  readonly later: readonly M[];
}

/** The messages of a stream for one of the processes that share them. All of it rejects once the connection is lost. */
export interface MessageSource<M extends Message> extends AsyncDisposable {
  /** Waits for about a second if there are none. What other processes left unacknowledged comes too. */
  read(most: number): Promise<readonly M[]>;
  /** Says that they are still being recorded: no other process gets them for as long as if they had just been read. */
  hold(messages: readonly M[]): Promise<void>;
  /** Acknowledges, after what is refused is kept elsewhere. */
  conclude(conclusion: Conclusion<M>): Promise<void>;
}

/** The stream that keeps what was refused. */
export function refusedOf(stream: string): string {
  return `${stream}-refused`;
}
