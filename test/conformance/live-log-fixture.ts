import type { LiveLog, LiveLogOptions } from '../../src/live/live-log.ts';

/** A fresh log on an empty store of its own. */
export interface LiveLogFixture extends AsyncDisposable {
  readonly log: LiveLog;
  /** Everything held for open streams, in the process and in the store, by name; zeros when there are none. */
  held(): Promise<Readonly<Record<string, number>>>;
  /** What is stored for readers. */
  stored(): Promise<number>;
}

export type MakeLiveLog = (options?: LiveLogOptions) => Promise<LiveLogFixture>;
