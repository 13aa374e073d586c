import { useMemo, type ReactNode } from 'react';
import { ProviderWith, type FanfareProviderProps } from './provider.tsx';
import { nativeLife, type AppStateLike, type NetInfoLike } from './store/native-life.ts';

// The hooks without a page: nothing here draws, and nothing needs a document.
export * from './hooks.ts';
export * from './more-hooks.ts';
export type { AppStateLike, NetInfoLike } from './store/native-life.ts';

/** What the one for pages takes, without what only tabs have. */
export type NativeProviderProps = FanfareProviderProps & {
  readonly tabs?: never;
  /** `AppState` of react-native. */
  readonly appState: AppStateLike;
  /** The default export of @react-native-community/netinfo. Without it a lost connection is tried again now and then. */
  readonly netInfo?: NetInfoLike;
};

/** Gives one reader's feed to what is inside, as long as the app is in front and has a network. */
export function FanfareProvider({ appState, netInfo, ...props }: NativeProviderProps): ReactNode {
  const life = useMemo(() => nativeLife(appState, netInfo), [appState, netInfo]);
  return <ProviderWith props={{ ...props, tabs: 'own' }} life={life} />;
}
