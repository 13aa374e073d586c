import type { Life } from './page-life.ts';

/** Of `AppState` what is needed of it. */
export interface AppStateLike {
  /** `active`: it is in front. */
  readonly currentState: string;
  addEventListener(type: 'change', listener: (state: string) => void): { remove(): void };
}

/** Of NetInfo what is needed of it: it tells at once how it is, and each change. */
export interface NetInfoLike {
  addEventListener(listener: (state: { readonly isConnected: boolean | null }) => void): () => void;
}

/** While the app is behind another one for long, and while there is no network. */
export function nativeLife(appState: AppStateLike, netInfo?: NetInfoLike): Life {
  return (connection, pauseHiddenAfterMs) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isConnected = true;
    const pause = (): void => {
      connection.pause();
    };
    const look = (state = appState.currentState): void => {
      clearTimeout(timer);
      if (!isConnected) pause();
      else if (state === 'active') connection.resume();
      else timer = setTimeout(pause, pauseHiddenAfterMs);
    };
    const watched = appState.addEventListener('change', look);
    const leave = netInfo?.addEventListener((state) => {
      // Null: not known yet.
      isConnected = state.isConnected !== false;
      look();
    });
    look();
    return () => {
      clearTimeout(timer);
      watched.remove();
      leave?.();
    };
  };
}
