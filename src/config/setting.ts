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
  /** Section and name in the configuration of a value that is taken over as it is. */
  readonly as?: string | undefined;
}

export function settingsOf(group: Group) {
  const setting = <T, const As extends string | undefined = undefined>(
    fallback: string,
    kind: Kind<T>,
    meaning: string,
    as?: As,
  ): Setting<T> & { readonly fallback: string; readonly as: As | undefined } => ({
    ...{ group, kind, fallback, meaning, as },
    shownDefault: fallback,
    isSecret: false,
  });
  const optional = <T, const As extends string | undefined = undefined>(
    kind: Kind<T>,
    meaning: string,
    more: { readonly shownDefault?: string; readonly isSecret?: boolean; readonly as?: As } = {},
  ): Setting<T> & { readonly fallback: null; readonly as: As | undefined } => ({
    ...{ group, kind, fallback: null, meaning, shownDefault: '–', isSecret: false, as: undefined },
    ...more,
  });
  return { setting, optional };
}
