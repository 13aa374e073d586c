import type { Kind } from './kinds.ts';

type Group = 'Server' | 'Identity' | 'Databases' | 'Feeds' | 'Fan-out' | 'Live' | 'Events' | 'Logs';

/** One environment variable. The tables of these in `settings/` alone know names, defaults and meanings. */
export interface Setting<T = unknown> {
  readonly group: Group;
  readonly kind: Kind<T>;
  /** As it would be written in the environment; null: none, the setting is optional. */
  readonly fallback: string | null;
  /** What people read as the default where `fallback` does not say it. */
  readonly shownDefault: string;
  readonly meaning: string;
  /** Never shown, not even when it is wrong. */
  readonly isSecret: boolean;
}

export function settingsOf(group: Group) {
  const setting = <T>(
    fallback: string,
    kind: Kind<T>,
    meaning: string,
  ): Setting<T> & { readonly fallback: string } => ({
    group,
    kind,
    fallback,
    shownDefault: fallback,
    meaning,
    isSecret: false,
  });
  const optional = <T>(
    kind: Kind<T>,
    meaning: string,
    more: { readonly shownDefault?: string; readonly isSecret?: boolean } = {},
  ): Setting<T> & { readonly fallback: null } => ({
    ...{ group, kind, fallback: null, meaning, shownDefault: '–', isSecret: false },
    ...more,
  });
  return { setting, optional };
}
