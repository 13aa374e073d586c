/** An optimisation only: a lost signal costs a poll interval, never work. No method throws while the transport is down. */
export interface WorkSignal extends AsyncDisposable {
  /** Notifies all workers in all processes. Does not wait. */
  notify(): void;
  /** Calls back after signals until disposed; several signals may arrive as one, and one may arrive twice. */
  onWork(callback: () => void): Disposable;
}
