/** What is due: fan-outs of actions, rebuilds of feeds, or calls about events. */
export type DueWork = 'fan-out' | 'rebuild' | 'webhooks';

/** An announcement that work is due, as one worker hears it. */
export interface WorkOffer {
  /**
   * Whether this worker is to look for the work: `true` for the first one that asks, in all processes, and `false` for all
   * others. Without an answer from Redis everybody is to look: a look in vain costs little, and work that nobody looks for
   * waits until the next poll.
   * @param isBusy lets workers without work ask first
   */
  take(isBusy: boolean): Promise<boolean>;
}

export interface WorkListener extends Disposable {
  /** Announces the same kind of work to everybody else. */
  passOn(): void;
}

/** An optimisation only: a lost signal costs a poll interval, never work. No method throws while the transport is down. */
export interface WorkSignal extends AsyncDisposable {
  /** Announces work to the workers of all processes. Does not wait. */
  notify(work: DueWork): void;
  /**
   * Calls back for announcements of this kind until disposed, or of any kind; several may arrive as one, and one may arrive
   * twice. All listeners hear of each; those of whom one suffices take the offer.
   */
  onWork(work: DueWork | 'any', callback: (offer: WorkOffer) => void): WorkListener;
}
