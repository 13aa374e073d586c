import type { Connection } from './connection.ts';

/**
 * When a reader lets go of the connection, and takes it up again.
 * @param pauseHiddenAfterMs for how long what nobody sees stays connected
 * @returns what ends it
 */
export type Life = (
  connection: Pick<Connection, 'pause' | 'resume'>,
  pauseHiddenAfterMs: number,
) => () => void;

/**
 * While the page is hidden for long, and when it is left: a page with an open socket is not kept for the way back.
 */
export const pageLife: Life = (connection, pauseHiddenAfterMs) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pause = (): void => {
    connection.pause();
  };
  const look = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') connection.resume();
    else timer = setTimeout(pause, pauseHiddenAfterMs);
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
