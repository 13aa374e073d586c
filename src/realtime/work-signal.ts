/** It only saves waiting: a lost signal costs a poll interval, never work. No method throws when the transport is down. */
export interface WorkSignal extends AsyncDisposable {
  /** Tells all workers, in every process. Does not wait. */
  notify(): void;
  /** Calls back after every signal until disposed; several signals may arrive as one, one may arrive twice. */
  onWork(callback: () => void): Disposable;
}
