import type { Kind } from './kinds.ts';
import type { Setting } from './setting.ts';
import { DATABASE_SETTINGS } from './settings/databases.ts';
import { EVENT_SETTINGS } from './settings/events.ts';
import { FAN_OUT_SETTINGS } from './settings/fan-out.ts';
import { FEED_SETTINGS } from './settings/feeds.ts';
import { IDENTITY_SETTINGS } from './settings/identity.ts';
import { LIVE_SETTINGS } from './settings/live.ts';
import { LOG_SETTINGS } from './settings/logs.ts';
import { SERVER_SETTINGS } from './settings/server.ts';

/** All settings, in the order of the documentation. */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...DATABASE_SETTINGS,
  ...FEED_SETTINGS,
  ...FAN_OUT_SETTINGS,
  ...LIVE_SETTINGS,
  ...EVENT_SETTINGS,
  ...LOG_SETTINGS,
} satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<S> = S extends { readonly kind: Kind<infer T> }
  ? S extends { readonly fallback: string }
    ? T
    : T | undefined
  : never;

export type SettingValues = { readonly [N in SettingName]: ValueOf<(typeof SETTINGS)[N]> };

/** The settings that are taken over into a section of the configuration, by their names there. `undefined` becomes `null`. */
export type Section<Name extends string> = {
  readonly [
    N in SettingName as (typeof SETTINGS)[N]['as'] extends `${Name}.${infer Key}` | undefined ? Key : never
  ]: undefined extends SettingValues[N] ? Exclude<SettingValues[N], undefined> | null : SettingValues[N];
};

export function sectionOf<Name extends string>(name: Name, values: SettingValues): Section<Name> {
  const taken = (Object.entries(SETTINGS) as [SettingName, Setting][]).flatMap(([setting, { as = '' }]) => {
    const [section, key] = as.split('.');
    return section === name ? [[key, values[setting] ?? null]] : [];
  });
  return Object.fromEntries(taken) as Section<Name>;
}
