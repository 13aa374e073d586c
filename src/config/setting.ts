import type { Kind } from './kinds.ts';

type Group = 'Server' | 'Identity' | 'Databases' | 'Feeds' | 'Fan-out' | 'Live' | 'Events' | 'Logs';

/** One environment variable. Names, defaults and meanings are defined only in the tables of `settings/`. */
export interface Setting<T = unknown> {
  readonly group: Group;
  readonly kind: Kind<T>;
  /** The default as written in the environment; `null`: optional, without a default. */
  readonly fallback: string | null;
  /** The default as shown in the docs when it differs from `fallback`. */
  readonly shownDefault: string;
  readonly meaning: string;
  /** The value is never printed, not even when it is invalid. */
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
