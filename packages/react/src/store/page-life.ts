import type { Connection } from './connection.ts';

/**
 * Lets go of the connection while the page is hidden for long, and when it is left: a page with an open socket is not kept
 * for the way back.
 */
export class PageLife {
  readonly #connection: Pick<Connection, 'pause' | 'resume'>;
  readonly #pauseHiddenAfterMs: number;

  constructor(connection: Pick<Connection, 'pause' | 'resume'>, pauseHiddenAfterMs: number) {
    this.#connection = connection;
    this.#pauseHiddenAfterMs = pauseHiddenAfterMs;
  }

  /** Listens to the page until what it returns is called. */
  readonly attach = (): (() => void) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const pause = (): void => {
      this.#connection.pause();
    };
    const look = (): void => {
      clearTimeout(timer);
      if (document.visibilityState === 'visible') this.#connection.resume();
      else timer = setTimeout(pause, this.#pauseHiddenAfterMs);
    };
    document.addEventListener('visibilitychange', look);
    window.addEventListener('pagehide', pause);
    window.addEventListener('pageshow', look);
    // It may have been opened behind another one.
    look();
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('pagehide', pause);
      window.removeEventListener('pageshow', look);
    };
  };
}
